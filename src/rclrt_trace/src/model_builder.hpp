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

#include "traced_model.hpp"

namespace rclrt::trace {

/// The longest time that the model takes, in nanoseconds: an hour.
inline constexpr std::int64_t kLongestTime = 3'600'000'000'000;

/// Returns a name that the model takes: letters, digits and single underscores.
std::string as_token(std::string_view text);
/// Returns a topic or namespace of such names.
std::string as_topic(std::string_view text);

/// Names that the model takes, each once.
class Names {
 public:
  /// Returns a name like `text` that was not returned before.
  std::string unique(std::string_view text);

 private:
  std::set<std::string> taken_;
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
  void note_silent_nodes();
  void note_republishing();
  void note_gaps();

  TracedModel finish() { return std::move(model_); }

 private:
  struct Runs {                                                // of one traced callback
    std::vector<std::pair<std::int64_t, std::int64_t>> times;  // start and end, ascending
    std::vector<std::int64_t> durations;                       // ascending; see has_cpu_times
    std::set<std::uint32_t> threads;
    bool has_cpu_times = false;  // durations are CPU times, of the runs of which they are known
    std::int64_t longest_wait_ns = 0;  // in one of these
  };

  void collect_runs();
  std::string callback_name(std::uint32_t traced, std::map<std::uint32_t, int>& timers);
  /// The topic's name as the model takes it.
  const std::string& topic(std::uint32_t index);
  std::vector<std::uint32_t> executors_by_thread();
  std::size_t node_in_model(std::uint32_t traced_node, std::size_t executor, std::int64_t pid);
  model::Event event_of(std::uint32_t traced) const;
  void set_trigger(std::size_t index);
  std::map<int, int> priorities_in_model() const;
  void note_times();
  void add_groups();
  bool overlap(std::uint32_t one, std::uint32_t other) const;
  void add_chains_from(std::size_t source, std::vector<std::size_t>& way);
  void add_chain(const std::vector<std::size_t>& way);

  const TracedSystem& system_;
  TracedModel model_;
  model::Application& application_;
  std::vector<Runs> runs_;
  std::vector<std::uint32_t> traced_of_;  // per callback of the application
  std::map<std::uint32_t, std::string> topics_;
  std::set<std::uint32_t> published_;             // topics
  std::map<std::uint32_t, std::size_t> nodes_;    // traced node: node of the application
  std::map<std::int64_t, std::size_t> nameless_;  // process: node for callbacks without one
  std::vector<std::uint32_t> executor_of_;        // per traced callback
  Names callback_names_;
  Names node_names_;
  Names chain_names_;
  std::size_t ways_left_out_ = 0;
};

}  // namespace rclrt::trace
