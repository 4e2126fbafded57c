// SPDX-License-Identifier: Apache-2.0
#include "found_model.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "rclrt/model/tool_interfaces.hpp"

namespace rclrt::recorder {

namespace {

constexpr std::size_t kLongestName = 200;
constexpr std::size_t kMostText = 4'000;
constexpr std::size_t kNone = SIZE_MAX;
// The limits of an app.yaml.
constexpr std::int64_t kShortest_ns = 1'000;
constexpr std::int64_t kLongest_ns = 3'600'000'000'000;
constexpr int kHighestPriority = 1'000'000;
constexpr std::size_t kDeepest = 10'000;
constexpr std::size_t kDepth = 10;
/// An interval is the mean of this number in a row: the releases of a burst have waited in a queue.
constexpr std::size_t kInARow = 9;

constexpr bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_token(std::string_view text) {
  return !text.empty() && !is_digit(text.front()) && text.find("__") == std::string_view::npos &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

/// Returns only letters, digits and single '_', not beginning with a digit.
std::string as_token(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (is_letter(c) || is_digit(c)) {
      name += c;
    } else if (!name.empty() && !name.ends_with('_')) {
      name += '_';
    }
  }
  name.resize(std::min(name.size(), kLongestName));
  while (name.ends_with('_')) {
    name.pop_back();
  }
  return name.empty() || is_digit(name.front()) ? "n" + name : name;
}

/// Returns a valid token, made from the text if it is none; no other entity has it.
std::string unique_token(const std::string& text, std::set<std::string>& taken) {
  const std::string name = is_token(text) ? text : as_token(text);
  std::string result = name;
  for (int number = 2; !taken.insert(result).second; ++number) {
    result = (name.ends_with('_') ? name : name + "_") + std::to_string(number);
  }
  return result;
}

bool is_namespace(std::string_view text) {
  if (text == "/") {
    return true;
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t slash = std::min(text.find('/', at + 1), text.size());
    if (text[at] != '/' || !is_token(text.substr(at + 1, slash - at - 1))) {
      return false;
    }
    at = slash;
  }
  return !text.empty();
}

class FoundModel {
 public:
  FoundModel(model::Application& application, const RunResults& results)
      : application_(application), results_(results), releases_(application.callbacks.size()) {
    for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
      was_.push_back(i);
      found_.push_back(!is_token(application.callbacks[i].id));
    }
    for (const InstanceRecord& record : results.records) {
      releases_[record.callback].push_back(record.release_ns);
    }
    for (auto& each : releases_) {
      std::ranges::sort(each);
    }
  }

  void make() {
    if (std::ranges::find(found_, true) == found_.end()) {
      return;
    }
    leave_out();
    set_triggers();
    while (const auto cut = find_cycle(application_)) {
      note(application_.callbacks[*cut].id + " is on a cycle of messages, and so an event");
      application_.callbacks[*cut].trigger = event_of(*cut);
    }
    set_priorities();
    set_names();
    add_chains();
    std::string& text = application_.description;
    text += text.empty() || notes_.empty() ? notes_ : "; " + notes_;
    std::size_t length = std::min(text.size(), kMostText);
    while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) {
      --length;  // a character of several bytes stays whole
    }
    text.resize(length);
  }

 private:
  void note(const std::string& text) { notes_ += (notes_.empty() ? "" : "; ") + text; }
  bool is_found(std::size_t index) const { return found_[was_[index]]; }
  bool is_of_tools(std::size_t index) const {
    const auto other = results_.other_kinds.find(was_[index]);
    const bool is_topic = other == results_.other_kinds.end();
    const std::vector<std::string> names = inputs(application_.callbacks[index]);
    return !names.empty() && (is_topic || other->second == "service") &&
           std::ranges::all_of(names, is_topic ? model::is_tool_topic : model::is_tool_service);
  }
  bool is_other(std::size_t index) const { return results_.other_kinds.contains(was_[index]); }

  /// Leaves out callbacks that never ran, and those of tools.
  void leave_out() {
    std::vector<std::size_t> now(was_.size(), kNone);
    std::vector<std::size_t> kept;
    std::vector<model::Callback> callbacks;
    std::size_t idle = 0;
    std::size_t for_tools = 0;
    for (std::size_t i = 0; i < was_.size(); ++i) {
      const model::Callback& callback = application_.callbacks[i];
      const bool of_tools = is_of_tools(i);
      const bool is_idle = !callback.observed;
      idle += is_found(i) && is_idle && !of_tools ? 1 : 0;
      for_tools += is_found(i) && of_tools ? 1 : 0;
      if (!is_found(i) || (!is_idle && !of_tools)) {
        now[i] = kept.size();
        kept.push_back(i);
        callbacks.push_back(callback);
      }
    }
    if (idle > 0) {
      note(std::to_string(idle) + (idle == 1 ? " callback" : " callbacks") +
           " never ran to an end: left out");
    }
    if (for_tools > 0) {
      note(std::to_string(for_tools) + (for_tools == 1 ? " callback is" : " callbacks are") +
           " for tools (parameters, /rosout): left out");
    }
    application_.callbacks = std::move(callbacks);
    std::erase_if(application_.chains, [&](model::Chain& chain) {
      for (std::size_t& each : chain.callbacks) {
        each = now[each];
      }
      return std::ranges::find(chain.callbacks, kNone) != chain.callbacks.end();
    });
    was_ = std::move(kept);
  }

