// SPDX-License-Identifier: Apache-2.0
// Triggers of the callbacks of a traced model.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model_builder.hpp"
#include "rclrt/model/tool_interfaces.hpp"

namespace rclrt::trace {

namespace {

// Limits of the model. A damaged trace may have any value.
constexpr std::size_t kDeepestQueue = 10'000;
constexpr std::size_t kMostSyncTopics = 9;
constexpr std::size_t kMostTopics = 100;
/// One message in so many may come from outside of callbacks, such as from a constructor.
constexpr std::uint64_t kExplained = 50;
constexpr std::uint64_t kAtStart = 5;

}  // namespace

/// Throws TraceError if callbacks received messages from publishers in the trace, but the trace has
/// no events of publications. In a model of such a trace each of these callbacks would be an event.
void ModelBuilder::require_publications() const {
  if (system_.gaps().publications > 0) {
    return;
  }
  std::uint64_t taken = 0;
  std::string example;
  for (std::uint32_t i = 0; i < lives_.callbacks.size(); ++i) {
    for (const TracedInput& input : callback_at(i).inputs) {
      if (runs_[i].count > 0 && input.topic != kNone && system_.has_publisher(input.topic) &&
          !model::is_tool_topic(system_.topic(input.topic))) {
        taken += runs_[i].count;
        example = system_.topic(input.topic);
      }
    }
  }
  if (taken > 0) {
    throw TraceError(
        "publications cannot be followed: the trace has publishers and " + std::to_string(taken) +
        " runs for their messages (as of " + example +
        "), and no event of a publication (ros2:rcl_publish, ros2:rmw_publish, "
        "ros2:rclcpp_intra_publish)\n"
        "  fix: enable ros2:*, as rclrt trace record does; releases before Jazzy have no event of "
        "messages within a process: trace those without intra-process communication");
  }
}

/// Makes the callback a timer if the trace has its period and the model accepts it.
bool ModelBuilder::set_timer(std::size_t index) {
  const TracedCallback& traced = callback_at(traced_of_[index]);
  if (traced.kind != TriggerKind::kTimer || traced.period_ns <= 0) {
    return false;
  }
  model::Callback& callback = application_.callbacks[index];
  callback.trigger =
      model::Timer{.period = model::Nanoseconds(std::min(traced.period_ns, kLongestTime))};
  if (traced.period_ns > kLongestTime) {
    model_.notes.push_back("timer '" + callback.id + "' has a period of " +
                           std::to_string(traced.period_ns / 1'000'000'000) +
                           " s: the model has an hour, the longest that it takes");
  }
  return true;
}

/// Returns, in words, the source of messages that no callback publishes.
std::string ModelBuilder::outside_of(const TracedInput& input) const {
  const auto work = std::ranges::find(system_.outside_work(), input.topic, &OutsideWork::topic);
  if (work != system_.outside_work().end()) {
    return "which a thread publishes outside of callbacks";
  }
  if (input.topic != kNone && system_.has_publisher(input.topic)) {
    return "of which the trace has a publisher and no publication: they cannot be followed (within "
           "a process, releases before Jazzy have no event of them)";
  }
  return "which no callback of the trace publishes";
}

/// Returns whether callbacks have published nearly all messages of an input. `runs` is the number
/// of runs of the callback that receives them. If a thread outside of callbacks has published many
/// of them, the callback runs more often than the callbacks that publish.
bool ModelBuilder::is_explained(const TracedInput& input, std::uint64_t runs) const {
  if (input.topic == kNone || !published_.contains(input.topic)) {
    return false;
  }
  std::uint64_t outside = 0;
  for (const OutsideWork& each : system_.outside_work()) {
    outside += each.topic == input.topic ? each.count : 0;
  }
  return outside <= std::max(kAtStart, runs / kExplained);
}

namespace {

void set_topics(model::Callback& callback, const TracedCallback& traced,
                const std::vector<std::string>& topics, std::size_t depth) {
  if (traced.sync_window_ns && topics.size() > 1) {
    const bool exact = *traced.sync_window_ns <= 0;
    callback.trigger = model::Sync{
        .topics = topics,
        .policy = exact ? model::SyncPolicy::kExact : model::SyncPolicy::kApproximate,
        .window = model::Nanoseconds(exact ? 0 : std::min(*traced.sync_window_ns, kLongestTime)),
        .depth = depth};
  } else {
    callback.trigger = model::Subscription{.topics = topics, .depth = depth};
  }
}

}  // namespace

void ModelBuilder::set_trigger(std::size_t index) {
  if (set_timer(index)) {
    return;
  }
  const std::uint32_t number = traced_of_[index];
  const TracedCallback& traced = callback_at(number);
  model::Callback& callback = application_.callbacks[index];
  std::vector<std::string> topics;
  std::size_t depth = 1;
  std::string outside;
  const TracedInput* first_outside = nullptr;
  std::size_t too_many = 0;
  bool partly = false;  // callbacks publish some of the messages of an input
  for (const TracedInput& input : traced.inputs) {
    if (is_explained(input, runs_[number].count)) {
      if (std::ranges::find(topics, topic(input.topic)) == topics.end()) {
        if (topics.size() < (traced.sync_window_ns ? kMostSyncTopics : kMostTopics)) {
          topics.push_back(topic(input.topic));
        } else {
          ++too_many;
        }
      }
      depth = std::clamp(input.depth, depth, kDeepestQueue);
    } else {
      const bool published = input.topic != kNone && published_.contains(input.topic);
      first_outside = first_outside == nullptr || (published && !partly) ? &input : first_outside;
      partly = partly || published;
      outside += (outside.empty() ? "" : ", ") +
                 (input.topic == kNone ? std::string("?") : system_.topic(input.topic));
    }
  }
  if (too_many > 0) {
    model_.notes.push_back("callback '" + callback.id + "' takes " + std::to_string(too_many) +
                           " topics more than the model allows: left out");
  }
  if (topics.empty() || partly) {  // the callbacks' rates would be too low for it
    callback.trigger = event_of(number);
    model_.stands_for_other[index] = true;
    model_.notes.push_back(
        "callback '" + callback.id + "' " +
        (traced.kind == TriggerKind::kTimer     ? "is a timer without a period, which is always due"
         : traced.kind == TriggerKind::kService ? "answers requests, which have no tracepoint"
         : traced.inputs.empty() ? "is started by what has no tracepoint"
                                 : "takes " + outside + ", " + outside_of(*first_outside)) +
        ": it is an event, with the intervals that were seen");
    return;
  }
  if (first_outside != nullptr) {
    model_.notes.push_back("callback '" + callback.id + "' also takes " + outside + ", " +
                           outside_of(*first_outside) + ": left out");
  }
  set_topics(callback, traced, topics, depth);
}

/// Returns the shortest and the longest interval between runs of a life of the callback. The first
/// is INT64_MAX if there is none.
std::pair<std::int64_t, std::int64_t> ModelBuilder::intervals_of(std::uint32_t traced) const {
  std::pair<std::int64_t, std::int64_t> result(INT64_MAX, 0);
  const auto see = [&](std::int64_t least, std::int64_t most) {
    result = {std::min(result.first, least), std::max(result.second, most)};
  };
  if (system_.streams()) {
    const auto is_life = [&](std::uint32_t callback) {
      return lives_.callback_of[callback] == traced;
    };
    const auto& all = system_.first_runs();
    const bool are_sent = std::ranges::all_of(all, [&](std::uint32_t callback) {
      return !is_life(callback) || system_.totals()[callback].are_sent;
    });
    for (const std::uint32_t callback : all) {
      const RunTotals& totals = system_.totals()[callback];
      const Intervals& intervals = are_sent ? totals.sent : totals.starts;
      if (is_life(callback)) {
        see(intervals.least_ns(), intervals.most_ns());
      }
    }
    return result;
  }
  const auto& times = runs_[traced].times;
  // Queued messages run back to back, so intervals are taken between the times of sending.
  std::set<std::int64_t> sent;
  for (const Run& run : times) {
    sent.insert(run.sent_ns);
  }
  const bool are_sent = sent.size() == times.size() && !sent.contains(0);
  std::vector<std::pair<std::uint32_t, std::int64_t>> moments;  // by life
  for (const Run& run : times) {
    moments.emplace_back(run.life, are_sent ? run.sent_ns : run.start_ns);
  }
  std::ranges::sort(moments);
  for (std::size_t i = 1; i < moments.size(); ++i) {
    if (moments[i].first == moments[i - 1].first) {
      const std::int64_t interval = moments[i].second - moments[i - 1].second;
      see(interval, interval);
    }
  }
  return result;
}

model::Event ModelBuilder::event_of(std::uint32_t traced) const {
  const auto [least, most] = intervals_of(traced);
  std::int64_t first_ns = INT64_MAX;
  for (const std::uint32_t callback : system_.first_runs()) {
    if (lives_.callback_of[callback] == traced) {
      first_ns = std::min(first_ns, system_.totals()[callback].span().first_ns);
    }
  }
  if (!system_.streams()) {
    first_ns = runs_[traced].times.front().start_ns;
  }
  const std::int64_t seen = system_.last_ns() - first_ns;
  const auto in_range = [](std::int64_t time) {
    return model::Nanoseconds(std::clamp(time, kShortestTime, kLongestTime));
  };
  return {.min_interval = in_range(least != INT64_MAX ? least : seen),
          .max_interval = in_range(least != INT64_MAX ? most : seen),
          .offset = {},
          .depth = 10,
          .seed = 0};
}

}  // namespace rclrt::trace
