// SPDX-License-Identifier: Apache-2.0
#include "later_begins.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "release_times.hpp"
#include "simulation/simulated_times.hpp"

namespace rclrt::analysis::detail {
namespace {

/// The most multiples of the grid in a warm-up.
constexpr std::int64_t kMostRounds = 8;

/// Returns the timer, if it states its offset.
const model::Timer* stated_timer(const model::Callback& callback) {
  const auto* timer = std::get_if<model::Timer>(&callback.trigger);
  return timer != nullptr && timer->offset_stated ? timer : nullptr;
}

/// Returns, for each callback, whether its messages reach a synchroniser, or it is one.
std::vector<bool> feeds_synchroniser(const SimulatedSystem& system) {
  std::vector<bool> result;
  for (const SimulatedCallback& callback : system.callbacks) {
    result.push_back(std::holds_alternative<SyncTrigger>(callback.trigger));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto reaches = [&](const Connection& each) { return result[each.callback]; };
      const bool feeds = std::ranges::any_of(system.callbacks[i].topics, [&](const auto& topic) {
        return std::ranges::any_of(topic, reaches);
      });
      changed = changed || (feeds && !result[i]);
      result[i] = result[i] || feeds;
    }
  }
  return result;
}

/// Returns the time after which the sources of synchronisers repeat: 1 without synchronisers;
/// nullopt if they do not, or only after more than `longest_ns`.
std::optional<std::int64_t> grid_of(const model::Application& application,
                                    const SimulatedSystem& system, std::int64_t longest_ns) {
  const std::vector<bool> feeds = feeds_synchroniser(system);
  std::int64_t grid_ns = 1;
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    const model::Callback& callback = application.callbacks[i];
    if (!feeds[i] || callback.takes_messages()) {
      continue;
    }
    const model::Timer* const timer = stated_timer(callback);
    if (timer == nullptr || timer->offset >= timer->period) {
      return std::nullopt;
    }
    const std::int64_t more = timer->period.count() / std::gcd(grid_ns, timer->period.count());
    if (more > longest_ns / grid_ns) {
      return std::nullopt;
    }
    grid_ns *= more;
  }
  return grid_ns;
}

/// Returns the longest time for which a release or a message may be under way, and those that it
/// causes, if callbacks take no time.
std::int64_t longest_way_ns(const SimulatedSystem& system, const SimulatedTimes& delays) {
  const auto hops = static_cast<std::int64_t>(system.callbacks.size());
  return delays.lateness.highest_ns() +
         hops * std::max(delays.hop.highest_ns(), delays.far_hop.highest_ns());
}

/// Returns the number of multiples of the grid after which the messages repeat, or nullopt.
std::optional<std::int64_t> rounds_of(const SimulatedSystem& system, std::int64_t grid_ns,
                                      std::int64_t way_ns, std::int64_t longest_ns) {
  const std::int64_t first = 1 + way_ns / grid_ns;
  if (first > longest_ns / grid_ns) {
    return std::nullopt;
  }
  std::vector<std::int64_t> last = messages_after(system, first * grid_ns);
  for (std::int64_t rounds = first; rounds <= std::min(first + kMostRounds, longest_ns / grid_ns);
       ++rounds) {
    std::vector<std::int64_t> next = messages_after(system, (rounds + 1) * grid_ns);
    if (next == last) {
      return rounds;
    }
    last = std::move(next);
  }
  return std::nullopt;
}

}  // namespace

LaterBegins later_begins(const model::Application& application,
                         const model::ExecutorChoice& executor, SimulatedSystem system,
                         std::span<const SimulatedTimes> delays, std::int64_t longest_ns) {
  const bool states_offset = std::ranges::any_of(
      application.callbacks, [](const auto& each) { return stated_timer(each) != nullptr; });
  if (!states_offset || !application.hosts.empty() || executor.trigger != model::SetTrigger::kAny) {
    return {};
  }
  const auto grid_ns = grid_of(application, system, longest_ns);
  if (!grid_ns) {
    return {};
  }
  LaterBegins result{.possible = true, .grid_ns = *grid_ns};
  for (const SimulatedTimes& each : delays) {
    const std::int64_t way_ns = longest_way_ns(system, each);
    std::int64_t warm_up_ns = way_ns;
    if (*grid_ns > 1) {
      set_delays(system, each);
      const auto rounds = rounds_of(system, *grid_ns, way_ns, longest_ns);
      if (!rounds) {
        return {};
      }
      warm_up_ns = *rounds * *grid_ns;
    }
    result.warm_up_ns = std::max(result.warm_up_ns, warm_up_ns);
  }
  return result;
}

std::int64_t offset_from(std::int64_t begin_ns, std::int64_t offset_ns, std::int64_t period_ns) {
  return offset_ns >= begin_ns ? offset_ns - begin_ns : phase_of(offset_ns - begin_ns, period_ns);
}

}  // namespace rclrt::analysis::detail
