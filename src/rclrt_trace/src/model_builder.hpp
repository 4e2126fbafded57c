// SPDX-License-Identifier: Apache-2.0
// The steps from a traced system to its model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lives.hpp"
#include "traced_model.hpp"

namespace rclrt::trace {

/// The longest time that the model takes, in nanoseconds: an hour.
inline constexpr std::int64_t kLongestTime = 3'600'000'000'000;

/// The longest topic and namespace that the model takes, which are rmw's.
inline constexpr std::size_t kLongestTopic = 247;
inline constexpr std::size_t kLongestNamespace = 245;

/// Returns whether the model takes the name as it is.
bool is_token(std::string_view text);
/// Returns whether the model takes the topic or, with `at_most` characters, the namespace as it is.
bool is_topic(std::string_view text, std::size_t at_most);
/// Returns a name that the model takes: letters, digits and single underscores.
std::string as_token(std::string_view text);
/// Returns a topic or namespace of such names.
std::string as_topic(std::string_view text);

/// Names that the model takes, each once.
class Names {
 public:
  /// Keeps a name for what has it: unique() does not return it for another text.
  void reserve(std::string_view text);
  /// Returns the text if the model takes it and it was not returned before; else a name like it.
  std::string unique(std::string_view text);

 private:
  std::set<std::string, std::less<>> taken_;
  std::set<std::string, std::less<>> reserved_;
};

/// Topics or namespaces as the model takes them: those that it takes as they are, and for each
/// other one a name of its own.
class TopicNames {
 public:
  /// The longest name that the model takes as it is.
  explicit TopicNames(std::size_t at_most) : at_most_(at_most) {}
  /// Keeps the name if the model takes it as it is. Called for all before the first name().
  void reserve(std::string_view text);
  /// Returns the name of `text`: the same one each time.
  const std::string& name(std::string_view text);
  /// Returns whether the model has another name.
  bool is_changed(std::string_view text) { return name(text) != text; }

 private:
  std::size_t at_most_;
  std::map<std::string, std::string, std::less<>> names_;
  std::set<std::string, std::less<>> taken_;
};

/// Builds one model; its functions are called in the order in which they stand here.
class ModelBuilder {
 public:
  ModelBuilder(const TracedSystem& system, const std::string& name);

  /// Chooses the callbacks that ran, and gives them names.
  void choose_callbacks();
  /// Makes executors and nodes.
  void place();
  /// Says what starts each callback and what it publishes.
  void connect();
  /// Turns subscriptions into events until the graph has no cycle.
  void break_cycles();
  /// Observed execution times, groups and priorities.
  void add_timing();
  /// Proposes chains.
  void add_chains();
  /// Says what reading could not follow.
  void note_gaps();

  TracedModel finish();

 private:
  struct Run {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t life = 0;    // the traced callback
    std::int64_t sent_ns = 0;  // the time of day of its message; 0: not known
  };
  struct Runs {                           // of one callback, in all its lives
    std::vector<Run> times;               // ascending
    std::vector<std::int64_t> durations;  // ascending; see has_cpu_times
    std::set<std::uint32_t> threads;
    bool has_cpu_times = false;  // durations are CPU times, of the runs of which they are known
    std::int64_t longest_wait_ns = 0;  // in one of these
  };

  void collect_runs();
  void name_topics();
  void require_publications() const;
  bool is_of_tools(std::uint32_t traced) const;
  std::string outside_of(const TracedInput& input) const;
  bool is_explained(const TracedInput& input, std::uint64_t runs) const;
  const TracedCallback& callback_at(std::uint32_t number) const { return lives_.callbacks[number]; }
  std::string callback_name(std::uint32_t traced, std::map<std::uint32_t, int>& timers);
  /// The topic's name as the model takes it.
  const std::string& topic(std::uint32_t index) const { return topics_[index]; }
  std::vector<std::uint32_t> executors_by_thread();
  std::uint32_t executor_key(std::uint32_t number, const std::vector<std::uint32_t>& by_thread);
  void assign_slots();
  std::string name_node(const TracedNode& node);
  std::size_t node_in_model(std::uint32_t traced_node, std::size_t executor, std::int64_t process);
  model::Event event_of(std::uint32_t traced) const;
  void set_trigger(std::size_t index);
  bool set_timer(std::size_t index);
  void note_silent_nodes();
  void note_republishing();
  void note_outside_work();
  void note_other_threads();
  void note_tool_services();
  std::map<int, int> priorities_in_model() const;
  void note_times();
  void add_groups();
  bool overlap(std::uint32_t one, std::uint32_t other) const;
  void add_chains_from(std::size_t source, std::vector<std::size_t>& way);
  void add_chain(const std::vector<std::size_t>& way);

  const TracedSystem& system_;
  const Lives lives_;
  TracedModel model_;
  model::Application& application_;
  std::vector<Runs> runs_;
  std::vector<std::uint32_t> traced_of_;          // per callback of the application
  std::vector<std::string> topics_;               // per topic: its name in the model
  std::set<std::uint32_t> published_;             // topics
  std::map<std::uint32_t, std::size_t> nodes_;    // traced node: node of the application
  std::map<std::int64_t, std::size_t> nameless_;  // process: node for callbacks without one
  TopicNames name_spaces_;
  std::vector<std::uint32_t> executor_of_;  // per traced callback
  Names callback_names_;
  Names node_names_;
  Names chain_names_;
  std::size_t ways_left_out_ = 0;
};

}  // namespace rclrt::trace
