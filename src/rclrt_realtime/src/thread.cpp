// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/thread.hpp"

#include <sched.h>

#include <cerrno>
#include <system_error>

#include "cpu_set.hpp"
#include "native_policy.hpp"

namespace rclrt::realtime {

namespace {

class Attributes {
 public:
  Attributes() { require(pthread_attr_init(&attributes_), "thread attributes"); }
  ~Attributes() { pthread_attr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  pthread_attr_t* get() { return &attributes_; }

  static void require(int error, const std::string& action) {
    if (error != 0) {
      throw std::system_error(error, std::generic_category(), action);
    }
  }

 private:
  pthread_attr_t attributes_;
};

}  // namespace

void Thread::start(const ThreadOptions& options, std::unique_ptr<Body> body) {
  const Scheduling& scheduling = options.scheduling;
  Attributes attributes;
  // Explicit scheduling in the attributes: the thread never runs an instruction at another policy.
  Attributes::require(pthread_attr_setinheritsched(attributes.get(), PTHREAD_EXPLICIT_SCHED),
                      "thread scheduling");
  const int policy = native_policy(scheduling.policy);
  sched_param parameters{};
  parameters.sched_priority = scheduling.priority;
  Attributes::require(pthread_attr_setschedpolicy(attributes.get(), policy), "thread policy");
  Attributes::require(pthread_attr_setschedparam(attributes.get(), &parameters),
                      "thread priority " + std::to_string(scheduling.priority) + " for " +
                          to_string(scheduling.policy));
  if (!scheduling.cpus.empty()) {
    require_allowed_cpus(scheduling.cpus);
    const CpuSet set(scheduling.cpus);
    Attributes::require(pthread_attr_setaffinity_np(attributes.get(), set.bytes(), set.get()),
                        "thread CPUs");
  }
  if (options.stack_size != 0) {
    Attributes::require(pthread_attr_setstacksize(attributes.get(), options.stack_size),
                        "thread stack size");
  }
  body->name = options.name.substr(0, 15);
  Body* const owned_by_thread = body.release();
  const int error = pthread_create(&handle_, attributes.get(), &Thread::entry, owned_by_thread);
  if (error != 0) {
    body.reset(owned_by_thread);  // there is no thread
  }
  if (error == EPERM) {
    throw std::system_error(
        error, std::generic_category(),
        "starting thread \"" + options.name +
            "\": " + why_no_realtime(scheduling.priority).value_or("scheduling refused"));
  }
  Attributes::require(error, "starting thread \"" + options.name + "\"");
  joinable_ = true;
}

void* Thread::entry(void* body) {
  const std::unique_ptr<Body> owned(static_cast<Body*>(body));
  pthread_setname_np(pthread_self(), owned->name.c_str());
  owned->run();
  return nullptr;
}

void Thread::set_priority(Policy policy, int priority) {
  if (!joinable_) {
    return;
  }
  sched_param parameters{};
  parameters.sched_priority = priority;
  const int error = pthread_setschedparam(handle_, native_policy(policy), &parameters);
  if (error != ESRCH) {
    Attributes::require(error, std::string("setting ") + to_string(policy) + " priority " +
                                   std::to_string(priority) + " of a thread");
  }
}

bool Thread::try_join() noexcept RCLRT_NONBLOCKING {
  if (joinable_ &&
      RCLRT_TRUST("trying does not sleep", pthread_tryjoin_np(handle_, nullptr)) == 0) {
    joinable_ = false;
  }
  return !joinable_;
}

void Thread::join() noexcept RCLRT_WAITS {
  if (joinable_) {
    pthread_join(handle_, nullptr);
    joinable_ = false;
  }
}

}  // namespace rclrt::realtime
