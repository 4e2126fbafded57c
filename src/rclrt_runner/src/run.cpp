// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <rmw/rmw.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "live_application.hpp"
#include "middleware_threads.hpp"
#include "rclrt/rclrt.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/process.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt/recorder/host_probe.hpp"
#include "rclrt/recorder/instance_log.hpp"
#include "rclrt/recorder/run_accounting.hpp"

namespace rclrt::runner {

namespace {

/// From the time when all threads exist to the epoch: for the executors to start their timers, and
/// for their threads to fall asleep.
constexpr std::int64_t kLeadTime_ns = 200'000'000;
constexpr std::int64_t kNever_ns = INT64_MAX / 2;  // with room for offsets
constexpr std::chrono::nanoseconds kPoll{50'000'000};
constexpr int kTopPriority = 95;

void notice(bool strict, const std::string& problem) {
  if (strict) {
    throw std::runtime_error(problem);
  }
  std::fprintf(stderr, "rclrt: %s\n", problem.c_str());
}

/// One epoch for several executors, stated when the threads of all of them exist: however long a
/// busy machine takes for that, no release is lost to it. Thread-safe.
class CommonStart {
 public:
  explicit CommonStart(std::size_t executors) : missing_(executors) {}

  /// Called by each executor once its threads exist. Returns the epoch.
  std::int64_t arrive_and_wait() {
    std::unique_lock lock(mutex_);
    --missing_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return epoch_ns_.has_value(); });
    return *epoch_ns_;
  }

