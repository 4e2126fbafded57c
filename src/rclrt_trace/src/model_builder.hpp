// SPDX-License-Identifier: Apache-2.0
// The steps from a traced system to its model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lives.hpp"
#include "pools.hpp"
#include "rclrt/recorder/statistics.hpp"
#include "starvation.hpp"
#include "traced_model.hpp"

namespace rclrt::trace {

/// The longest time that the model accepts, in nanoseconds: an hour.
inline constexpr std::int64_t kLongestTime = 3'600'000'000'000;

/// The shortest period that the model accepts, in nanoseconds.
inline constexpr std::int64_t kShortestTime = 1'000;

/// Most chains of a kind that are proposed. With more, chains must be chosen by hand.
inline constexpr std::size_t kMostChains = 200;

/// The longest topic and namespace that the model accepts: rmw's limits.
inline constexpr std::size_t kLongestTopic = 247;
inline constexpr std::size_t kLongestNamespace = 245;

/// The model's limit of the number of a CPU. A damaged trace may have any value.
inline constexpr int kMostCpus = 1024;

/// Returns the CPUs that the model accepts, sorted and without duplicates.
std::vector<int> allowed_cpus(std::vector<int> cpus);
/// Returns whether the model accepts the name unchanged.
bool is_token(std::string_view text);
/// Returns whether the model accepts the topic or namespace unchanged. `at_most` is the largest
/// number of characters.
bool is_topic(std::string_view text, std::size_t at_most);
/// Returns a name that the model accepts: letters, digits and single underscores.
std::string as_token(std::string_view text);
/// Returns a topic or namespace that consists of such names.
std::string as_topic(std::string_view text);

/// Unique names that the model accepts.
class Names {
 public:
  /// Reserves a name for its owner: unique() does not return it for another text.
  void reserve(std::string_view text);
  /// Returns the text if the model accepts it and it was not returned before; else a similar name.
  std::string unique(std::string_view text);

 private:
  std::set<std::string, std::less<>> taken_;
  std::set<std::string, std::less<>> reserved_;
};

/// Names of topics or namespaces in the model. A name that the model accepts stays unchanged; every
/// other name is replaced by a unique one.
class TopicNames {
 public:
  /// Sets the longest name that the model accepts unchanged.
  explicit TopicNames(std::size_t at_most) : at_most_(at_most) {}
  /// Reserves the name if the model accepts it unchanged. Call it for all names before name().
  void reserve(std::string_view text);
  /// Returns the name that the model has for `text`. Equal texts have equal names, and different
  /// texts have different ones.
  const std::string& name(std::string_view text);
  /// Returns whether the model has another name for it.
  bool is_changed(std::string_view text) { return name(text) != text; }

 private:
  std::size_t at_most_;
  std::map<std::string, std::string, std::less<>> names_;
  std::set<std::string, std::less<>> taken_;
};

/// Builds one model. Call its functions in the order of their declarations.
class ModelBuilder {
 public:
  ModelBuilder(const TracedSystem& system, const std::string& name);

  /// Finds callbacks that exclude each other, and callbacks that starved.
  void find_groups();
  void find_starved();
  /// Chooses the callbacks that ran, or starved, and names them.
  void choose_callbacks();
  /// Adds executors and nodes.
  void place();
  /// Sets the trigger and the publications of each callback.
  void connect();
  /// Turns subscriptions into events until the graph has no cycle.
  void break_cycles();
  /// Adds the values that callbacks store and read, and those that nodes state to keep: see
  /// StoredValue and MessageLink.
  void add_variables();
  /// Adds observed execution times, groups and priorities.
  void add_timing();
  /// Adds proposed chains.
  void add_chains();
  /// Proposes values that timers may read, as comments.
  void propose_variables();
  /// Adds notes on what could not be followed in the trace.
  void note_gaps();

  TracedModel finish();

