// SPDX-License-Identifier: Apache-2.0
#include "read_trigger.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "limits.hpp"
#include "names.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {
namespace {

Nanoseconds read_window(const Fields& fields, SyncPolicy policy, Context& context) {
  const YamlNode* node = fields.find("window_ms");
  if (policy == SyncPolicy::kExact) {
    if (node != nullptr) {
      context.diagnostics.report(node->at, "window_ms has no meaning with 'policy: exact'",
                                 "no window_ms, or 'policy: approximate'");
    }
    return Nanoseconds::zero();
  }
  if (node == nullptr) {
    return kDefaultWindow;
  }
  return read_milliseconds(*node, "window_ms", Zero::kRefused, context).value_or(kDefaultWindow);
}

std::string count_of(std::size_t topics) {
  const std::string number = topics == 0 ? "no" : std::to_string(topics);
  return number + (topics > 1 ? " topics" : " topic");
}

/// Reads the topics of a sync or subscription, and returns their positions.
std::vector<Position> read_topics(const YamlNode& node, const std::string& what,
                                  const IntegerRange& counts, std::vector<std::string>& result,
                                  TopicReader& topics) {
  Context& context = topics.context();
  const auto& items = read_list(node, "topics", context);
  const auto count = static_cast<std::int64_t>(items.size());
  if (count < counts.min || count > counts.max) {
    topics.lose();
    if (node.kind == YamlKind::kSequence) {
      context.diagnostics.report(
          node.at, "the " + what + " has " + count_of(items.size()),
          "a list of " + std::to_string(counts.min) + " to " + std::to_string(counts.max));
    }
    return {};
  }
  std::vector<Position> positions;
  std::map<std::string, Position> seen;  // not a hash table: an attacker chooses its keys
  for (const YamlNode& item : items) {
    const std::string topic = topics.read(item);
    const auto [first, inserted] = seen.try_emplace(topic, item.at);
    if (!topic.empty() && !inserted) {
      context.diagnostics.report(
          item.at, "the " + what + " has the topic " + in_quotes(topic) + " twice",
          "each topic once (the first is on " + line_of(first->second) + ")");
      topics.lose();
    }
    result.push_back(topic);
    positions.push_back(item.at);
  }
  return positions;
}

/// Reads min_interval_ms of an event.
Nanoseconds read_min_interval(const YamlNode& node, Context& context) {
  const Nanoseconds interval = read_milliseconds(node, "min_interval_ms", Zero::kRefused, context)
                                   .value_or(Nanoseconds::zero());
  if (interval > Nanoseconds::zero() && interval < kLeastInterval) {
    context.diagnostics.report(node.at, "min_interval_ms is below a microsecond",
                               "at least 0.001: no thread releases events any faster");
  }
  return interval;
}

/// Reads an event of which only the intervals are known.
void read_intervals(const Fields& fields, Event& event, Context& context) {
  const YamlNode* const jitter = fields.find("jitter_ms");
  if (jitter != nullptr) {
    context.diagnostics.report(jitter->at, "the event has jitter_ms without period_ms",
                               "period_ms: each release is up to jitter_ms later than its time");
  }
  // With jitter_ms the missing key is period_ms, which is reported already.
  if (const YamlNode* value =
          jitter != nullptr
              ? fields.find("min_interval_ms")
              : fields.require("min_interval_ms", "min_interval_ms: 20' or 'period_ms: 20")) {
    event.min_interval = read_min_interval(*value, context);
  }
  event.max_interval = event.min_interval;
  if (const YamlNode* value = fields.find("max_interval_ms")) {
    event.max_interval = read_milliseconds(*value, "max_interval_ms", Zero::kRefused, context)
                             .value_or(event.min_interval);
    if (event.max_interval < event.min_interval) {
      context.diagnostics.report(value->at, "max_interval_ms is below min_interval_ms",
                                 "at least min_interval_ms");
    }
  }
}

/// Reads an event with a period. Sets the intervals to what period, jitter and min_interval_ms
/// imply together.
void read_period_and_jitter(const Fields& fields, Event& event, Context& context) {
  const YamlNode& period = *fields.find("period_ms");
  event.period =
      read_milliseconds(period, "period_ms", Zero::kRefused, context).value_or(Nanoseconds::zero());
  if (event.period > Nanoseconds::zero() && event.period < kLeastInterval) {
    context.diagnostics.report(period.at, "period_ms is below a microsecond",
                               "at least 0.001: no thread releases events any faster");
  }
  const YamlNode* const jitter = fields.find("jitter_ms");
  if (jitter != nullptr) {
    event.jitter = read_milliseconds(*jitter, "jitter_ms", Zero::kAllowed, context)
                       .value_or(Nanoseconds::zero());
  }
  if (const YamlNode* value = fields.find("max_interval_ms")) {
    context.diagnostics.report(value->at, "the event has both period_ms and max_interval_ms",
                               "period_ms with jitter_ms, or min_interval_ms with max_interval_ms");
  }
  event.max_interval = event.period + event.jitter;
  event.min_interval = event.period - event.jitter;
  if (const YamlNode* value = fields.find("min_interval_ms")) {
    const Nanoseconds stated = read_min_interval(*value, context);
    if (stated > event.period && event.period > Nanoseconds::zero()) {
      context.diagnostics.report(value->at, "min_interval_ms is above period_ms",
                                 "at most period_ms");
    }
    event.min_interval = std::max(event.min_interval, stated);
  } else if (event.min_interval < kLeastInterval && event.period >= kLeastInterval) {
    context.diagnostics.report(jitter->at,
                               "with this jitter_ms, releases may be less than a microsecond apart",
                               "a jitter_ms below period_ms, or min_interval_ms for a burst");
  }
}

}  // namespace

