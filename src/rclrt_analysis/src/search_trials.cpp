// SPDX-License-Identifier: Apache-2.0
#include "search_trials.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "simulation/simulated_times.hpp"

namespace rclrt::analysis::detail {

Trials::Trials(const model::Application& application, std::uint64_t seed, bool delays_vary)
    : application_(application), random_(seed), delays_vary_(delays_vary) {
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const model::Callback& callback = application.callbacks[i];
    stated_.push_back(stated_offset_ns(callback));
    if (callback.takes_messages()) {
      continue;
    }
    sources_.push_back(i);
    const auto* timer = std::get_if<model::Timer>(&callback.trigger);
    if (timer == nullptr || !timer->offset_stated) {
      free_.push_back(i);  // an event may come at any time, wherever a run has its first release
    }
  }
}

bool Trials::is_free(std::size_t source) const {
  return std::ranges::find(free_, source) != free_.end();
}

std::vector<std::int64_t> Trials::just_after_the_others(std::size_t own) const {
  std::vector<std::int64_t> result = stated_;
  if (is_free(own)) {
    result[own] = std::min<std::int64_t>(1, period_ns(own) - 1);
  }
  for (const std::size_t source : free_) {
    if (source != own) {
      result[source] = (result[own] + period_ns(source) - 1) % period_ns(source);
    }
  }
  return result;
}

std::vector<std::int64_t> Trials::just_before_each_value(
    const model::CauseEffectChain& chain) const {
  std::vector<std::int64_t> result = stated_;
  std::optional<std::int64_t> stored_ns;
  for (const model::Segment& segment : chain.segments) {
    const model::Chain& path = application_.chains[segment.chain];
    const std::size_t source = path.callbacks.front();
    if (stored_ns && is_free(source)) {
      result[source] = (*stored_ns + period_ns(source) - 1) % period_ns(source);
    }
    stored_ns = result[source] + (path.logical_execution ? path.deadline.count() : 0);
    for (const std::size_t callback : path.callbacks) {
      *stored_ns += path.logical_execution ? 0 : application_.callbacks[callback].wcet.count();
    }
  }
  return result;
}

Trial Trials::variation(Trial trial) {
  const bool anew = trial.offsets_ns.empty() || random_.uniform(0, 3) == 0;
  if (trial.offsets_ns.empty()) {
    trial.offsets_ns = stated_;
  }
  const auto all = static_cast<std::int64_t>(free_.size());
  for (const std::size_t source : free_) {
    if (!anew && random_.uniform(0, all - 1) >= 2) {
      continue;
    }
    trial.offsets_ns[source] = some_offset(source);
  }
  const bool shorter = random_.uniform(0, 3) == 0;
  trial.lowest_percent = shorter ? static_cast<int>(random_.uniform(0, 9)) * 10 : 100;
  const bool sooner = delays_vary_ && random_.uniform(0, 1) == 0;
  trial.lowest_delay_percent = sooner ? static_cast<int>(random_.uniform(0, 9)) * 10 : 100;
  trial.seed = shorter || sooner ? random_.next() >> 32U : 0;
  return trial;
}

Trial Trials::with(std::vector<std::int64_t> offsets_ns, int lowest_percent,
                   int lowest_delay_percent) {
  const bool varies = lowest_percent < 100 || lowest_delay_percent < 100;
  return {std::move(offsets_ns), lowest_percent, lowest_delay_percent,
          varies ? random_.next() >> 32U : 0};
}

/// Returns a random offset. Round numbers make releases coincide, or just not.
std::int64_t Trials::some_offset(std::size_t source) {
  const std::int64_t period = period_ns(source);
  switch (random_.uniform(0, 3)) {
    case 0:
      return random_.uniform(0, period - 1);
    case 1:
      return std::min<std::int64_t>(random_.uniform(0, 1), period - 1);
    default:
      return std::min(period / 16 * random_.uniform(0, 15) + random_.uniform(0, 1), period - 1);
  }
}

}  // namespace rclrt::analysis::detail