 private:
  struct Run {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t life = 0;    // the traced callback
    std::int64_t sent_ns = 0;  // the time of day of its message; 0: not known
  };
  class GroupGuess;
  struct Runs {  // runs of one callback, in all its lives
    std::uint64_t count = 0;
    std::vector<Run> times;               // ascending; empty if the system streams
    std::vector<std::int64_t> durations;  // while they are collected
    std::optional<recorder::Summary> execution_times;
    std::set<std::uint32_t> threads;
    bool has_cpu_times = false;  // the execution times are CPU times, only of runs that have one
    std::int64_t longest_wait_ns = 0;  // of one of these runs
    std::int64_t longest_run_ns = 0;   // from start to end
  };

  void collect_runs();
  void collect_totals();
  void note_streaming();
  void name_topics();
  void require_publications() const;
  bool is_of_tools(std::uint32_t traced) const;
  std::string outside_of(const TracedInput& input) const;
  bool is_explained(const TracedInput& input, std::uint64_t runs) const;
  const TracedCallback& callback_at(std::uint32_t number) const { return lives_.callbacks[number]; }
  std::string callback_name(std::uint32_t traced, std::map<std::uint32_t, int>& timers);
  /// Returns the topic's name in the model.
  const std::string& topic(std::uint32_t index) const { return topics_[index]; }
  std::vector<std::uint32_t> executors_by_thread();
  std::uint32_t executor_key(std::uint32_t number, const std::vector<std::uint32_t>& by_thread);
  void assign_slots();
  std::string name_node(const TracedNode& node);
  std::size_t node_in_model(std::uint32_t traced_node, std::size_t executor, std::int64_t process);
  model::Event event_of(std::uint32_t traced) const;
  std::pair<std::int64_t, std::int64_t> intervals_of(std::uint32_t traced) const;
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
  void note_starvation();
  std::string quoted_name(std::uint32_t traced) const;
  std::string starvation_text(const Starvation& starved) const;
  void note_pools();
  std::uint32_t some_thread(std::uint32_t traced) const;
  bool overlap(std::uint32_t one, std::uint32_t other) const;
  void add_chains_from(std::size_t source, std::vector<std::size_t>& way);
  void add_chain(const std::vector<std::size_t>& way);
  void add_chains_to_variables();
  void add_sampling_chains();
  void continue_sampling(model::CauseEffectChain& chain, std::set<std::vector<std::size_t>>& seen);
  std::set<std::size_t> linked_readers(const MessageLink& link) const;
  void add_samples();
  void add_equal_stamps();
  void add_equal_stamps_of(std::size_t publisher, std::uint64_t messages,
                           const std::map<std::size_t, std::uint64_t>& equal);
  void add_stored_values();
  void add_variable(std::size_t writer, const std::set<std::size_t>& readers);
  void add_note_once(std::string note);
  void propose_chain(std::size_t taker, std::size_t timer);
  bool reads(std::size_t callback, std::size_t of) const;
  std::vector<std::size_t> may_read(std::size_t timer) const;

  const TracedSystem& system_;
  const Lives lives_;
  const std::vector<Pool> pools_;
  GroupNumbers group_of_;
  StarvationFindings starvation_;
  TracedModel model_;
  model::Application& application_;
  std::vector<Runs> runs_;
  std::vector<std::uint32_t> traced_of_;          // per callback of the application
  std::vector<std::string> topics_;               // per topic: its name in the model
  std::set<std::uint32_t> published_;             // topics that callbacks publish
  std::map<std::uint32_t, std::size_t> nodes_;    // node of the application, by traced node
  std::map<std::int64_t, std::size_t> nameless_;  // by process: node for callbacks without one
  TopicNames name_spaces_;
  std::vector<std::uint32_t> executor_of_;  // per traced callback
  std::set<std::size_t> known_writers_;     // callbacks that store values; see StoredValue
  std::set<std::size_t> is_sampled_;        // callbacks of which others read the newest message
  Names callback_names_;
  Names node_names_;
  Names chain_names_;
  std::vector<std::size_t> threads_of_;  // per executor: how many ran callbacks at a time
  std::size_t ways_left_out_ = 0;
};

}  // namespace rclrt::trace
