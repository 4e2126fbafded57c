// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/simulation_system.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "simulation/engine.hpp"

namespace rclrt::analysis {

namespace {

constexpr unsigned kMaxCpus = 64;
constexpr std::int64_t kCentury_ns = 3'155'760'000'000'000'000;

[[noreturn]] void refuse(const std::string& what, std::size_t index, const std::string& problem) {
  throw std::invalid_argument(what + " " + std::to_string(index) + " of the simulation " + problem);
}

void require_time(const std::string& what, std::size_t index, const std::string& name,
                  std::int64_t time_ns, std::int64_t lowest_ns = 0) {
  if (time_ns < lowest_ns || time_ns > kCentury_ns) {
    refuse(what, index,
           "has a " + name + " of " + std::to_string(time_ns) + " ns; expected " +
               std::to_string(lowest_ns) + " ns to a century");
  }
}

/// Returns the CPUs of the executor, including its scheduler thread's.
std::set<unsigned> cpus_of(const SimulatedSystem& system, std::size_t executor) {
  const std::vector<unsigned>& stated = system.executors[executor].cpus;
  std::set<unsigned> cpus(stated.begin(), stated.end());
  if (traits(system.executors[executor].choice).has_scheduler_thread) {
    const std::vector<unsigned>& apart = system.executors[executor].scheduler_cpus;
    cpus.insert(apart.begin(), apart.end());
  }
  for (unsigned cpu = 0; stated.empty() && cpu < system.cpus; ++cpu) {
    cpus.insert(cpu);
  }
  return cpus;
}

void require_executors(const SimulatedSystem& system) {
  if (system.cpus < 1 || system.cpus > kMaxCpus) {
    throw std::invalid_argument("a simulation has 1 to 64 CPUs, not " +
                                std::to_string(system.cpus));
  }
  for (std::size_t i = 0; i < system.executors.size(); ++i) {
    const SimulatedExecutor& executor = system.executors[i];
    require_time("executor", i, "dispatch overhead", executor.dispatch_ns);
    require_time("executor", i, "scheduler overhead", executor.scheduler_ns);
    require_time("executor", i, "polling overhead", executor.polling_ns);
    const std::set<unsigned> cpus = cpus_of(system, i);
    if (*cpus.rbegin() >= system.cpus) {
      refuse("executor", i,
             "uses CPU " + std::to_string(*cpus.rbegin()) + "; there are " +
                 std::to_string(system.cpus));
    }
    if (executor.choice.trigger == model::SetTrigger::kCallback && !executor.trigger_callback) {
      refuse("executor", i,
             "has the trigger kCallback without trigger_callback; expected its index");
    }
    if (executor.trigger_callback && *executor.trigger_callback >= system.callbacks.size()) {
      refuse("executor", i, "is triggered by a callback that does not exist");
    }
    if (detail::SimulationEngine::kind_of(executor.choice.kind).on_one_cpu && cpus.size() != 1) {
      refuse("executor", i, "is of kind edf and has several CPUs; expected one CPU");
    }
    for (std::size_t other = 0; other < i; ++other) {
      const std::set<unsigned> others = cpus_of(system, other);
      const bool share =
          std::any_of(cpus.begin(), cpus.end(), [&](unsigned cpu) { return others.contains(cpu); });
      if (share && traits(executor.choice).by_deadline !=
                       traits(system.executors[other].choice).by_deadline) {
        refuse("executor", i,
               "shares a CPU with executor " + std::to_string(other) +
                   "; expected EDF for both or neither, because deadlines and "
                   "priorities cannot be compared");
      }
    }
  }
}

unsigned inputs_of(const SimulatedCallback& callback) {
  if (const auto* sync = std::get_if<SyncTrigger>(&callback.trigger)) {
    return sync->inputs;
  }
  const auto* message = std::get_if<MessageTrigger>(&callback.trigger);
  return message != nullptr ? message->inputs : 0;
}

void require_trigger(const SimulatedSystem& system, std::size_t index) {
  const SimulatedCallback& callback = system.callbacks[index];
  std::size_t depth = 0;
  if (const auto* timer = std::get_if<TimerTrigger>(&callback.trigger)) {
    require_time("callback", index, "period", timer->period_ns, 1);
    require_time("callback", index, "offset", timer->offset_ns);
    require_time("callback", index, "jitter", timer->jitter.highest_ns());
    if (timer->jitter.highest_ns() > 0 && timer->overrun != model::OverrunPolicy::kCatchUp) {
      refuse("callback", index,
             "has jitter and an overrun policy other than catch_up; expected catch_up");
    }
    depth = timer->depth;
  } else if (const auto* message = std::get_if<MessageTrigger>(&callback.trigger)) {
    depth = message->depth;
    if (message->inputs == 0) {
      refuse("callback", index, "has no input; expected at least 1");
    }
  } else if (const auto* event = std::get_if<EventTrigger>(&callback.trigger)) {
    require_time("callback", index, "shortest interval", event->event.min_interval.count(), 1);
    require_time("callback", index, "longest interval", event->event.max_interval.count(),
                 event->event.min_interval.count());
    require_time("callback", index, "offset",
                 event->event.offset.value_or(model::Nanoseconds{0}).count());
    require_time("callback", index, "jitter", event->jitter.highest_ns());
    depth = event->event.depth;
  } else {
    const auto& sync = std::get<SyncTrigger>(callback.trigger);
    require_time("callback", index, "window", sync.window_ns);
    depth = sync.depth;
    if (sync.inputs < 2) {
      refuse("callback", index, "is a sync of fewer than two inputs");
    }
  }
  if (depth == 0) {
    refuse("callback", index, "has a depth of 0; expected at least 1");
  }
}

void require_connections(const SimulatedSystem& system, std::size_t index) {
  for (const auto& topic : system.callbacks[index].topics) {
    for (const Connection& connection : topic) {
      require_time("callback", index, "latency", connection.latency.highest_ns());
      if (connection.link &&
          (*connection.link >= system.links.size() || connection.packets.empty())) {
        refuse("callback", index, "publishes over a link that does not exist, or no packet");
      }
      if (connection.callback >= system.callbacks.size()) {
        refuse("callback", index, "publishes to a callback that does not exist");
      }
      if (connection.input >= inputs_of(system.callbacks[connection.callback])) {
        refuse("callback", index, "publishes to an input that does not exist");
      }
    }
  }
}

void require_routes(const SimulatedSystem& system, std::size_t index) {
  const SimulatedCallback& callback = system.callbacks[index];
  if (callback.routes.empty()) {
    return;
  }
  if (!std::holds_alternative<MessageTrigger>(callback.trigger) ||
      callback.routes.size() != inputs_of(callback)) {
    refuse("callback", index, "has routes; expected one for each input of a MessageTrigger");
  }
  for (const auto& route : callback.routes) {
    if (!std::ranges::is_sorted(route) ||
        (!route.empty() && route.back() >= callback.topics.size())) {
      refuse("callback", index, "has a route with an index of no topic, or not in ascending order");
    }
  }
}

/// Checks by Kahn's algorithm (1962): the remaining callbacks are on or behind a cycle.
void require_no_cycle(const SimulatedSystem& system) {
  std::vector<std::size_t> incoming(system.callbacks.size());
  const auto for_successors = [&](std::size_t index, const auto& visit) {
    for (const auto& topic : system.callbacks[index].topics) {
      for (const Connection& connection : topic) {
        visit(connection.callback);
      }
    }
  };
  for (std::size_t i = 0; i < incoming.size(); ++i) {
    for_successors(i, [&](std::size_t next) { ++incoming[next]; });
  }
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < incoming.size(); ++i) {
    if (incoming[i] == 0) {
      free.push_back(i);
    }
  }
  for (std::size_t done = 0; done < free.size(); ++done) {
    for_successors(free[done], [&](std::size_t next) {
      if (--incoming[next] == 0) {
        free.push_back(next);
      }
    });
  }
  if (free.size() < incoming.size()) {
    const auto cyclic = std::find_if(incoming.begin(), incoming.end(),
                                     [](std::size_t count) { return count != 0; });
    refuse("callback", static_cast<std::size_t>(cyclic - incoming.begin()),
           "is on or behind a cycle of messages");
  }
}

}  // namespace

