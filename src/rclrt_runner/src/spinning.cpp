// SPDX-License-Identifier: Apache-2.0
#include "spinning.hpp"

#include <algorithm>
#include <utility>

#include "message_memory.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/recorder/model_conversion.hpp"

namespace rclrt::runner {

namespace {

constexpr std::int64_t kNever_ns = INT64_MAX / 2;  // with room for offsets

/// Returns the options of one executor that only its kind has. If the trigger waits for a callback
/// that runs on another executor, this executor's sets are triggered by any callback.
KindOptions kind_options(const model::Application& application, const model::ExecutorChoice& choice,
                         std::size_t index) {
  KindOptions result = recorder::to_engine(choice);
  const auto wanted = trigger_callback(application, choice);
  if (wanted && application.executor_of(*wanted) != index) {
    result.static_order.trigger = executor::trigger_any();
  }
  return result;
}

}  // namespace

realtime::Scheduling starting() {
  if (realtime::why_no_realtime(model::kTopPriority)) {
    return {};
  }
  return {.policy = realtime::Policy::kFifo, .priority = model::kTopPriority};
}

bool may_be_realtime(const model::Application& application) {
  int least = model::kTopPriority;
  for (const model::Executor& executor : application.executors) {
    least = std::min(least, executor.top_priority.value_or(least));
  }
  return !realtime::why_no_realtime(least);
}

std::int64_t CommonStart::arrive_and_wait() {
  std::unique_lock lock(mutex_);
  --missing_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return epoch_ns_.has_value(); });
  return *epoch_ns_;
}

bool CommonStart::wait_for_all(std::chrono::nanoseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [this] { return missing_ == 0; });
}

void CommonStart::state_epoch(std::int64_t epoch_ns) {
  const std::scoped_lock lock(mutex_);
  if (!epoch_ns_) {
    epoch_ns_ = epoch_ns;
  }
  changed_.notify_all();
}

Spinning::Spinning(const model::Application& application, std::span<const std::size_t> own,
                   const RunOptions& options, const LiveApplication& live,
                   const std::shared_ptr<Context>& context, recorder::InstanceLog& log)
    : start_(own.size()) {
  const std::vector<int> tops =
      top_priorities(application, options.executor.kind, may_be_realtime(application));
  for (const std::size_t index : own) {
    const model::Executor& stated = application.executors[index];
    sinks_.push_back(
        std::make_unique<recorder::InstanceLog::Sink>(log, static_cast<std::uint32_t>(index)));
    ExecutorOptions executor_options{
        .name = stated.name,
        .cpus = stated.cpus,
        .scheduler_cpus = stated.scheduler_cpus,
        .realtime = options.strict ? Realtime::kRequire : Realtime::kTry,
        .top_priority = tops[index],
        .spare_workers = 0,  // the callbacks of an app.yaml do not wait for each other
        .stack_size = stack_size(application, index),
        // Messages grow the heap of the thread that publishes them until the histories are full.
        .prefault = ExecutorOptions{}.prefault + message_memory(application, index),
        .epoch = [this] { return start_.arrive_and_wait(); },
        .sink = sinks_.back().get(),
        .stall_period = std::chrono::milliseconds(0)};
    executors_.push_back(make_executor(traits(options.executor).name, context,
                                       std::move(executor_options),
                                       kind_options(application, options.executor, index)));
    live.add_nodes(index, *executors_.back());
    executors_.back()->prepare();
  }
}

void Spinning::start() {
  errors_.resize(executors_.size());
  for (std::size_t i = 0; i < executors_.size(); ++i) {
    threads_.emplace_back(realtime::ThreadOptions{.name = "rclrt spin", .scheduling = starting()},
                          [this, i] {
                            try {
                              executors_[i]->spin();
                            } catch (...) {
                              errors_[i] = std::current_exception();
                              failed_.store(true);
                            }
                          });
  }
}

void Spinning::stop() {
  for (const auto& executor : executors_) {
    executor->cancel();
  }
  start_.state_epoch(kNever_ns);  // for threads that still wait
  for (realtime::Thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

void Spinning::rethrow() const {
  for (const auto& error : errors_) {
    if (error) {
      std::rethrow_exception(error);
    }
  }
}

}  // namespace rclrt::runner
