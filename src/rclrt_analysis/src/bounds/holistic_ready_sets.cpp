// SPDX-License-Identifier: Apache-2.0
// Bounds of single callbacks of a wait set with one thread, and of a static order.
//
// The thread takes a ready set: each timer that is due and each subscription that has a message,
// once. It then runs one instance of each and nothing else. Casini, Blass, Luetkebohle and
// Brandenburg, "Response-time analysis of ROS 2 processing chains under reservation-based
// scheduling", ECRTS 2019; Tang et al., "Response time analysis and priority assignment of
// processing chains on ROS2 executors", RTSS 2020.
//
// Two bounds hold, and the lower one is taken (path_ready_sets.cpp has a third one, for paths):
//
// By the busy period: the thread does not idle while something is ready. So an instance ends when
// all work that arrived before its end is done; the work of its own callback is done in order of
// arrival. A sync is an exception, because it takes from its inputs in turn.
//
// By the ready sets: an instance that waits behind n - 1 of its callback is in the n-th ready set
// from the next one on, at the latest. So at most the rest of one set and n more sets run until its
// end, and each callback runs at most once in each set. If at most n instances arrive in such a
// time, never more than n wait: by induction over the instances. A sync takes a message from each
// input in one set. The parts of a service, one for each client, wait in one queue, of which a set
// takes one request. Where a set runs in order of priority (Workload::turn), callbacks of a lower
// priority run after the instance in the last of these sets; otherwise, nothing is assumed about
// the order within a set.
//
// With several threads, callbacks are bounded as on several CPUs (kinds::kWaitSetThreads).
#include <algorithm>

#include "bounds/holistic.hpp"
#include "input_callbacks.hpp"
#include "rclrt/model/services.hpp"

namespace rclrt::analysis::detail {
namespace {

constexpr Ticks kMostWaiting = 1000;

Ticks arrivals(std::span<const Stream> streams, Ticks time) {
  Ticks count = 0;
  for (const Stream& stream : streams) {
    count = sum(count, stream.before(time));
  }
  return count;
}

/// Returns the streams of all callbacks that share a queue with a callback of the core.
std::vector<Stream> queue_of(const CoreProblem& problem, std::size_t own,
                             const std::vector<std::vector<Stream>>& streams) {
  const auto& callbacks = problem.core.callbacks;
  const auto& all = problem.workload.application.callbacks;
  if (model::role_of(all[callbacks[own]]) != model::Role::kService) {
    return streams[own];
  }
  std::vector<Stream> result;
  for (std::size_t other = 0; other < callbacks.size(); ++other) {
    if (share_queue(all[callbacks[own]], all[callbacks[other]])) {
      result.insert(result.end(), streams[other].begin(), streams[other].end());
    }
  }
  return result;
}

/// Returns the time of the rest of one ready set and `waiting` more sets, up to the end of `last`
/// in the last one.
Ticks sets(const CoreProblem& problem, const std::vector<std::vector<Stream>>& streams,
           std::size_t last, Ticks waiting, Ticks busy) {
  // A polling point follows each instance.
  Ticks total = sum(problem.overheads.polling, problem.overheads.stall);
  for (std::size_t i = 0; i < problem.core.callbacks.size(); ++i) {
    const std::size_t callback = problem.core.callbacks[i];
    const std::size_t inputs = problem.workload.graph.publishers[callback].size();
    const Ticks each = sum(problem.workload.wcet[callback], problem.per_instance);
    const auto& turn = problem.workload.turn;
    const Ticks in_sets = waiting + (turn[callback] < turn[last] ? 0 : 1);
    const Ticks times = product(in_sets, static_cast<Ticks>(std::max<std::size_t>(inputs, 1)));
    Ticks brought = 0;  // work of a whole busy period
    for (const Stream& stream : streams[i]) {
      brought = sum(brought, product(stream.before(busy), stream.work));
    }
    total = sum(total, std::min(product(times, each), brought));
  }
  const Ticks background = problem.overheads.background;
  Ticks time = total;
  while (background > 0 && time < kMaxTicks) {
    const Ticks next = sum(total, product(ceil_div(time, kMillisecond) + 1, background));
    if (next <= time) {
      break;
    }
    time = next;
  }
  return time;
}

/// The streams of the callbacks of the core, and the longest busy period.
struct Sets {
  std::vector<std::vector<Stream>> streams;
  Ticks polled{};  // at its start, by threads that find no work
  Ticks busy{};
};

Sets sets_of(const CoreProblem& problem, Budget& budget) {
  Sets result;
  std::vector<Stream> all;
  for (const std::size_t callback : problem.core.callbacks) {
    result.streams.push_back(streams_of(problem, callback));
    all.insert(all.end(), result.streams.back().begin(), result.streams.back().end());
  }
  for (const Stream& stream : background_streams(problem)) {
    all.push_back(stream);
  }
  const auto threads = static_cast<Ticks>(problem.core.executors.size());
  result.polled = product(threads, problem.overheads.polling);
  result.busy = longest_busy_period(all, sum(result.polled, 1), budget).value_or(kHorizon);
  return result;
}

}  // namespace

Ticks ready_sets(const CoreProblem& problem, std::size_t last, Ticks waiting, Budget& budget) {
  const Sets all = sets_of(problem, budget);
  return sets(problem, all.streams, last, waiting, all.busy);
}

void holistic_ready_sets(const CoreProblem& problem, Responses& responses, Budget& budget) {
  const auto& callbacks = problem.core.callbacks;
  const auto [streams, polled, busy] = sets_of(problem, budget);
  const bool shared = problem.core.executors.size() > 1;  // the other thread has its own sets
  for (std::size_t own = 0; own < callbacks.size(); ++own) {
    if (!problem.needs(callbacks[own])) {
      continue;
    }
    std::vector<Stream> others = background_streams(problem);
    for (std::size_t other = 0; other < callbacks.size(); ++other) {
      if (other == own) {
        continue;
      }
      others.insert(others.end(), streams[other].begin(), streams[other].end());
    }
    const auto kind = problem.workload.application.callbacks[callbacks[own]].kind();
    Ticks found = busy;
    // This bound does not hold for a sync: its inputs take turns, so a later message of one input
    // may run before a waiting message of another.
    if (busy < kHorizon && kind != model::CallbackKind::kSync) {
      found = response_in_busy_window({streams[own], others, polled, 1}, budget).value_or(busy);
    }
    const bool skips = problem.skips && kind == model::CallbackKind::kTimer;
    const std::vector<Stream> queue = queue_of(problem, own, streams);
    for (Ticks waiting = 1; !shared && waiting <= kMostWaiting; ++waiting) {
      const Ticks time = sets(problem, streams, callbacks[own], waiting, busy);
      if (time >= found) {
        break;
      }
      if (skips || arrivals(queue, time) <= waiting) {
        found = time;
      }
    }
    responses[callbacks[own]] = found;
  }
}

}  // namespace rclrt::analysis::detail
