// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/thread.hpp"

#include <limits.h>
#include <sched.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "cpu_set.hpp"
#include "native_scheduling.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/mutex.hpp"
#include "rclrt/realtime/process.hpp"
#include "rclrt/realtime/semaphore.hpp"
#include "rclrt/realtime/throw_errno.hpp"

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
      throw_errno(action, error);
    }
  }

 private:
  pthread_attr_t attributes_;
};

/// The thread's start and the kernel's guard use this part of the stack.
constexpr std::size_t kStackReserve = 64 * 1024;

void require_room(const ThreadOptions& options, pthread_attr_t* attributes) {
  std::size_t size = 0;
  pthread_attr_getstacksize(attributes, &size);
  if (options.stack_prefault != 0 && options.stack_prefault + kStackReserve > size) {
    throw std::invalid_argument("thread \"" + options.name + "\": a stack of " +
                                std::to_string(size) + " bytes has no room to prefault " +
                                std::to_string(options.stack_prefault) +
                                ": ask for a stack_size of at least " +
                                std::to_string(options.stack_prefault + kStackReserve));
  }
}

/// Returns whether the new thread must set its scheduling itself, because the attributes of
/// pthread_create cannot state it.
bool gives_itself(const Scheduling& scheduling) {
  return scheduling.policy == Policy::kDeadline || scheduling.nice.has_value();
}

/// Sets the scheduling of the calling thread; returns 0 or the error number. If the CPUs have no
/// room for a SCHED_DEADLINE reservation, the function tries again for one period of that
/// reservation. The reason: the reservation of a thread that has just ended becomes free only when
/// that thread would have needed its next budget, up to a period later (the "0-lag time" of the
/// kernel's sched-deadline.rst). One period is enough if this thread replaces one with the same
/// reservation.
int give_itself(const Scheduling& scheduling) noexcept {
  const std::int64_t until_ns = monotonic_now_ns() + scheduling.reservation.period.count();
  while (true) {
    const int error = set_native_scheduling(0, scheduling);
    if (error != EBUSY || scheduling.policy != Policy::kDeadline || monotonic_now_ns() > until_ns) {
      return error;
    }
    sleep_until_ns(monotonic_now_ns() + 1'000'000);
  }
}

}  // namespace

/// The result of a thread that applies its own scheduling, for the creator that waits for it.
struct Thread::Birth {
  Semaphore done;
  int error = 0;  // written before `done` is posted, read after
};

void Thread::start() {
  if (!run_) {
    throw std::logic_error(
        "a Thread that was constructed without a body cannot start; pass a body to the "
        "constructor");
  }
  const ThreadOptions& options = run_->options;
  const Scheduling& scheduling = options.scheduling;
  if (run_->joinable) {
    throw std::logic_error("thread \"" + options.name +
                           "\" has been started already; join it first");
  }
  const std::string starting = "starting thread \"" + options.name + "\": ";
  Attributes attributes;
  // Explicit scheduling in the attributes: the thread never runs an instruction at another policy.
  Attributes::require(pthread_attr_setinheritsched(attributes.get(), PTHREAD_EXPLICIT_SCHED),
                      "thread scheduling");
  if (!gives_itself(scheduling)) {
    const int policy = native_policy(scheduling.policy);
    sched_param parameters{};
    parameters.sched_priority = scheduling.priority;
    Attributes::require(pthread_attr_setschedpolicy(attributes.get(), policy), "thread policy");
    if (const int error = pthread_attr_setschedparam(attributes.get(), &parameters)) {
      throw_refused(starting, scheduling, error);
    }
  }
  if (!scheduling.cpus.empty()) {
    require_allowed_cpus(scheduling.cpus);
    const CpuSet set(scheduling.cpus);
    Attributes::require(pthread_attr_setaffinity_np(attributes.get(), set.bytes(), set.get()),
                        "thread CPUs");
  }
  if (options.stack_size != 0) {
    Attributes::require(pthread_attr_setstacksize(attributes.get(), options.stack_size),
                        starting + "a stack of " + std::to_string(options.stack_size) +
                            " bytes (ask for at least " + std::to_string(PTHREAD_STACK_MIN) + ")");
  }
  require_room(options, attributes.get());
  run_->stop.clear();
  Birth birth;
  // The creator waits only in this case, because it may be more urgent than the thread it creates.
  run_->birth = gives_itself(scheduling) ? &birth : nullptr;
  const int error = pthread_create(&run_->handle, attributes.get(), &Thread::entry, run_.get());
  if (error != 0) {
    throw_refused(starting, scheduling, error);
  }
  run_->joinable = true;
  // The new thread sets its name first, too. But the creator may continue before that, and must be
  // able to find the thread by its name.
  pthread_setname_np(run_->handle, options.name.substr(0, 15).c_str());
  if (gives_itself(scheduling)) {
    birth.done.wait();
    if (birth.error != 0) {
      join();
      throw_refused(starting, scheduling, birth.error);
    }
  }
}

void* Thread::entry(void* argument) {
  Run& run = *static_cast<Run*>(argument);
  const ThreadOptions& options = run.options;
  pthread_setname_np(pthread_self(), options.name.substr(0, 15).c_str());
  if (run.birth != nullptr) {
    const int error = give_itself(options.scheduling);
    run.birth->error = error;
    run.birth->done.post();  // the creator continues, and `birth` no longer exists
    if (error != 0) {
      return nullptr;
    }
  }
  CeilingMutex::prepare_thread();
  if (options.stack_prefault != 0) {
    prefault_stack(options.stack_prefault);
  }
  prefault_thread_heap(options.heap_prefault);
  if (options.before) {
    options.before();
  }
  run.body();
  if (options.after) {
    options.after();
  }
  return nullptr;
}

void Thread::set_priority(Policy policy, int priority) {
  if (!joinable()) {
    return;
  }
  sched_param parameters{};
  parameters.sched_priority = priority;
  const int error = pthread_setschedparam(run_->handle, native_policy(policy), &parameters);
  if (error != 0 && error != ESRCH) {
    throw_refused("thread \"" + run_->options.name + "\": ", {policy, priority}, error);
  }
}

void Thread::set_cpus(const std::vector<int>& cpus) noexcept {
  if (!joinable()) {
    return;
  }
  // On the stack, with room for all CPUs that the kernel can name: a CpuSet allocates.
  std::array<cpu_set_t, 8> set{};
  for (const int cpu : cpus) {
    CPU_SET_S(static_cast<std::size_t>(cpu), sizeof set, set.data());
  }
  if (cpus.empty() || pthread_setaffinity_np(run_->handle, sizeof set, set.data()) != 0) {
    std::memset(set.data(), 0xFF, sizeof set);
    pthread_setaffinity_np(run_->handle, sizeof set, set.data());
  }
}

bool Thread::try_join() noexcept RCLRT_WAITS {
  if (joinable() && pthread_tryjoin_np(run_->handle, nullptr) == 0) {
    run_->joinable = false;
  }
  return !joinable();
}

void Thread::join() noexcept RCLRT_WAITS {
  if (joinable()) {
    pthread_join(run_->handle, nullptr);
    run_->joinable = false;
  }
}

}  // namespace rclrt::realtime
