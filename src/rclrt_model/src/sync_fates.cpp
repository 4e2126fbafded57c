// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/sync_fates.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <variant>

namespace rclrt::model {

namespace {

/// Computes the longest time until a callback runs again if nothing is lost.
class Intervals {
 public:
  explicit Intervals(const Application& application)
      : application_(application), known_(application.callbacks.size()) {}

  std::int64_t of(std::size_t callback) {
    if (known_[callback]) {
      return *known_[callback];
    }
    known_[callback] = 0;  // initial value, in case the graph has a cycle
    const Callback& stated = application_.callbacks[callback];
    std::int64_t result = 0;
    if (!stated.takes_messages() || std::holds_alternative<Event>(stated.trigger)) {
      result = max_interval(stated).count();
    } else {
      const bool all = std::holds_alternative<Sync>(stated.trigger);
      std::optional<std::int64_t> shortest;
      for (const std::string& topic : inputs(stated)) {
        const std::int64_t input = of_topic(topic);
        result = std::max(result, input);
        shortest = std::min(shortest.value_or(input), input);
      }
      result = all ? result : shortest.value_or(0);
    }
    known_[callback] = result;
    return result;
  }

 private:
  std::int64_t of_topic(const std::string& topic) {
    std::optional<std::int64_t> shortest;
    for (std::size_t i = 0; i < application_.callbacks.size(); ++i) {
      const auto& published = application_.callbacks[i].publishes;
      if (std::ranges::find(published, topic) != published.end()) {
        const std::int64_t interval = of(i);
        shortest = std::min(shortest.value_or(interval), interval);
      }
    }
    return shortest.value_or(0);
  }

  const Application& application_;
  std::vector<std::optional<std::int64_t>> known_;
};

}  // namespace

SyncFates::SyncFates(const Application& application) : passages_(application.chains.size()) {
  Intervals intervals(application);
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    if (const auto* sync = std::get_if<Sync>(&application.callbacks[i].trigger)) {
      synchronisers_[i] = {.window_ns = sync->window.count(),
                           .depth = sync->depth,
                           .interval_ns = intervals.of(i),
                           .inputs = std::vector<Input>(sync->topics.size())};
    }
  }
  for (std::size_t chain = 0; chain < passages_.size(); ++chain) {
    for (const std::size_t callback : application.chains[chain].callbacks) {
      if (is_sync(callback)) {
        passages_[chain].push_back({.callback = callback});
      }
    }
  }
}

SyncFates::Passage* SyncFates::passage_of(std::size_t chain, std::size_t callback) {
  if (chain >= passages_.size()) {
    return nullptr;
  }
  const auto found = std::ranges::find(passages_[chain], callback, &Passage::callback);
  return found == passages_[chain].end() ? nullptr : &*found;
}

void SyncFates::add(const Arrival& message) {
  const auto sync = synchronisers_.find(message.callback);
  if (sync != synchronisers_.end() && message.input < sync->second.inputs.size()) {
    Input& input = sync->second.inputs[message.input];
    input.times_ns.push_back(message.time_ns);
    input.by_stamp.push_back(message);
  }
}

void SyncFates::kept(const Arrival& message, std::size_t chain, std::uint64_t instance) {
  if (Passage* const passage = passage_of(chain, message.callback)) {
    const auto [known, is_new] = passage->kept.try_emplace(instance, message);
    if (!is_new && message.time_ns < known->second.time_ns) {
      known->second = message;
    }
  }
}

void SyncFates::in_set(const Arrival& message, std::size_t chain, std::uint64_t instance) {
  if (Passage* const passage = passage_of(chain, message.callback)) {
    passage->sets.push_back({message.time_ns, instance});
    passage->taken.insert(instance);
  }
}

void SyncFates::finish(std::int64_t end_ns) {
  end_ns_ = end_ns;
  for (auto& [callback, sync] : synchronisers_) {
    for (Input& input : sync.inputs) {
      std::ranges::sort(input.times_ns);
      std::ranges::sort(input.by_stamp, {}, &Arrival::stamp_ns);
    }
  }
  for (auto& passages : passages_) {
    for (Passage& passage : passages) {
      finish(passage);
    }
  }
}

void SyncFates::finish(Passage& passage) {
  std::ranges::sort(passage.sets, {}, &Set::time_ns);
  std::optional<std::int64_t> last_ns;
  for (const auto& [instance, kept] : passage.kept) {
    last_ns = std::min(last_ns.value_or(kept.time_ns), kept.time_ns);
  }
  std::uint64_t newest = 0;
  for (Set& set : passage.sets) {
    newest = set.newest = std::max(newest, set.newest);
    passage.longest_gap_ns =
        std::max(passage.longest_gap_ns, set.time_ns - last_ns.value_or(set.time_ns));
    last_ns = set.time_ns;
  }
}

