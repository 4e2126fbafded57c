// SPDX-License-Identifier: Apache-2.0
#include "contender.hpp"

#include <exception>

#include "rclrt/model/executor_kind.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::bench {

namespace {
constexpr const char* kSplit = "split";
constexpr const char* kThreads = "wait_set_threads";
constexpr int kMostGroups = 1000;
constexpr int kUrgentPriority = 80;
constexpr int kOtherPriority = 70;

/// A wait_set executor runs right below its top priority.
std::unique_ptr<Executor> wait_set_at(int priority, const std::shared_ptr<Context>& context,
                                      const std::vector<int>& cpus) {
  return make_executor("wait_set", context,
                       {.name = "bench", .cpus = cpus, .top_priority = priority + 1});
}
}  // namespace

std::vector<std::string> Contender::names() {
  std::vector<std::string> names = executor_names();
  names.insert(names.begin() + 1, {kThreads, kSplit});  // next to their baseline
  return names;
}

bool Contender::runs_with(const std::string& name, std::size_t cpus, int entities) {
  if (const auto kind = model::executor_kind_of(name)) {
    const model::ExecutorTraits& traits = model::traits(*kind);
    return (!traits.by_deadline || cpus == 1) &&
           (traits.threads != model::ExecutorThreads::kPerGroup || entities <= kMostGroups);
  }
  return name != kThreads || cpus > 1;
}

Contender::Contender(const std::string& name, const std::shared_ptr<Context>& context,
                     const std::vector<int>& cpus) {
  if (name == kSplit) {
    urgent_ = wait_set_at(kUrgentPriority, context, cpus);
    other_ = wait_set_at(kOtherPriority, context, cpus);
  } else if (name == kThreads) {
    urgent_ =
        std::make_unique<WaitSetExecutor>(context, ExecutorOptions{.name = "bench", .cpus = cpus},
                                          WaitSetOptions{.threads = cpus.size()});
  } else {
    urgent_ = make_executor(name, context, {.name = "bench", .cpus = cpus});
  }
}

void Contender::add_node(const Node& node) {
  for (const auto& callback : node.callbacks()) {
    (other_ != nullptr && callback->level() <= 0 ? other_ : urgent_)->add(callback);
  }
}

void Contender::prepare() {
  urgent_->prepare();
  if (other_ != nullptr) {
    other_->prepare();
  }
}

void Contender::spin() {
  std::exception_ptr error;
  realtime::Thread beside;
  if (other_ != nullptr) {
    beside = realtime::Thread({.name = "other"}, [&] {
      try {
        other_->spin();
      } catch (...) {
        error = std::current_exception();
      }
      urgent_->cancel();
    });
  }
  try {
    urgent_->spin();
  } catch (...) {
    cancel();
    beside.join();
    throw;
  }
  cancel();
  beside.join();
  if (error) {
    std::rethrow_exception(error);
  }
}

void Contender::cancel() noexcept {
  urgent_->cancel();
  if (other_ != nullptr) {
    other_->cancel();
  }
}

}  // namespace rclrt::bench