  /// Whether all have arrived; waits for that at most as long.
  bool wait_for_all(std::chrono::nanoseconds limit) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [this] { return missing_ == 0; });
  }

  /// The first epoch stated counts.
  void state_epoch(std::int64_t epoch_ns) {
    const std::scoped_lock lock(mutex_);
    if (!epoch_ns_) {
      epoch_ns_ = epoch_ns;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;  // guards the two below; taken before the run only
  std::condition_variable changed_;
  std::size_t missing_;
  std::optional<std::int64_t> epoch_ns_;
};

/// How the threads that start a run are scheduled: above what runs already, where that is
/// permitted, or on a busy machine the first releases would be over before anybody is there to take
/// them.
realtime::Scheduling starting() {
  if (realtime::why_no_realtime(kTopPriority)) {
    return {};
  }
  return {.policy = realtime::Policy::kFifo, .priority = kTopPriority};
}

/// The executors of the application, each spinning on a thread of its own until destroyed.
class Spinning {
 public:
  Spinning(const model::Application& application, const RunOptions& options,
           const LiveApplication& live, const std::shared_ptr<Context>& context,
           recorder::InstanceLog& log)
      : start_(application.executors.size()) {
    sinks_.reserve(application.executors.size());
    for (std::size_t i = 0; i < application.executors.size(); ++i) {
      const model::Executor& stated = application.executors[i];
      sinks_.push_back(
          std::make_unique<recorder::InstanceLog::Sink>(log, static_cast<std::uint32_t>(i)));
      ExecutorOptions executor_options{
          .name = stated.name,
          .cpus = stated.cpus,
          .realtime = options.strict ? Realtime::kRequire : Realtime::kTry,
          .top_priority = kTopPriority,
          .epoch = [this] { return start_.arrive_and_wait(); },
          .sink = sinks_.back().get()};
      executors_.push_back(
          make_executor(traits(options.executor).name, context, std::move(executor_options)));
      live.add_nodes(i, *executors_.back());
      executors_.back()->prepare();
    }
  }

  ~Spinning() { stop(); }
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;

  void start() {
    errors_.resize(executors_.size());
    for (std::size_t i = 0; i < executors_.size(); ++i) {
      threads_.emplace_back(realtime::ThreadOptions{.name = "rclrt spin", .scheduling = starting_},
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

  bool failed() const { return failed_.load(); }

  /// Whether the threads of all executors exist; waits for that at most as long.
  bool wait_for_all(std::chrono::nanoseconds limit) { return start_.wait_for_all(limit); }

  /// After that: states the epoch, of which `before` is told, and lets the executors begin.
  template <typename Before>
  void begin(const Before& before) {
    realtime::apply_scheduling(0, starting_);
    const std::int64_t epoch_ns = realtime::monotonic_now_ns() + kLeadTime_ns;
    before(epoch_ns);
    start_.state_epoch(epoch_ns);
    realtime::apply_scheduling(0, {});
  }

  void stop() {
    for (const auto& executor : executors_) {
      executor->cancel();
    }
    start_.state_epoch(kNever_ns);  // for those who still wait
    for (realtime::Thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
  }

  void rethrow() const {
    for (const auto& error : errors_) {
      if (error) {
        std::rethrow_exception(error);
      }
    }
  }

  const std::vector<std::unique_ptr<Executor>>& executors() const { return executors_; }

 private:
  CommonStart start_;
  std::vector<std::unique_ptr<recorder::InstanceLog::Sink>> sinks_;
  std::vector<std::unique_ptr<Executor>> executors_;
  std::vector<std::exception_ptr> errors_;  // each written by its thread before it ends
  std::atomic<bool> failed_{false};
  const realtime::Scheduling starting_ = starting();
  std::vector<realtime::Thread> threads_;
};

recorder::HostProbeOptions probe_options(const model::Application& application) {
  std::vector<std::vector<int>> cpus;
  for (const model::Executor& executor : application.executors) {
    cpus.push_back(executor.cpus);
  }
  return recorder::probe_beside(cpus);
}

recorder::RunContext read_context(const std::vector<std::unique_ptr<Executor>>& executors,
                                  std::optional<double> steal_before_ms) {
  std::vector<recorder::RealtimeState> realtime;
  for (const auto& executor : executors) {
    realtime.push_back({executor->engine().realtime(), executor->engine().realtime_reason()});
  }
  recorder::RunContext context = recorder::read_context(realtime, steal_before_ms);
  context.rmw = rmw_get_implementation_identifier();
  context.versions = {{"rclrt", RCLRT_VERSION}, {"rcl", RCL_VERSION}, {"rmw", RMW_VERSION}};
  return context;
}

}  // namespace

std::optional<recorder::RunResults> run(const model::Application& application,
                                        const RunOptions& options, int argc,
                                        const char* const* argv) {
  for (const model::Executor& executor : application.executors) {
    realtime::require_allowed_cpus(executor.cpus);
  }
  recorder::RunResults results;
  results.application = application;
  results.executor = options.executor;
  results.executor_label = traits(options.executor).label;

  // The probe, the log and ROS itself come first; whatever thread follows is the middleware's.
  recorder::HostProbe probe(probe_options(application));
  recorder::InstanceLog log;
  const MiddlewareThreads middleware;
  const auto context = Context::make(argc, argv);
  LiveApplication live(application, context, log);
  live.wait_until_matched(std::chrono::seconds(20));
  if (options.alone) {
    live.require_alone();
  }
  if (const auto problem = middleware.apply(application)) {
    notice(options.strict, *problem);
  }
  if (const auto problem = realtime::lock_memory()) {
    notice(options.strict, *problem);
  }

  Spinning spinning(application, options, live, context, log);
  probe.start();
  spinning.start();
  const auto goes_on = [&] { return context->ok() && !spinning.failed(); };
  while (goes_on() && !spinning.wait_for_all(kPoll)) {
  }
  results.threads = recorder::read_threads();
  results.started_utc = recorder::utc_now();
  const auto steal_before = recorder::read_steal_ms();
  spinning.begin([&](std::int64_t epoch_ns) {
    results.window = {epoch_ns, epoch_ns + options.duration.count()};
    live.set_epoch(epoch_ns);
  });
  while (goes_on() && realtime::monotonic_now_ns() < results.window.end_ns) {
    realtime::sleep_until_ns(
        std::min(results.window.end_ns, realtime::monotonic_now_ns() + kPoll.count()));
  }
  const bool interrupted = !context->ok();
  spinning.stop();
  probe.stop();
  spinning.rethrow();
  if (interrupted) {
    return std::nullopt;
  }
  if (options.alone) {
    live.require_alone();
  }

  results.context = read_context(spinning.executors(), steal_before);
  results.host_stalls = probe.report();
  auto instances = log.finish();
  results.context.records_dropped = log.dropped();
  results.callback_counts = live.counts();
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const auto& executor =
        *spinning.executors()[application.nodes[application.callbacks[i].node].executor];
    const int priority = executor.engine().os_priority(application.effective_priority(i));
    const bool fixed = executor.engine().realtime() && !traits(options.executor).by_deadline;
    results.os_priorities.push_back(fixed ? std::optional(priority) : std::nullopt);
  }
  account(results, std::move(instances), realtime::allowed_cpus().size());
  return results;
}

}  // namespace rclrt::runner
