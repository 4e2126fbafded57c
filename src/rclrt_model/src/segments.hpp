// SPDX-License-Identifier: Apache-2.0
// Chains that read variables or newest messages: their segments, which are chains of messages.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "draft.hpp"
#include "reader.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {

/// An entry of the section "chains".
struct ChainDraft {
  Chain chain;
  ChainSource source;
  Position at{};
  std::optional<Position> priority{};  ///< where the file states it
  std::optional<Nanoseconds> max_reaction{};
  std::optional<Nanoseconds> max_age{};
  bool samples = false;  ///< a variable leads from one of its callbacks to the next
};

/// The steps from callback to callback that are variables, and the chains that segments may be.
class Segments {
 public:
  /// Keeps a reference to `reading`, of which the callbacks have been read.
  explicit Segments(Reading& reading);

  /// Returns whether a callback of the path reads a variable that the callback before it stores, or
  /// the newest message of a topic that it publishes, and no message of it triggers the callback.
  bool samples(const Chain& chain) const;

  /// Adds a chain of messages to the application.
  std::size_t add_chain(Chain chain, ChainSource source);

  /// Adds the cause-effect chain of an entry that samples. Each of its segments is a chain: one
  /// that the file states, or else a new one with the entry's priority and no deadline, if
  /// it starts with a timer or an event; of several entries the highest priority counts. Reports a
  /// segment that messages trigger and that no chain leads to. All chains of messages must have
  /// been added.
  void add_cause_effect_chain(const ChainDraft& draft, NameIndex& chains);

 private:
  using Path = std::vector<std::size_t>;

  bool is_sampled(std::size_t from, std::size_t to) const;
  std::optional<Segment> chain_that_ends_with(const Path& path) const;
  /// Returns whether the reader gets what the last callback of the segment puts out for the inputs
  /// by which the segment's chain enters it.
  bool publishes_for(const Segment& segment, std::size_t reader) const;
  void report_route(const ChainDraft& draft, std::size_t end);
  std::optional<Segment> segment(const ChainDraft& draft, std::size_t number, std::size_t begin,
                                 std::size_t end, NameIndex& chains);

  Reading& reading_;
  std::set<std::pair<std::size_t, std::size_t>> sampled_;  ///< pairs of writer and reader
  std::map<Path, std::size_t> by_path_;  ///< chains; ordered, as its keys are hostile
  std::set<std::size_t> made_;           ///< chains that the file does not state
  std::map<std::size_t, std::vector<std::size_t>> by_last_;  ///< chains, by their last callback
};

/// Reports variables that no callback stores, or several, or one of another process. Returns
/// whether each variable that is read is stored.
bool check_variables(const Draft& draft, Context& context);

/// Reports topics of which a callback reads the newest message, if none or several callbacks
/// publish them, or if their messages trigger the reader. Returns whether each is published.
bool check_samples(const Draft& draft, Context& context);

}  // namespace rclrt::model::detail