SyncFate SyncFates::of(std::size_t chain, std::uint64_t instance) const {
  const auto& passages = passages_[chain];
  for (auto passage = passages.rbegin(); passage != passages.rend(); ++passage) {
    if (passage->taken.contains(instance)) {
      return SyncFate::kOther;
    }
    if (const auto kept = passage->kept.find(instance); kept != passage->kept.end()) {
      return fate(*passage, kept->second, instance);
    }
  }
  return SyncFate::kOther;
}

SyncFate SyncFates::fate(const Passage& passage, const Arrival& kept,
                         std::uint64_t instance) const {
  const Synchroniser& sync = synchronisers_.at(passage.callback);
  const auto newer = std::ranges::upper_bound(passage.sets, instance, {}, &Set::newest);
  const std::int64_t until_ns = newer == passage.sets.end() ? end_ns_ : newer->time_ns;
  if (until_ns - kept.time_ns > 2 * sync.interval_ns && is_starved(sync, kept, until_ns)) {
    return SyncFate::kWaitsTooLong;
  }
  if (newer == passage.sets.end()) {
    const std::int64_t usual_ns = std::max(2 * sync.interval_ns, passage.longest_gap_ns);
    return end_ns_ - kept.time_ns <= usual_ns ? SyncFate::kWaiting : SyncFate::kWaitsTooLong;
  }
  if (kept.input >= sync.inputs.size()) {
    return SyncFate::kUnmatched;
  }
  const auto& times = sync.inputs[kept.input].times_ns;
  const auto next = std::ranges::upper_bound(times, kept.time_ns);
  if (static_cast<std::size_t>(times.end() - next) < sync.depth) {
    return SyncFate::kUnmatched;
  }
  const std::int64_t made_room_ns = *(next + static_cast<std::ptrdiff_t>(sync.depth) - 1);
  return made_room_ns <= newer->time_ns && was_needed(sync, kept, made_room_ns, newer->time_ns)
             ? SyncFate::kLostByDepth
             : SyncFate::kUnmatched;
}

/// Returns whether some other input of the synchroniser received no message for longer than twice
/// the interval of its slowest input, between the arrival of `kept` and `until_ns`. Then `kept` was
/// not superfluous: a partner was missing.
bool SyncFates::is_starved(const Synchroniser& sync, const Arrival& kept, std::int64_t until_ns) {
  for (std::size_t i = 0; sync.interval_ns > 0 && i < sync.inputs.size(); ++i) {
    const auto& times = sync.inputs[i].times_ns;
    const auto next = std::ranges::upper_bound(times, kept.time_ns);
    const std::int64_t from_ns = next == times.begin() ? kept.time_ns : *std::prev(next);
    const std::int64_t to_ns = next == times.end() ? until_ns : std::min(*next, until_ns);
    if (i != kept.input && to_ns - from_ns > 2 * sync.interval_ns) {
      return true;
    }
  }
  return false;
}

/// Returns whether `kept` was lost although a set needed it: each other input received a message
/// for which `kept` is the nearest message of its input, and at least one of these messages arrived
/// at or after `made_room_ns`, when `kept` was dropped for a newer message.
bool SyncFates::was_needed(const Synchroniser& sync, const Arrival& kept, std::int64_t made_room_ns,
                           std::int64_t until_ns) {
  const auto& own = sync.inputs[kept.input].by_stamp;
  const auto place = std::ranges::lower_bound(own, kept.stamp_ns, {}, &Arrival::stamp_ns);
  const auto after = std::ranges::upper_bound(own, kept.stamp_ns, {}, &Arrival::stamp_ns);
  // If two messages are equally near, a set takes the older one.
  std::int64_t from_ns = kept.stamp_ns - sync.window_ns;
  std::int64_t to_ns = kept.stamp_ns + sync.window_ns;
  if (place != own.begin()) {
    const std::int64_t before_ns = std::prev(place)->stamp_ns;
    from_ns = std::max(from_ns, before_ns + (kept.stamp_ns - before_ns) / 2 + 1);
  }
  if (after != own.end()) {
    to_ns = std::min(to_ns, kept.stamp_ns + (after->stamp_ns - kept.stamp_ns) / 2);
  }
  bool came_too_late = false;
  for (std::size_t i = 0; i < sync.inputs.size(); ++i) {
    if (i == kept.input) {
      continue;
    }
    const auto& other = sync.inputs[i].by_stamp;
    bool found = false;
    for (auto each = std::ranges::lower_bound(other, from_ns, {}, &Arrival::stamp_ns);
         each != other.end() && each->stamp_ns <= to_ns; ++each) {
      if (each->time_ns <= until_ns) {
        found = true;
        came_too_late = came_too_late || each->time_ns >= made_room_ns;
      }
    }
    if (!found) {
      return false;
    }
  }
  return came_too_late;
}

}  // namespace rclrt::model
