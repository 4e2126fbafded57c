// SPDX-License-Identifier: Apache-2.0
#include "bounds/next_messages.hpp"

#include <algorithm>

#include "bounds/stamp_sequences.hpp"
#include "demand.hpp"

namespace rclrt::analysis::detail {

std::optional<Ticks> NextMessages::of_others(
    std::size_t sync, std::initializer_list<const std::vector<std::size_t>*> without, Ticks limit) {
  const auto& inputs = workload_.graph.publishers[sync];
  Ticks longest = 0;
  for (const bool exact : {false, true}) {  // most are too long already without a search
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (std::ranges::find(without, &inputs[i]) != without.end()) {
        continue;
      }
      const auto each = exact ? after(sync, i) : longest_interval(sync, i);
      if (!each || *each >= limit) {
        return std::nullopt;
      }
      longest = std::max(longest, *each);
    }
  }
  return longest;
}

std::optional<std::vector<std::size_t>> NextMessages::sources(std::size_t sync, std::size_t input) {
  const auto& publishers = workload_.graph.publishers[sync][input];
  std::vector<std::size_t> result;
  if (!add_sources(publishers, result) || !recurs(publishers)) {
    return std::nullopt;
  }
  return result;
}

/// Returns B of an input of a sync. nullopt: it is not known.
std::optional<Ticks> NextMessages::after(std::size_t sync, std::size_t input) {
  const auto [at, is_new] = known_.try_emplace(std::pair(sync, input));
  if (is_new) {
    at->second = find(sync, input);
  }
  return at->second;
}

/// Returns the longest time between two releases that an input's messages come from, which is at
/// most B. nullopt: B is not known.
std::optional<Ticks> NextMessages::longest_interval(std::size_t sync, std::size_t input) const {
  std::vector<std::size_t> sources;
  if (!add_sources(workload_.graph.publishers[sync][input], sources)) {
    return std::nullopt;
  }
  Ticks result = 0;
  for (const std::size_t source : sources) {
    const model::Callback& callback = workload_.application.callbacks[source];
    result = std::max<Ticks>(result, model::max_interval(callback).count());
  }
  return result;
}

std::optional<Ticks> NextMessages::find(std::size_t sync, std::size_t input) {
  const auto from = sources(sync, input);
  if (!from) {
    return std::nullopt;
  }
  Ticks result = 0;
  for (const std::size_t source : *from) {
    const std::size_t publisher = workload_.graph.publishers[sync][input].front();
    const auto reached = reach_(source, publisher, sync);
    if (!reached) {
      return std::nullopt;
    }
    const model::Callback& callback = workload_.application.callbacks[source];
    result = std::max(result, sum(model::max_interval(callback).count(), *reached));
  }
  return result < kMaxTicks ? std::optional(result) : std::nullopt;
}

/// Adds the timers and events that the messages of an input (its publishers) come from. Returns
/// false if some callback on the way has several publishers for an input, or if the time between
/// two releases of a timer has no limit.
bool NextMessages::add_sources(const std::vector<std::size_t>& input,
                               std::vector<std::size_t>& sources) const {
  const std::size_t from = origin_of(workload_, input);
  if (from == kNoOrigin) {
    return false;
  }
  const model::Callback& callback = workload_.application.callbacks[from];
  if (callback.kind() == model::CallbackKind::kSync) {
    return std::ranges::all_of(workload_.graph.publishers[from],
                               [&](const auto& each) { return add_sources(each, sources); });
  }
  if (callback.kind() == model::CallbackKind::kTimer && !keeps_grid(callback)) {
    return false;
  }
  if (std::ranges::find(sources, from) == sources.end()) {
    sources.push_back(from);
  }
  return true;
}

/// Returns whether each synchroniser on the way to an input has a window that lets it form sets
/// again and again.
bool NextMessages::recurs(const std::vector<std::size_t>& input) {
  const std::size_t from = origin_of(workload_, input);
  const auto* const sync = std::get_if<model::Sync>(&workload_.application.callbacks[from].trigger);
  if (sync == nullptr) {
    return true;
  }
  for (std::size_t i = 0; i < workload_.graph.publishers[from].size(); ++i) {
    const auto next = after(from, i);
    if (!next || *next > sync->window.count()) {
      return false;
    }
  }
  return true;
}

}  // namespace rclrt::analysis::detail