  /// Sets the triggers of the callbacks that were found. A callback that is not a timer and takes
  /// no messages of the application is replaced by an event.
  void set_triggers() {
    std::set<std::string> published;
    for (const model::Callback& each : application_.callbacks) {
      published.insert(each.publishes.begin(), each.publishes.end());
    }
    std::string events;
    for (std::size_t i = 0; i < application_.callbacks.size(); ++i) {
      model::Callback& callback = application_.callbacks[i];
      if (!is_found(i)) {
        continue;
      }
      if (auto* const timer = std::get_if<model::Timer>(&callback.trigger)) {
        timer->overrun = model::OverrunPolicy::kCatchUp;  // the observed end is no policy
        if (timer->period.count() > 0 && timer->period.count() <= kLongest_ns) {
          continue;
        }
      } else if (auto* const taken = std::get_if<model::Subscription>(&callback.trigger)) {
        taken->depth = std::clamp<std::size_t>(taken->depth, 1, kDeepest);
        if (!is_other(i) && std::ranges::all_of(taken->topics, [&](const std::string& each) {
              return published.contains(each);
            })) {
          continue;
        }
      }
      callback.trigger = event_of(i);
      events += (events.empty() ? "" : ", ") + callback.id;
    }
    if (!events.empty()) {
      note("nothing that was recorded releases " + events +
           ": events, with the intervals that were seen");
    }
  }

  model::Event event_of(std::size_t index) const {
    const std::vector<std::int64_t>& times = releases_[was_[index]];
    const std::int64_t seen =
        std::max(results_.window.end_ns - results_.window.start_ns, kShortest_ns);
    std::int64_t least = seen / static_cast<std::int64_t>(std::max<std::size_t>(times.size(), 1));
    std::int64_t most = seen;
    // Few releases: the mean of all intervals. More, as below: the mean of some in a row.
    if (times.size() > 1) {
      least = std::min(
          least, (times.back() - times.front()) / static_cast<std::int64_t>(times.size() - 1));
    }
    if (times.size() > kInARow) {
      least = INT64_MAX;
      most = 0;
      for (std::size_t i = 1; i < times.size(); ++i) {
        most = std::max(most, times[i] - times[i - 1]);
        if (i >= kInARow) {
          least =
              std::min(least, (times[i] - times[i - kInARow]) / static_cast<std::int64_t>(kInARow));
        }
      }
    }
    least = std::clamp(least, kShortest_ns, kLongest_ns);
    return {.min_interval = model::Nanoseconds(least),
            .max_interval = model::Nanoseconds(std::clamp(most, least, kLongest_ns)),
            .depth = kDepth};
  }

  /// Sets ranks as priorities, if the numbers are not valid in an app.yaml.
  void set_priorities() {
    std::map<int, int> ranks;
    for (const model::Callback& each : application_.callbacks) {
      ranks.emplace(each.priority.value_or(0), 0);
    }
    if (ranks.begin()->first >= 0 && ranks.rbegin()->first <= kHighestPriority) {
      return;
    }
    int rank = 0;
    for (auto& [priority, own] : ranks) {
      own = rank++;
    }
    for (model::Callback& each : application_.callbacks) {
      each.priority = ranks.at(each.priority.value_or(0));
    }
    note("priorities are ranks: some are below 0, or above " + std::to_string(kHighestPriority));
  }

  void set_names() {
    std::set<std::string> nodes;
    for (model::Node& node : application_.nodes) {
      const std::string full = (node.name_space == "/" ? "" : node.name_space) + "/" + node.name;
      std::string name = unique_token(node.name, nodes);
      if (name != node.name) {
        note("node " + full + " is called " + name);
      }
      node.name = std::move(name);
      if (!is_namespace(node.name_space)) {
        note("node " + full + " is in namespace /");
        node.name_space = "/";
      }
    }
    std::set<std::string> executors;
    for (model::Executor& each : application_.executors) {
      each.name = unique_token(each.name, executors);
    }
    std::set<std::string> ids;
    for (std::size_t i = 0; i < application_.callbacks.size(); ++i) {
      if (!is_found(i)) {
        ids.insert(application_.callbacks[i].id);
      }
    }
    for (std::size_t i = 0; i < application_.callbacks.size(); ++i) {
      model::Callback& callback = application_.callbacks[i];
      if (is_found(i)) {
        callback.id = unique_token(callback.id, ids);
      }
      if (callback.deadline) {
        callback.deadline = std::clamp(*callback.deadline, model::Nanoseconds(kShortest_ns),
                                       model::Nanoseconds(kLongest_ns));
      }
    }
    std::set<std::string> applications;
    application_.name = unique_token(application_.name, applications);
  }

  void add_chains() {
    if (!results_.proposes_chains) {
      return;
    }
    MaxAges ages;
    for (std::size_t i = 0; i < was_.size(); ++i) {
      if (const auto age = results_.max_ages.find(was_[i]); age != results_.max_ages.end()) {
        ages[i] = std::min(age->second, model::Nanoseconds(kLongest_ns));
      }
    }
    application_.chains.clear();
    if (add_proposed_chains(application_, ages)) {
      note("more ways than are listed lead from timers and events to sinks");
    }
  }

  model::Application& application_;
  const RunResults& results_;
  std::vector<std::size_t> was_;  // index of each callback in the results; the next two use it too
  std::vector<bool> found_;       // it is in no file
  std::vector<std::vector<std::int64_t>> releases_;
  std::string notes_;
};

}  // namespace

void make_valid(model::Application& application, const RunResults& results) {
  FoundModel(application, results).make();
}

}  // namespace rclrt::recorder