void require_valid(const SimulatedSystem& system) {
  require_executors(system);
  for (std::size_t i = 0; i < system.callbacks.size(); ++i) {
    const SimulatedCallback& callback = system.callbacks[i];
    if (callback.executor >= system.executors.size()) {
      refuse("callback", i, "runs on an executor that does not exist");
    }
    require_time("callback", i, "execution time", callback.execution.highest_ns());
    require_time("callback", i, "wait", callback.wait.highest_ns());
    require_time("callback", i, "deadline", callback.deadline_ns);
    require_trigger(system, i);
    require_connections(system, i);
    require_routes(system, i);
    if (callback.group && *callback.group >= system.callbacks.size()) {
      refuse("callback", i,
             "is in group " + std::to_string(*callback.group) +
                 "; expected a number below that of the callbacks");
    }
    for (std::size_t other = 0; other < i && callback.group; ++other) {
      if (system.callbacks[other].group == callback.group &&
          system.callbacks[other].executor != callback.executor) {
        refuse("callback", i,
               "is in a group with callback " + std::to_string(other) + " of another executor");
      }
    }
  }
  require_no_cycle(system);
  for (std::size_t i = 0; i < system.chains.size(); ++i) {
    const auto& path = system.chains[i].callbacks;
    require_time("chain", i, "deadline", system.chains[i].deadline_ns);
    const bool known = std::all_of(path.begin(), path.end(), [&](std::size_t callback) {
      return callback < system.callbacks.size();
    });
    if (path.empty() || !known || std::set(path.begin(), path.end()).size() != path.size() ||
        inputs_of(system.callbacks[path.front()]) != 0) {
      refuse("chain", i, "is not a path of callbacks that starts at a timer or an event");
    }
    const auto& entries = system.chains[i].entries;
    if (!entries.empty() && entries.size() != path.size()) {
      refuse("chain", i,
             "has " + std::to_string(entries.size()) + " entries; expected " +
                 std::to_string(path.size()) + ", a list of inputs for each callback, or none");
    }
  }
}

void require_valid_horizon(std::int64_t horizon_ns) {
  if (horizon_ns < 0 || horizon_ns > kCentury_ns) {
    throw std::invalid_argument("the horizon of a simulation is from 0 ns to a century, not " +
                                std::to_string(horizon_ns) + " ns");
  }
}

}  // namespace rclrt::analysis
