// SPDX-License-Identifier: Apache-2.0
#include "callback_reader.hpp"

#include <map>

#include "limits.hpp"
#include "names.hpp"

namespace rclrt::model::detail {
namespace {

/// Fills one callback. A part that cannot be read keeps its default and clears `graph_known` when
/// topics depend on it.
class CallbackReader {
 public:
  CallbackReader(const Fields& fields, Callback& callback, CallbackSource& source, Context& context)
      : fields_(fields), callback_(callback), source_(source), context_(context) {}

  void read(const YamlNode& node, const NameIndex& nodes, const Application& application) {
    if (const YamlNode* value = fields_.require("node")) {
      callback_.node = kUnknown;
      if (const auto name = read_name(*value, "node", context_)) {
        callback_.node = nodes.resolve(*name, value->at, context_);
      }
    }
    name_space_ = callback_.node < application.nodes.size()
                      ? std::string_view(application.nodes[callback_.node].name_space)
                      : "/";
    read_trigger(node);
    if (const YamlNode* value = fields_.find("publishes")) read_publishes(*value);
    if (const YamlNode* value = fields_.require("wcet_ms")) {
      set(callback_.wcet, read_milliseconds(*value, "wcet_ms", Zero::kAllowed, context_));
    }
    if (const YamlNode* value = fields_.find("group")) {
      callback_.group = read_name(*value, "group", context_);
    }
    if (const YamlNode* value = fields_.find("priority")) {
      if (const auto priority = read_integer(*value, "priority", kPriorities, context_)) {
        callback_.priority = static_cast<int>(*priority);
      }
    }
  }

  bool graph_known() const { return graph_known_; }

 private:
  template <typename T>
  static void set(T& target, const std::optional<T>& value) {
    if (value) target = *value;
  }

  void read_trigger(const YamlNode& node) {
    const YamlNode* timer = fields_.find("timer");
    const YamlNode* subscription = fields_.find("subscription");
    const YamlNode* sync = fields_.find("sync");
    const int count = (timer != nullptr) + (subscription != nullptr) + (sync != nullptr);
    if (count != 1) {
      context_.diagnostics.report(
          node.at,
          "callback " + in_quotes(callback_.id) +
              (count == 0 ? " has no trigger" : " has more than one trigger"),
          "exactly one of 'timer', 'subscription' and 'sync'");
      graph_known_ = false;
    }
    if (sync != nullptr) read_sync(*sync);
    if (subscription != nullptr) read_subscription(*subscription);
    if (timer != nullptr) read_timer(*timer);
  }

  void read_timer(const YamlNode& node) {
    Timer timer;
    const Fields fields(node, "timer", {"period_ms", "offset_ms", "overrun"}, context_);
    if (const YamlNode* value = fields.require("period_ms")) {
      set(timer.period, read_milliseconds(*value, "period_ms", Zero::kRefused, context_));
    }
    if (const YamlNode* value = fields.find("offset_ms")) {
      set(timer.offset, read_milliseconds(*value, "offset_ms", Zero::kAllowed, context_));
    }
    if (const YamlNode* value = fields.find("overrun")) {
      set(timer.overrun, read_choice<OverrunPolicy>(*value, "overrun",
                                                    {{"catch_up", OverrunPolicy::kCatchUp},
                                                     {"skip", OverrunPolicy::kSkip},
                                                     {"rebase", OverrunPolicy::kRebase}},
                                                    context_));
    }
    callback_.trigger = timer;
  }

  void read_subscription(const YamlNode& node) {
    Subscription subscription;
    const Fields fields(node, "subscription", {"topic", "depth", "reliability"}, context_);
    if (const YamlNode* value = fields.require("topic")) {
      set(subscription.topic, read_input(*value, "topic"));
    }
    subscription.depth = read_depth(fields);
    if (const YamlNode* value = fields.find("reliability")) {
      set(subscription.reliability,
          read_choice<Reliability>(*value, "reliability",
                                   {{"reliable", Reliability::kReliable},
                                    {"best_effort", Reliability::kBestEffort}},
                                   context_));
    }
    if (subscription.topic.empty()) graph_known_ = false;
    callback_.trigger = std::move(subscription);
  }

