// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <rmw/rmw.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "live_application.hpp"
#include "middleware_threads.hpp"
#include "rclrt/rclrt.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/process.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/recorder/instance_log.hpp"
#include "rclrt/recorder/machine_context.hpp"
#include "spinning.hpp"

namespace rclrt::runner {

namespace {

constexpr std::chrono::nanoseconds kPoll{50'000'000};

/// The most heaps of the process: as many as by default on two CPUs. With one for each thread, the
/// heaps of an application with many priorities would take more memory than all else.
constexpr int kHeaps = 16;

/// The stack of each of the middleware's threads. All of it is locked into memory.
constexpr std::size_t kStackOfMiddleware = std::size_t{1} << 20;

void notice(bool strict, const std::string& problem) {
  if (strict) {
    throw std::runtime_error(problem);
  }
  std::fprintf(stderr, "rclrt: %s\n", problem.c_str());
}

/// Prepares the process for real time as the application states it.
void prepare(const model::Application& application, const RunOptions& options,
             const MiddlewareThreads& middleware) {
  if (const auto problem = middleware.apply(application)) {
    notice(options.strict, *problem);
  }
}

/// Locks the memory that is mapped now. All threads exist already, so if the memory limit is
/// sufficient here, it is sufficient for the run.
void lock_memory(const RunOptions& options) {
  if (const auto problem = realtime::lock_memory()) {
    notice(options.strict, *problem);
  }
}

std::vector<recorder::ThreadResult> threads_of(const std::string& process) {
  auto threads = recorder::read_threads();
  for (recorder::ThreadResult& thread : threads) {
    thread.process = process;
  }
  return threads;
}

void read_executors(const model::Application& application, std::span<const std::size_t> own,
                    const RunOptions& options, const Spinning& spinning, Part& part) {
  part.kernel_priorities.resize(application.callbacks.size());
  const std::vector<int> levels = thread_levels(application, options.executor.kind);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto& engine = spinning.executors()[i]->engine();
    part.realtime.push_back(
        {engine.realtime(), engine.realtime_reason(), engine.runs_to_completion()});
    for (std::size_t callback = 0; callback < application.callbacks.size(); ++callback) {
      if (application.executor_of(callback) == own[i] && engine.realtime() &&
          !traits(options.executor).by_deadline) {
        part.kernel_priorities[callback] = engine.kernel_priority(levels[callback]);
      }
    }
  }
}

/// Waits from the epoch to the end of the run; times are those of the run. Returns when it ended.
template <typename GoesOn>
std::int64_t wait_until(std::int64_t end_ns, const RunTime& time, const GoesOn& goes_on) {
  std::int64_t now_ns = time.now();
  while (goes_on() && now_ns < end_ns) {
    // Another host's clock drifts against that of the run, so its end is looked up again.
    realtime::sleep_until_ns(
        std::min(time.to_monotonic(end_ns), realtime::monotonic_now_ns() + kPoll.count()));
    now_ns = time.now();
  }
  return std::min(end_ns, now_ns);
}

/// Runs the part of the process that has nodes; returns as run_process.
bool run_nodes(const model::Application& application, std::span<const std::size_t> own,
               const RunOptions& options, const std::shared_ptr<Context>& context,
               LiveApplication& live, recorder::InstanceLog& log,
               const MiddlewareThreads& middleware, Starter& starter) {
  live.wait_until_matched(std::chrono::seconds(20), [&] { return starter.goes_on(); });
  if (options.alone) {
    live.require_alone();
  }
  prepare(application, options, middleware);

  Spinning spinning(application, own, options, live, context, log);
  const auto goes_on = [&] { return context->ok() && !spinning.failed() && starter.goes_on(); };
  spinning.start();
  if (const auto problem = live.start_events()) {
    notice(options.strict, "events: " + *problem);
  }
  while (goes_on() && !spinning.wait_for_all(kPoll)) {
  }
  if (goes_on()) {
    lock_memory(options);
  }
  Part part;
  part.threads = threads_of(application.executors[own.front()].process);
  part.memory_locked = recorder::memory_is_locked();
  part.rmw = rmw_get_implementation_identifier();
  read_executors(application, own, options, spinning, part);
  std::optional<std::int64_t> epoch_ns;
  if (goes_on()) {
    realtime::apply_scheduling(0, starting());
    epoch_ns = starter.begin(part);
    if (epoch_ns) {
      live.begin(*epoch_ns);
      spinning.begin(*epoch_ns);
    }
    realtime::apply_scheduling(0, {});
  }
  const std::int64_t begin_ns = options.time.of(epoch_ns.value_or(0));
  const std::int64_t end_ns = begin_ns + options.duration.count();
  part.ended_ns = wait_until(end_ns, options.time, goes_on);
  live.stop();
  spinning.stop();
  spinning.rethrow();
  if (!epoch_ns || part.ended_ns <= begin_ns) {
    return false;
  }
  if (options.alone && part.ended_ns == end_ns) {
    live.require_alone();
  }
  log.finish();
  part.records_dropped = log.dropped();
  part.counts = live.counts();
  part.foreign_messages = live.foreign_messages();
  part.realtime.clear();
  read_executors(application, own, options, spinning, part);
  starter.finish(std::move(part));
  return true;
}

}  // namespace

bool run_process(const model::Application& application, std::span<const std::size_t> own,
                 const RunOptions& options, std::span<const char* const> arguments,
                 Starter& starter) {
  // The order of these calls matters. The first three set the size and the number of the heaps of
  // the middleware's threads, and the size of their stacks. The log comes next, then ROS; every
  // thread that is created after the log belongs to the middleware.
  realtime::keep_heap();
  realtime::limit_heaps(kHeaps);
  realtime::set_default_stack_size(kStackOfMiddleware);
  recorder::InstanceLog log(
      [&](std::span<const recorder::LoggedInstance> instances) { starter.add(instances); });
  const MiddlewareThreads middleware;
  const auto context = Context::make(static_cast<int>(arguments.size()), arguments.data(),
                                     {.handle_signals = false, .domain_id = {}});
  LiveApplication live(application, own, context, log, options.executor.kind, options.time);
  try {
    return run_nodes(application, own, options, context, live, log, middleware, starter);
  } catch (const std::exception& error) {
    starter.fail(error.what());
    throw;
  }
}

}  // namespace rclrt::runner
