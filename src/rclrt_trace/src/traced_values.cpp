// SPDX-License-Identifier: Apache-2.0
// Values that callbacks store and read: events of rclrt_realtime's SampledValue, and messages that
// callbacks take themselves.
#include <algorithm>
#include <iterator>
#include <utility>

#include "traced_system.hpp"

namespace rclrt::trace {

namespace {

/// How many of the latest stores are remembered for each value.
constexpr std::size_t kStores = 16;

}  // namespace

/// Returns when a run read the value with this number, from the time of the event. The event of a
/// store comes before the value can be read, so a run may read an older value after it: then it
/// counts as read just before that event.
std::int64_t TracedSystem::read_time(const Value& value, std::uint64_t number,
                                     std::int64_t time_ns) {
  const std::uint64_t newer = value.newest - std::min(number, value.newest);
  if (newer == 0 || newer > value.stored.size()) {
    return time_ns;
  }
  return std::min(time_ns, *std::prev(value.stored.end(), static_cast<std::ptrdiff_t>(newer)) - 1);
}

/// Notes which callback stores or reads a value, and when.
void TracedSystem::take_value(const TraceEvent& event) {
  Thread& thread = thread_of(event);
  Value& value = values_[{event.pid, event.numbers[0]}];
  const std::uint64_t number = event.numbers[1];
  const bool is_store = event.kind == EventKind::kValueStored;
  // Numbers only grow. Otherwise this is a later value at the address of an earlier one.
  const bool is_later = is_store ? number <= value.newest : number == 0 && value.newest > 1;
  if (value.index == kNone || is_later) {
    value = {.index = static_cast<std::uint32_t>(stored_values_.size())};
    stored_values_.push_back({.process = event.pid});
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
  TracedInstance& run = thread.running.back().instance;
  StoredValue& known = stored_values_[value.index];
  if (is_store) {
    known.writers.insert(run.callback);
    run.stored_ns = event.time_ns;
  } else {
    known.readers.insert(run.callback);
    run.read_ns = run.read_ns != 0 ? run.read_ns : read_time(value, number, event.time_ns);
  }
}

/// Notes that the thread's callback took the message of Thread::sample, if there is one.
void TracedSystem::note_sample(Thread& thread) {
  const std::optional<Sample> sample = std::exchange(thread.sample, std::nullopt);
  if (!sample || thread.running.empty() || thread.running.back().instance.callback == kNone) {
    return;
  }
  TracedInstance& run = thread.running.back().instance;
  if (sample->taken) {
    thread.taken.reset();  // it is for no other run
    callbacks_[run.callback].samples.insert(sample->topic);
    sampled_ns_[{run.callback, sample->topic}] = sample->published_ns;
  }
  // Without a new message, the last one counts again.
  const auto newest = sampled_ns_.find({run.callback, sample->topic});
  if (newest != sampled_ns_.end() && run.read_ns == 0) {
    run.read_ns = newest->second;
  }
}

}  // namespace rclrt::trace