  void read_sync(const YamlNode& node) {
    Sync sync;
    const Fields fields(node, "sync", {"topics", "policy", "window_ms", "depth"}, context_);
    if (const YamlNode* value = fields.require("topics")) read_sync_topics(*value, sync);
    sync.depth = read_depth(fields);
    if (const YamlNode* value = fields.find("policy")) {
      set(sync.policy, read_choice<SyncPolicy>(*value, "policy",
                                               {{"approximate", SyncPolicy::kApproximate},
                                                {"exact", SyncPolicy::kExact}},
                                               context_));
    }
    const bool approximate = sync.policy == SyncPolicy::kApproximate;
    if (approximate) sync.window = kDefaultWindow;
    if (const YamlNode* value = fields.find("window_ms")) {
      if (!approximate) {
        context_.diagnostics.report(value->at, "window_ms is given with the policy 'exact'",
                                    "no window_ms, or the policy 'approximate'");
      }
      set(sync.window, read_milliseconds(*value, "window_ms", Zero::kRefused, context_));
    }
    if (sync.topics[0].empty() || sync.topics[1].empty()) graph_known_ = false;
    callback_.trigger = std::move(sync);
  }

  void read_sync_topics(const YamlNode& node, Sync& sync) {
    const auto& items = read_list(node, "topics", context_);
    if (node.kind == YamlKind::kSequence && items.size() != sync.topics.size()) {
      context_.diagnostics.report(
          node.at,
          "the sync has " + std::to_string(items.size()) + (items.size() == 1 ? " topic" : " topics"),
          "exactly two topics");
      graph_known_ = false;
      return;
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      set(sync.topics[i], read_input(items[i], "topic"));
    }
    if (items.size() == 2 && !sync.topics[0].empty() && sync.topics[0] == sync.topics[1]) {
      context_.diagnostics.report(items[1].at,
                                  "the sync has the topic " + in_quotes(sync.topics[1]) + " twice",
                                  "two different topics");
    }
  }

  void read_publishes(const YamlNode& node) {
    if (node.kind != YamlKind::kSequence) graph_known_ = false;
    std::map<std::string, Position> seen;
    for (const YamlNode& item : read_list(node, "publishes", context_)) {
      const auto topic = read_any_topic(item, "topic");
      if (!topic) continue;
      const auto [first, inserted] = seen.try_emplace(*topic, item.at);
      if (!inserted) {
        context_.diagnostics.report(
            item.at, "topic " + in_quotes(*topic) + " is published twice by the same callback",
            "each topic once (the first is on " + line_of(first->second) + ")");
        continue;
      }
      callback_.publishes.push_back(*topic);
      source_.publishes.push_back(item.at);
    }
  }

  std::optional<std::string> read_input(const YamlNode& node, std::string_view what) {
    auto topic = read_any_topic(node, what);
    if (topic) source_.inputs.push_back(node.at);
    return topic;
  }

  std::optional<std::string> read_any_topic(const YamlNode& node, std::string_view what) {
    auto topic = read_topic(node, what, context_);
    if (!topic || topic->empty()) {
      graph_known_ = false;
      return std::nullopt;
    }
    const std::size_t length = resolve_topic(*topic, name_space_).size();
    if (length > kMaxTopic) {
      context_.diagnostics.report(
          node.at,
          "topic " + in_quotes(*topic) + " has " + std::to_string(length) +
              " characters with its namespace",
          "at most " + std::to_string(kMaxTopic));
    }
    return topic;
  }

  std::size_t read_depth(const Fields& fields) {
    const YamlNode* value = fields.find("depth");
    if (value == nullptr) return kDefaultDepth;
    const auto depth = read_integer(*value, "depth", kDepths, context_);
    return depth ? static_cast<std::size_t>(*depth) : kDefaultDepth;
  }

  const Fields& fields_;
  Callback& callback_;
  CallbackSource& source_;
  Context& context_;
  std::string_view name_space_;
  bool graph_known_ = true;
};

}  // namespace

void read_callback(const YamlNode& node, const NameIndex& nodes, NameIndex& callbacks, Draft& draft,
                   Context& context) {
  const Fields fields(node, "callback",
                      {"id", "node", "timer", "subscription", "sync", "wcet_ms", "publishes",
                       "group", "priority"},
                      context);
  Callback callback;
  CallbackSource source{node.at, {}, {}};
  const YamlNode* id_node = fields.require("id");
  const auto id = id_node != nullptr ? read_name(*id_node, "id", context) : std::nullopt;
  if (id) {
    callback.id = *id;
    source.id = id_node->at;
    callbacks.add(*id, id_node->at, context);
  } else {
    callbacks.add_unreadable();
  }
  if (node.kind == YamlKind::kMapping) {
    CallbackReader reader(fields, callback, source, context);
    reader.read(node, nodes, draft.application);
    draft.graph_known = draft.graph_known && reader.graph_known();
  }
  draft.graph_known = draft.graph_known && fields.sound();
  draft.application.callbacks.push_back(std::move(callback));
  draft.callbacks.push_back(std::move(source));
}

}  // namespace rclrt::model::detail
