// SPDX-License-Identifier: Apache-2.0
// An application of the model as a simulated system.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "rclrt/analysis/simulation_system.hpp"
#include "rclrt/model/link_messages.hpp"
#include "rclrt/model/services.hpp"
#include "simulation/engine.hpp"
#include "simulation/simulated_times.hpp"

namespace rclrt::analysis {

namespace {

/// Maps the numbers of the CPUs to those of the simulation.
class CpuNumbers {
 public:
  CpuNumbers(const model::Application& application, unsigned without_statement) {
    for (const model::Executor& executor : application.executors) {
      cpus_.insert(executor.cpus.begin(), executor.cpus.end());
      cpus_.insert(executor.scheduler_cpus.begin(), executor.scheduler_cpus.end());
    }
    const bool all_state = std::none_of(application.executors.begin(), application.executors.end(),
                                        [](const auto& each) { return each.cpus.empty(); });
    for (int cpu = 0; !all_state && cpus_.size() < without_statement; ++cpu) {
      cpus_.insert(cpu);
    }
  }

  unsigned count() const { return static_cast<unsigned>(cpus_.size()); }

  unsigned of(int cpu) const {
    return static_cast<unsigned>(std::distance(cpus_.begin(), cpus_.find(cpu)));
  }

 private:
  std::set<int> cpus_;
};

SimulatedExecutor simulated_executor(const model::Executor& executor,
                                     const model::ExecutorChoice& choice, int top_priority,
                                     const SimulatedTimes& times, const CpuNumbers& cpus) {
  SimulatedExecutor result{.choice = choice,
                           .cpus = {},
                           .scheduler_cpus = {},
                           .trigger_callback = {},
                           .workers_per_level = 0,
                           .top_priority = top_priority,
                           .dispatch_ns = times.dispatch_ns,
                           .scheduler_ns = times.scheduler_ns,
                           .polling_ns = times.polling_ns};
  for (const int cpu : executor.cpus) {
    result.cpus.push_back(cpus.of(cpu));
  }
  for (const int cpu : executor.scheduler_cpus) {
    result.scheduler_cpus.push_back(cpus.of(cpu));
  }
  if (detail::SimulationEngine::kind_of(choice.kind).on_one_cpu) {
    result.cpus = {result.cpus.empty() ? 0 : result.cpus.front()};
  }
  return result;
}

SimulatedCallback simulated_callback(const model::Application& application, std::size_t index,
                                     const SimulatedTimes& times) {
  const model::Callback& callback = application.callbacks[index];
  SimulatedCallback result;
  result.executor = application.executor_of(index);
  result.level = application.effective_priority(index);
  // An executor registers its callbacks node by node. (A wait set orders by type besides:
  // subscriptions, then services, then clients.)
  result.registration = callback.node;
  result.role = model::role_of(callback);
  result.overload = callback.overload;
  result.deadline_ns = callback.deadline.value_or(model::Nanoseconds{0}).count();
  detail::set_run(result, callback, times.lowest_execution, times.extremes);
  if (const auto* timer = std::get_if<model::Timer>(&callback.trigger)) {
    result.trigger = TimerTrigger{.period_ns = timer->period.count(),
                                  .offset_ns = timer->offset.count(),
                                  .overrun = timer->overrun,
                                  .jitter = {}};
  } else if (const auto* subscription = std::get_if<model::Subscription>(&callback.trigger)) {
    result.trigger = MessageTrigger{.depth = subscription->depth,
                                    .inputs = static_cast<unsigned>(subscription->topics.size()),
                                    .one_queue = subscription->role == model::Role::kService};
    result.routes = callback.routes;
  } else if (const auto* event = std::get_if<model::Event>(&callback.trigger)) {
    result.trigger = EventTrigger{.event = *event, .id = callback.id, .jitter = {}};
  } else {
    const auto& sync = std::get<model::Sync>(callback.trigger);
    result.trigger =
        SyncTrigger{.depth = sync.depth,
                    .window_ns = sync.policy == model::SyncPolicy::kExact ? 0 : sync.window.count(),
                    .inputs = static_cast<unsigned>(sync.topics.size())};
  }
  return result;
}

/// For each topic, the callbacks and inputs that take its messages.
using Readers = std::map<std::string, std::vector<std::pair<std::size_t, unsigned>>>;

Readers readers_of(const model::Application& application) {
  Readers result;
  for (std::size_t index = 0; index < application.callbacks.size(); ++index) {
    const std::vector<std::string> inputs = model::inputs(application.callbacks[index]);
    for (unsigned input = 0; input < inputs.size(); ++input) {
      result[inputs[input]].emplace_back(index, input);
    }
  }
  return result;
}

/// Returns the destinations of a topic's messages.
std::vector<Connection> connections(const Readers& readers, const std::string& topic) {
  std::vector<Connection> result;
  const auto found = readers.find(topic);
  if (found == readers.end()) {
    return result;
  }
  for (const auto& [index, input] : found->second) {
    result.push_back({index, input, {}});
  }
  return result;
}

}  // namespace

void detail::set_run(SimulatedCallback& simulated, const model::Callback& callback,
                     double lowest_execution, bool extremes) {
  const auto lowest = [&](model::Nanoseconds time) {
    return static_cast<std::int64_t>(
        std::llround(static_cast<double>(time.count()) * lowest_execution));
  };
  const std::int64_t wcet_ns = callback.wcet.count();
  const std::int64_t waits_ns = callback.waits.count();
  if (extremes) {
    simulated.execution = TimeDistribution::either(lowest(callback.wcet), wcet_ns);
    simulated.wait = TimeDistribution::either(0, waits_ns);
    simulated.wait_place = SimulatedCallback::WaitPlace::kExtremes;
  } else {
    simulated.execution = TimeDistribution::uniform(lowest(callback.wcet), wcet_ns);
    simulated.wait = TimeDistribution::uniform(lowest(callback.waits), waits_ns);
    simulated.wait_place = SimulatedCallback::WaitPlace::kAnywhere;
  }
}

void detail::set_delays(SimulatedSystem& system, const SimulatedTimes& times) {
  for (SimulatedCallback& callback : system.callbacks) {
    auto* timer = std::get_if<TimerTrigger>(&callback.trigger);
    if (timer != nullptr && timer->overrun == model::OverrunPolicy::kCatchUp) {
      timer->jitter = times.lateness;
    }
    if (auto* event = std::get_if<EventTrigger>(&callback.trigger)) {
      event->jitter = times.lateness;
    }
    for (std::vector<Connection>& topic : callback.topics) {
      for (Connection& connection : topic) {
        const bool near = system.callbacks[connection.callback].executor == callback.executor;
        connection.latency = near ? times.hop : times.far_hop;
      }
    }
  }
}

namespace {

/// Adds the links between hosts, and takes the messages between hosts over them.
void add_links(const model::Application& application, SimulatedSystem& system) {
  const std::vector<model::LinkDirection> ways = model::link_directions(application);
  for (const model::LinkDirection& way : ways) {
    system.links.push_back({application.links[way.link], way.from});
  }
  for (const model::LinkMessage& message : model::link_messages(application)) {
    if (!message.way || !message.input) {
      continue;
    }
    for (Connection& connection : system.callbacks[message.from].topics[message.output]) {
      if (connection.callback == message.to && connection.input == *message.input) {
        connection.link =
            static_cast<std::size_t>(std::ranges::find(ways, *message.way) - ways.begin());
        connection.packets =
            application.links[message.way->link].packets(message.bytes.value_or(0));
        connection.priority = message.priority;
      }
    }
  }
}

}  // namespace

SimulatedSystem simulated_system(const model::Application& application,
                                 const model::ExecutorChoice& executor, const SimulatedTimes& times,
                                 unsigned cpus_without_statement) {
  if (!application.hosts.empty()) {
    SimulatedSystem result =
        simulated_system(model::with_distinct_cpus(application, cpus_without_statement), executor,
                         times, cpus_without_statement);
    add_links(application, result);
    return result;
  }
  if (!(times.lowest_execution >= 0 && times.lowest_execution <= 1)) {
    throw std::invalid_argument("the lowest execution time is a share of the WCET from 0 to 1");
  }
  const CpuNumbers cpus(application, std::max(cpus_without_statement, 1U));
  SimulatedSystem result;
  result.cpus = cpus.count();
  const std::vector<int> tops = top_priorities(application, executor.kind);
  const std::optional<std::size_t> trigger = trigger_callback(application, executor);
  for (std::size_t i = 0; i < application.executors.size(); ++i) {
    result.executors.push_back(
        simulated_executor(application.executors[i], executor, tops[i], times, cpus));
    result.executors.back().trigger_callback = trigger;
  }
  const Readers readers = readers_of(application);
  std::map<std::pair<std::size_t, std::string>, std::size_t> groups;
  for (std::size_t index = 0; index < application.callbacks.size(); ++index) {
    const model::Callback& callback = application.callbacks[index];
    SimulatedCallback& own =
        result.callbacks.emplace_back(simulated_callback(application, index, times));
    if (callback.group) {
      own.group = groups.try_emplace({callback.node, *callback.group}, groups.size()).first->second;
    }
    for (const std::string& topic : callback.publishes) {
      own.topics.push_back(connections(readers, topic));
    }
  }
  for (const model::Chain& chain : application.chains) {
    result.chains.push_back({chain.callbacks, chain.deadline.count(), application.entries(chain)});
  }
  detail::set_delays(result, times);
  return result;
}

}  // namespace rclrt::analysis
