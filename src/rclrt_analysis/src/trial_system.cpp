// SPDX-License-Identifier: Apache-2.0
#include "trial_system.hpp"

#include <vector>

#include "simulation/simulated_times.hpp"

namespace rclrt::analysis::detail {

TrialSystem::TrialSystem(const model::Application& application, const Search& search)
    : application_(application), search_(search), machine_(search.overheads) {
  machine_.background = machine_.stall = machine_.handover = machine_.cpus = 0;
  system_ = simulated_system(application, search.executor, times_of({}), search.cpus_of_others());
}

const SimulatedSystem& TrialSystem::set_up(const Trial& trial) {
  for (std::size_t i = 0; i < system_.callbacks.size(); ++i) {
    auto& trigger = system_.callbacks[i].trigger;
    if (auto* event = std::get_if<EventTrigger>(&trigger)) {
      const auto& stated = std::get<model::Event>(application_.callbacks[i].trigger);
      event->event = trial.extremes ? at_extremes(stated, trial.offsets_ns[i], trial.seed)
                                    : densest(stated, trial.offsets_ns[i]);
    } else if (auto* timer = std::get_if<TimerTrigger>(&trigger)) {
      timer->offset_ns = trial.offsets_ns[i];
    }
  }
  if (trial.lowest_delay_percent != last_.lowest_delay_percent) {
    set_delays(system_, times_of(trial));
  }
  if (trial.lowest_percent != last_.lowest_percent || trial.extremes != last_.extremes) {
    for (std::size_t i = 0; i < system_.callbacks.size(); ++i) {
      set_run(system_.callbacks[i], application_.callbacks[i], trial.lowest_percent / 100.0,
              trial.extremes);
    }
  }
  last_ = trial;
  return system_;
}

LaterBegins TrialSystem::begins(std::int64_t longest_ns) const {
  std::vector<SimulatedTimes> delays{times_of({})};
  for (int percent = 0; delays_vary() && percent < 100; percent += 10) {
    delays.push_back(times_of({.lowest_delay_percent = percent}));
  }
  return later_begins(application_, search_.executor, system_, delays, longest_ns);
}

bool TrialSystem::delays_vary() const {
  const auto varies = [](const Hop& hop) { return hop.min < hop.max; };
  return machine_.timer_jitter > 0 || varies(machine_.near) || varies(machine_.far);
}

SimulatedTimes TrialSystem::times_of(const Trial& trial) const {
  return counter_example_times({.lowest_execution_percent = trial.lowest_percent,
                                .extremes = trial.extremes,
                                .overheads = machine_,
                                .lowest_delay_percent = trial.lowest_delay_percent});
}

}  // namespace rclrt::analysis::detail
