// SPDX-License-Identifier: Apache-2.0
// Callbacks that never run, because a sync before them never has a complete set.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "bounds/level_work.hpp"

namespace rclrt::analysis::detail {
namespace {

/// Stamps of messages: offset, offset + period and so on, or some of these.
struct Grid {
  Ticks period{};
  Ticks offset{};

  auto operator<=>(const Grid&) const = default;
};

/// The grids that have all stamps of a callback's messages. nullopt: some stamps are not known. An
/// empty list: the callback never runs.
using Stamps = std::optional<std::vector<Grid>>;

/// Returns the stamps of all these. Without any, they are not known.
Stamps merged(const std::vector<Stamps>& all) {
  if (all.empty()) {
    return std::nullopt;
  }
  std::vector<Grid> grids;
  for (const Stamps& each : all) {
    if (!each) {
      return std::nullopt;
    }
    grids.insert(grids.end(), each->begin(), each->end());
  }
  std::ranges::sort(grids);
  grids.erase(std::unique(grids.begin(), grids.end()), grids.end());
  return grids;
}

/// Returns whether no stamp of the one is within the window of a stamp of the other. Stamps of two
/// grids differ by their offsets, modulo the greatest common divisor of the periods.
bool are_apart(const Grid& one, const Grid& other, Ticks window) {
  const Ticks grid = std::gcd(one.period, other.period);
  const Ticks later = from_release_to(one.offset, other.offset, grid);
  return std::min(later, grid - later) > window;
}

bool are_apart(const Stamps& one, const Stamps& other, Ticks window) {
  return one && other && std::ranges::all_of(*one, [&](const Grid& here) {
           return std::ranges::all_of(
               *other, [&](const Grid& there) { return are_apart(here, there, window); });
         });
}

}  // namespace

/// Returns, for each callback, whether it never runs. A sync has no set if all stamps of one input
/// are more than its window away from those of another one, or if an input has no messages. The
/// stamp of a timer's message is its nominal release, that of a set is one of its messages' stamps.
/// So all stamps are known if they come from timers with stated offsets.
std::vector<bool> Workload::find_idle() const {
  std::vector<bool> idle(application.callbacks.size());
  if (std::ranges::none_of(application.callbacks, [](const model::Callback& each) {
        return each.kind() == model::CallbackKind::kSync;
      })) {
    return idle;
  }
  std::vector<Stamps> stamps(idle.size());
  for (const std::size_t i : graph.order) {
    const model::Callback& callback = application.callbacks[i];
    if (const auto offset = stated_offset(callback)) {
      stamps[i] = {{model::period(callback).count(), *offset}};
      continue;
    }
    if (!callback.takes_messages()) {
      continue;
    }
    std::vector<Stamps> inputs;
    for (const auto& input : graph.publishers[i]) {
      std::vector<Stamps> publishers;
      for (const std::size_t from : input) {
        publishers.push_back(stamps[from]);
      }
      inputs.push_back(merged(publishers));
    }
    stamps[i] = merged(inputs);
    const auto* const sync = std::get_if<model::Sync>(&callback.trigger);
    for (std::size_t one = 0; sync != nullptr && one < inputs.size(); ++one) {
      for (std::size_t other = 0; other < one; ++other) {
        if (are_apart(inputs[one], inputs[other], sync->window.count())) {
          stamps[i] = std::vector<Grid>();
        }
      }
    }
    idle[i] = stamps[i] && stamps[i]->empty();
  }
  return idle;
}

}  // namespace rclrt::analysis::detail
