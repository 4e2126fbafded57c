// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/sensitivity.hpp"

#include <algorithm>
#include <functional>

#include "rclrt/analysis/analyse_tasks.hpp"
#include "rclrt/analysis/assign.hpp"

namespace rclrt::analysis {
namespace {

constexpr Ticks kHour_ns = Ticks{3600} * 1'000'000'000;
constexpr Ticks kMillion = 1'000'000;
constexpr model::Nanoseconds kLeastInterval{1000};  ///< of events in an app.yaml
constexpr int kSamples = 4;
constexpr std::int64_t kMoreSteps = 8;

/// Searches the last value of a time, from `harmless` to `harmful`, with which `holds` is true.
/// `stated` is the value in the application, where the search begins. `harmless` may be less or
/// greater than `harmful`.
Margin margin(Ticks harmless, Ticks stated, Ticks harmful,
              const std::function<bool(Ticks)>& holds) {
  Margin result;
  if (!holds(harmless)) {
    return result;
  }
  Ticks good = harmless;
  Ticks bad = harmful;
  if (harmless != stated && holds(stated)) {
    good = stated;
  }
  // Steps away from the last good value in growing steps: a limit that is far away then costs
  // hardly more trials than a near one.
  const Ticks direction = harmful > harmless ? 1 : -1;
  bool found_bad = false;
  for (Ticks step = std::max<Ticks>(1, stated / 8); !found_bad; step *= 2) {
    const Ticks left = (harmful - good) * direction;
    const Ticks next = left <= step ? harmful : good + direction * step;
    if (holds(next)) {
      good = next;
      if (next == harmful) {
        break;
      }
    } else {
      bad = next;
      found_bad = true;
    }
  }
  if (!found_bad && good == harmful) {
    result.limit = good;
    result.unlimited = true;
    return result;
  }
  while ((bad - good) * direction > 1) {
    const Ticks middle = good + (bad - good) / 2;
    (holds(middle) ? good : bad) = middle;
  }
  result.limit = good;
  for (int i = 1; i <= kSamples; ++i) {
    result.monotone = result.monotone && holds(harmless + (good - harmless) / (kSamples + 1) * i);
    const Ticks beyond = good + (harmful - good) / (kSamples + 1) * i;
    result.monotone = result.monotone && (beyond == good || !holds(beyond));
  }
  return result;
}

/// Returns `time` times `factor` (in millionths), rounded up.
Ticks scaled(Ticks time, Ticks factor) {
  __extension__ using Wide = __int128;
  const Wide product = (static_cast<Wide>(time) * factor + kMillion - 1) / kMillion;
  return static_cast<Ticks>(std::min<Wide>(product, kMaxTicks));
}

class OfApplication {
 public:
  OfApplication(const model::Application& application, const model::ExecutorChoice& executor,
                const Overheads& overheads, Effort effort)
      : stated_(application),
        tried_(application),
        executor_(executor),
        overheads_(overheads),
        effort_(effort) {}

  Sensitivity run() {
    // Some trials need more steps than the application itself.
    while (!holds() && effort_.steps < Effort{}.steps) {
      effort_.steps *= kMoreSteps;
    }
    effort_.steps = std::min(effort_.steps, Effort{}.steps / kMoreSteps) * kMoreSteps;
    Sensitivity result;
    result.factor = margin(0, kMillion, kMaxFactor, [this](Ticks factor) {
      for (std::size_t i = 0; i < tried_.callbacks.size(); ++i) {
        tried_.callbacks[i].wcet = ns(scaled(stated_.callbacks[i].wcet.count(), factor));
      }
      return holds();
    });
    tried_ = stated_;
    for (std::size_t i = 0; i < tried_.callbacks.size(); ++i) {
      result.wcets.push_back(wcet(i));
      result.periods.push_back(period(i));
    }
    return result;
  }

 private:
  static model::Nanoseconds ns(Ticks time) { return model::Nanoseconds(time); }

  bool holds() const { return quality(tried_, executor_, overheads_, effort_).not_proved == 0; }

  Margin wcet(std::size_t callback) {
    const auto stated = stated_.callbacks[callback].wcet;
    const Margin result = margin(0, stated.count(), kHour_ns, [&](Ticks value) {
      tried_.callbacks[callback].wcet = ns(value);
      return holds();
    });
    tried_.callbacks[callback].wcet = stated;
    return result;
  }

  Margin period(std::size_t callback) {
    auto& trigger = tried_.callbacks[callback].trigger;
    model::Nanoseconds* interval = nullptr;
    if (auto* timer = std::get_if<model::Timer>(&trigger)) {
      interval = &timer->period;
    } else if (auto* event = std::get_if<model::Event>(&trigger)) {
      if (event->period > model::Nanoseconds::zero()) {
        return period(*event);
      }
      interval = &event->min_interval;
    } else {
      return {};
    }
    const auto stated = *interval;
    const Margin result = margin(kHour_ns, stated.count(), 1, [&](Ticks value) {
      *interval = ns(value);
      return holds();
    });
    *interval = stated;
    return result;
  }

  /// The same for an event with a period, with its jitter as stated.
  Margin period(model::Event& event) {
    const model::Event stated = event;
    // An interval of the period less the jitter is not stated: it follows from them, and shrinks
    // with the period.
    const bool states_interval = stated.min_interval > stated.period - stated.jitter;
    const Margin result = margin(kHour_ns, stated.period.count(), 1, [&](Ticks value) {
      event.period = ns(value);
      event.min_interval = event.period - event.jitter;
      if (states_interval) {
        event.min_interval =
            std::max(event.min_interval, std::min(stated.min_interval, event.period));
      }
      event.max_interval = event.period + event.jitter;
      return event.min_interval >= kLeastInterval && holds();
    });
    event = stated;
    return result;
  }

  const model::Application& stated_;
  model::Application tried_;
  model::ExecutorChoice executor_;
  const Overheads& overheads_;
  Effort effort_;
};

}  // namespace

Sensitivity sensitivity(const model::Application& application,
                        const model::ExecutorChoice& executor, const Overheads& overheads,
                        Effort effort) {
  return OfApplication(application, executor, overheads, effort).run();
}

Sensitivity sensitivity(std::span<const Task> tasks, Policy policy, Effort effort) {
  const std::vector<Task> stated(tasks.begin(), tasks.end());
  std::vector<Task> tried = stated;
  const auto holds = [&] {
    return analyse_tasks(tried, policy, effort).schedulable == Answer::kYes;
  };
  Sensitivity result;
  result.factor = margin(0, kMillion, kMaxFactor, [&](Ticks factor) {
    for (std::size_t i = 0; i < tried.size(); ++i) {
      tried[i].wcet = scaled(stated[i].wcet, factor);
    }
    return holds();
  });
  tried = stated;
  for (std::size_t i = 0; i < tried.size(); ++i) {
    result.wcets.push_back(margin(0, stated[i].wcet, kMaxTicks / 1024, [&](Ticks value) {
      tried[i].wcet = value;
      return holds();
    }));
    tried[i] = stated[i];
    result.periods.push_back(margin(kMaxTicks / 1024, stated[i].period, 1, [&](Ticks value) {
      tried[i].period = value;
      return holds();
    }));
    tried[i] = stated[i];
  }
  return result;
}

}  // namespace rclrt::analysis