std::size_t read_depth(const Fields& fields, Context& context) {
  const YamlNode* node = fields.find("depth");
  if (node == nullptr) {
    return kDefaultDepth;
  }
  const auto depth = read_integer(*node, "depth", kDepths, context);
  return depth ? static_cast<std::size_t>(*depth) : kDefaultDepth;
}

std::string TopicReader::read(const YamlNode& node, std::string_view what) {
  const auto topic = read_topic(node, what, context_);
  if (!topic) {
    lost_ = true;
    return {};
  }
  const std::size_t length = resolve_topic(*topic, name_space_).size();
  if (length > kMaxTopic) {
    context_.diagnostics.report(node.at,
                                std::string(what) + " " + in_quotes(*topic) + " has " +
                                    std::to_string(length) +
                                    " characters together with its namespace",
                                "at most " + std::to_string(kMaxTopic));
  }
  return *topic;
}

TriggerDraft read_timer(const YamlNode& node, Context& context) {
  Timer timer;
  const Fields fields(node, "timer", {"period_ms", "offset_ms", "overrun"}, context);
  if (const YamlNode* value = fields.require("period_ms", "period_ms: 50")) {
    timer.period = read_milliseconds(*value, "period_ms", Zero::kRefused, context)
                       .value_or(Nanoseconds::zero());
  }
  if (const YamlNode* value = fields.find("offset_ms")) {
    timer.offset = read_milliseconds(*value, "offset_ms", Zero::kAllowed, context)
                       .value_or(Nanoseconds::zero());
    timer.offset_stated = true;
  }
  if (const YamlNode* value = fields.find("overrun")) {
    timer.overrun = read_choice<OverrunPolicy>(*value, "overrun",
                                               {{"catch_up", OverrunPolicy::kCatchUp},
                                                {"skip", OverrunPolicy::kSkip},
                                                {"rebase", OverrunPolicy::kRebase}},
                                               context)
                        .value_or(OverrunPolicy::kCatchUp);
  }
  return {timer, {}, {}};
}

TriggerDraft read_subscription(const YamlNode& node, TopicReader& topics) {
  Context& context = topics.context();
  Subscription subscription;
  std::vector<Position> inputs;
  const Fields fields(node, "subscription",
                      {"topic", "topics", "depth", "reliability", "intra_process"}, context);
  const YamlNode* const several = fields.find("topics");
  if (several != nullptr && fields.find("topic") != nullptr) {
    context.diagnostics.report(several->at, "the subscription has both 'topic' and 'topics'",
                               "one of them");
    topics.lose();
  } else if (several != nullptr) {
    inputs =
        read_topics(*several, "subscription", kSubscriptionTopics, subscription.topics, topics);
  } else if (const YamlNode* value = fields.require("topic", "topic: points")) {
    subscription.topics = {topics.read(*value)};
    inputs.push_back(value->at);
  } else {
    topics.lose();
  }
  subscription.depth = read_depth(fields, context);
  if (const YamlNode* value = fields.find("reliability")) {
    subscription.reliability = read_choice<Reliability>(*value, "reliability",
                                                        {{"reliable", Reliability::kReliable},
                                                         {"best_effort", Reliability::kBestEffort}},
                                                        context)
                                   .value_or(Reliability::kReliable);
  }
  if (const YamlNode* value = fields.find("intra_process")) {
    subscription.intra_process =
        read_choice<bool>(*value, "intra_process", {{"true", true}, {"false", false}}, context)
            .value_or(false);
  }
  return {std::move(subscription), std::move(inputs), {}};
}

TriggerDraft read_sync(const YamlNode& node, TopicReader& topics) {
  Context& context = topics.context();
  Sync sync;
  std::vector<Position> inputs;
  const Fields fields(node, "sync", {"topics", "policy", "window_ms", "depth"}, context);
  if (const YamlNode* value = fields.require("topics", "topics: [points, objects]")) {
    inputs = read_topics(*value, "sync", kSyncTopics, sync.topics, topics);
  } else {
    topics.lose();
  }
  if (const YamlNode* value = fields.find("policy")) {
    sync.policy =
        read_choice<SyncPolicy>(
            *value, "policy",
            {{"approximate", SyncPolicy::kApproximate}, {"exact", SyncPolicy::kExact}}, context)
            .value_or(SyncPolicy::kApproximate);
  }
  sync.window = read_window(fields, sync.policy, context);
  sync.depth = read_depth(fields, context);
  return {std::move(sync), std::move(inputs), {}};
}

TriggerDraft read_event(const YamlNode& node, Context& context) {
  Event event;
  const Fields fields(node, "event",
                      {"min_interval_ms", "max_interval_ms", "period_ms", "jitter_ms", "offset_ms",
                       "depth", "seed"},
                      context);
  if (fields.find("period_ms") != nullptr) {
    read_period_and_jitter(fields, event, context);
  } else {
    read_intervals(fields, event, context);
  }
  if (const YamlNode* value = fields.find("offset_ms")) {
    event.offset = read_milliseconds(*value, "offset_ms", Zero::kAllowed, context);
  }
  event.depth = read_depth(fields, context);
  if (const YamlNode* value = fields.find("seed")) {
    event.seed = static_cast<std::uint64_t>(
        read_integer(*value, "seed", kEventSeeds, context).value_or(kEventSeeds.min));
  }
  return {event, {}, {}};
}

}  // namespace rclrt::model::detail
