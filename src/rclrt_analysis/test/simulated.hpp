// SPDX-License-Identifier: Apache-2.0
// Short ways to write a system, and its schedule as text. Times are milliseconds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis::test {

inline std::int64_t ms(double time) { return std::llround(time * 1e6); }
inline double to_ms(std::int64_t time_ns) { return static_cast<double>(time_ns) / 1e6; }

/// A system. Its callbacks are named a, b, c, ... in the order in which they are added.
class System {
 public:
  explicit System(ExecutorKind kind, unsigned cpus = 1) {
    value.cpus = cpus;
    value.executors.push_back({.choice = kind});
  }

  std::size_t timer(double period, double wcet, int level, double offset = 0) {
    return add(wcet, level,
               TimerTrigger{.period_ns = ms(period), .offset_ns = ms(offset), .depth = 100});
  }

  std::size_t subscription(std::size_t publisher, double wcet, int level, std::size_t depth = 10) {
    const std::size_t own = add(wcet, level, MessageTrigger{depth});
    connect(publisher, own);
    return own;
  }

  /// Connects two callbacks by a topic of its own.
  void connect(std::size_t publisher, std::size_t subscriber, unsigned input = 0) {
    value.callbacks[publisher].topics.push_back({{subscriber, input, {}}});
  }

  std::size_t add(double wcet, int level, decltype(SimulatedCallback::trigger) trigger) {
    SimulatedCallback callback;
    callback.level = level;
    callback.execution = TimeDistribution::constant(ms(wcet));
    callback.trigger = std::move(trigger);
    value.callbacks.push_back(std::move(callback));
    return value.callbacks.size() - 1;
  }

  void chain(std::vector<std::size_t> callbacks, double deadline = 0) {
    value.chains.push_back({std::move(callbacks), ms(deadline)});
  }

  SimulatedCallback& operator[](std::size_t callback) { return value.callbacks[callback]; }

  SimulationResult run(double horizon, SimulationObserver* observer = nullptr) const {
    return simulate(value, {.horizon_ns = ms(horizon)}, observer);
  }

  SimulatedSystem value;
};

inline std::string number(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') {
    text.pop_back();
  }
  return text;
}

/// Records "a 0-1 b 1-3": the intervals of each callback, in order of time. On several CPUs "1:a
/// 0-1" is an interval on CPU 1. Intervals that a preemption of no length separates are joined.
class Gantt final : public SimulationObserver {
 public:
  void ran(const SimulatedInterval& interval) override {
    for (auto last = intervals_.rbegin(); last != intervals_.rend(); ++last) {
      if (last->cpu == interval.cpu) {
        if (last->instance == interval.instance && last->to_ns == interval.from_ns) {
          last->to_ns = interval.to_ns;
          return;
        }
        break;
      }
    }
    intervals_.push_back(interval);
  }

  std::string text() const {
    std::vector<SimulatedInterval> ordered = intervals_;
    std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
      return std::pair(a.from_ns, a.cpu) < std::pair(b.from_ns, b.cpu);
    });
    std::string text;
    for (const SimulatedInterval& interval : ordered) {
      text += (text.empty() ? "" : " ") +
              (interval.cpu != 0 ? std::to_string(interval.cpu) + ":" : "") +
              static_cast<char>('a' + static_cast<int>(interval.callback)) + " " +
              number(to_ms(interval.from_ns)) + "-" + number(to_ms(interval.to_ns));
    }
    return text;
  }

 private:
  std::vector<SimulatedInterval> intervals_;
};

inline std::string schedule(const System& system, double horizon) {
  Gantt gantt;
  system.run(horizon, &gantt);
  return gantt.text();
}

/// Returns the worst response times of the callbacks.
inline std::vector<double> worst_responses(const System& system, double horizon) {
  std::vector<double> result;
  for (const CallbackSimulation& callback : system.run(horizon).callbacks) {
    result.push_back(to_ms(callback.response.worst_ns));
  }
  return result;
}

inline std::vector<double> worst_chains(const System& system, double horizon) {
  std::vector<double> result;
  for (const ChainSimulation& chain : system.run(horizon).chains) {
    result.push_back(to_ms(chain.response.worst_ns));
  }
  return result;
}

}  // namespace rclrt::analysis::test
