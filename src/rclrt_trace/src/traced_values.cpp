// SPDX-License-Identifier: Apache-2.0
// Values that callbacks store and read: events of rclrt_realtime's SampledValue, and messages that
// callbacks take themselves.
#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "traced_system.hpp"

namespace rclrt::trace {

namespace {

/// How many of the latest stores are remembered for each value.
constexpr std::size_t kStores = 16;
/// The most values. A robot has few; a damaged trace may seem to have a new one with each event.
constexpr std::size_t kMostValues = 10'000;
/// Longest time from the event of a store to the store.
constexpr std::int64_t kLongestStore_ns = 1'000'000'000;

}  // namespace

/// Returns whether the event is of a later value at the address of an earlier one. Numbers of
/// stores only grow, and a read finds an older value only while a newer one is being stored.
bool TracedSystem::is_other_value(const Value& value, const TraceEvent& event) {
  const std::uint64_t number = event.numbers[1];
  if (event.kind == EventKind::kValueStored) {
    return number <= value.newest;
  }
  const std::uint64_t newer = value.newest - std::min(number, value.newest);
  if (number == 0 && newer > 1) {
    return true;
  }
  return newer > 0 && newer <= value.stored.size() &&
         event.time_ns - *std::prev(value.stored.end(), static_cast<std::ptrdiff_t>(newer)) >
             kLongestStore_ns;
}

/// Returns from when until when the value with this number was the newest one, as far as the read
/// at `time_ns` shows. The event of a store comes before the value can be read, so a run may read
/// an older value after it: then it counts as read just before that event.
TracedSystem::Read TracedSystem::read_of(const Value& value, std::uint64_t number,
                                         std::int64_t time_ns) {
  const std::uint64_t newer = value.newest - std::min(number, value.newest);
  const auto stored = [&](std::uint64_t back) {
    return *std::prev(value.stored.end(), static_cast<std::ptrdiff_t>(back));
  };
  const bool is_old = newer > 0 && newer <= value.stored.size();
  const std::int64_t until_ns = is_old ? std::min(time_ns, stored(newer) - 1) : time_ns;
  const bool is_known = number <= value.newest && newer < value.stored.size();
  return {.from_ns = is_known ? std::min(stored(newer + 1), until_ns) : until_ns,
          .until_ns = until_ns};
}

/// Notes which callback stores or reads a value, and when.
void TracedSystem::take_value(const TraceEvent& event) {
  Thread& thread = thread_of(event);
  if (values_.size() >= kMostValues && !values_.contains({event.pid, event.numbers[0]})) {
    ++gaps_.values_left_out;
    return;
  }
  Value& value = values_[{event.pid, event.numbers[0]}];
  const std::uint64_t number = event.numbers[1];
  const bool is_store = event.kind == EventKind::kValueStored;
  if (value.index == kNone || is_other_value(value, event)) {
    // An entry without writers or without readers shows nothing, so it is used again.
    const bool again = value.index != kNone && (stored_values_[value.index].writers.empty() ||
                                                stored_values_[value.index].readers.empty());
    if (!again && stored_values_.size() >= kMostValues) {
      ++gaps_.values_left_out;
      return;
    }
    const std::size_t index = again ? value.index : stored_values_.size();
    value = {.index = static_cast<std::uint32_t>(index)};
    stored_values_.resize(std::max(stored_values_.size(), index + 1));
    stored_values_[index] = {.process = event.pid};
  }
  if (is_store) {
    if (number != value.newest + 1) {
      value.stored.clear();  // the stores between are lost, or were before the trace
    }
    value.newest = number;
    value.stored.push_back(event.time_ns);
    if (value.stored.size() > kStores) {
      value.stored.pop_front();
    }
  } else if (number > value.newest) {
    ++gaps_.unknown_reads;
  }
  if (thread.running.empty() || thread.running.back().instance.callback == kNone) {
    return;  // not in a callback
  }
  Running& run = thread.running.back();
  StoredValue& known = stored_values_[value.index];
  if (is_store) {
    known.writers.insert(run.instance.callback);
    run.instance.stored_ns = event.time_ns;
  } else {
    known.readers.insert(run.instance.callback);
    run.reads.try_emplace({false, event.numbers[0]}, read_of(value, number, event.time_ns));
  }
}

/// Notes that the thread's callback took the message of Thread::sample, if there is one. The last
/// one of several of a topic counts: a callback may take all that wait for the newest one.
void TracedSystem::note_sample(Thread& thread) {
  const std::optional<Sample> sample = std::exchange(thread.sample, std::nullopt);
  if (!sample || thread.running.empty() || thread.running.back().instance.callback == kNone) {
    return;
  }
  Running& run = thread.running.back();
  const std::uint32_t callback = run.instance.callback;
  if (sample->taken) {
    thread.taken.reset();  // it is for no other run
    thread.taken_stamp_ns = 0;
    callbacks_[callback].samples.insert(sample->topic);
    auto& [takers, topic] = sampling_[sample->subscription];
    takers.insert(callback);
    topic = sample->topic;
    sampled_[{callback, sample->topic}] = sample->message;
  }
  // Without a new message, the last one counts again.
  const auto newest = sampled_.find({callback, sample->topic});
  if (newest == sampled_.end() || newest->second.time_ns == 0) {
    return;
  }
  const Publication& message = newest->second;
  const std::vector<std::int64_t>& times = publication_times_[sample->topic];
  const auto next = std::ranges::upper_bound(times, message.time_ns);
  const std::int64_t until_ns =
      next == times.end() ? sample->at_ns : std::min(sample->at_ns, *next - 1);
  run.reads[{true, sample->topic}] = {.from_ns = message.time_ns,
                                      .until_ns = std::max(message.time_ns, until_ns),
                                      .message = message};
}

/// Takes back the samples of subscriptions of which a callback ran later: an executor, which the
/// running callback spun, took these messages.
void TracedSystem::leave_out_spun_samples() {
  for (const auto& [subscription, sampled] : sampling_) {
    if (!may_be_sample(subscription, sampled.second)) {
      for (const std::uint32_t taker : sampled.first) {
        callbacks_[taker].samples.erase(sampled.second);
      }
    }
  }
}

/// Sets TracedInstance::read_ns of a run that ends.
void TracedSystem::close_reads(Running& run) {
  if (run.reads.empty()) {
    return;
  }
  std::int64_t oldest_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t from_ns = 0;
  std::int64_t until_ns = std::numeric_limits<std::int64_t>::max();
  for (const auto& [what, read] : run.reads) {
    oldest_ns = std::min(oldest_ns, read.from_ns);
    from_ns = std::max(from_ns, read.from_ns);
    until_ns = std::min(until_ns, read.until_ns);
  }
  gaps_.mixed_reads += from_ns > until_ns ? 1 : 0;
  run.instance.read_ns = from_ns > until_ns ? oldest_ns : until_ns;
  const auto& [what, only] = *run.reads.begin();
  if (run.reads.size() == 1 && what.first) {
    run.instance.sampled_from = only.message.callback;
    run.instance.sampled_thread = only.message.thread;
    run.instance.sampled_ns = only.message.time_ns;
  }
}

}  // namespace rclrt::trace
