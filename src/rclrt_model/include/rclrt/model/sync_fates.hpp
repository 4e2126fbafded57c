// SPDX-License-Identifier: Apache-2.0
// The fates of messages of chains that a synchroniser received and put into no set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "rclrt/model/application.hpp"
#include "rclrt/model/export.hpp"

namespace rclrt::model {

/// The fate of an instance of a chain in a synchroniser.
enum class SyncFate {
  kOther,         ///< it reached none, or the last one that it reached put it in a set
  kUnmatched,     ///< a set took a newer message of the chain, and none needed this one
  kLostByDepth,   ///< it made room when the depth was used up, and a message that came later was
                  ///< nearest to it
  kWaiting,       ///< it waits at the end, no longer than is usual for this synchroniser
  kWaitsTooLong,  ///< it waits at the end, and should long have been in a set or been replaced
};

/// Finds out, after a run, why synchronisers put messages of chains into no set of matched
/// messages. A set takes one message of each input: if the inputs have different rates, some
/// messages are left over, which is no fault. Has no side effects; not thread-safe.
class RCLRT_MODEL_EXPORT SyncFates {
 public:
  /// A message that a synchroniser received on its input number `input`. `callback` is the
  /// synchroniser's index in Application::callbacks.
  struct Arrival {
    std::size_t callback = 0;
    std::size_t input = 0;
    std::int64_t stamp_ns = 0;
    std::int64_t time_ns = 0;
  };

  /// Reads the synchronisers of an application, which must outlive this object.
  explicit SyncFates(const Application& application);

  /// Returns whether the callback is a synchroniser.
  bool is_sync(std::size_t callback) const { return synchronisers_.contains(callback); }

  /// Adds a message that a synchroniser received from any publisher. Ignores callbacks and inputs
  /// that the application does not have.
  void add(const Arrival& message);

  /// Records that the synchroniser kept the message, which carries an instance of a chain.
  void kept(const Arrival& message, std::size_t chain, std::uint64_t instance);

  /// Records that the set that the message completed has an instance of a chain.
  void in_set(const Arrival& message, std::size_t chain, std::uint64_t instance);

  /// Ends the run: call no other add function afterwards.
  void finish(std::int64_t end_ns);

  /// Returns the fate of an instance in the last synchroniser that it reached.
  SyncFate of(std::size_t chain, std::uint64_t instance) const;

 private:
  struct Input {
    std::vector<std::int64_t> times_ns;  // ascending
    std::vector<Arrival> by_stamp;       // ascending by stamp
  };
  struct Synchroniser {
    std::int64_t window_ns = 0;
    std::size_t depth = 0;
    std::int64_t interval_ns = 0;  // of the slowest input
    std::vector<Input> inputs;
  };
  struct Set {
    std::int64_t time_ns = 0;
    std::uint64_t newest = 0;  // instance of the chain so far
  };
  /// The passage of a chain through one of its synchronisers.
  struct Passage {
    std::size_t callback = 0;
    std::vector<Set> sets{};  // by time
    std::int64_t longest_gap_ns = 0;
    std::unordered_map<std::uint64_t, Arrival> kept{};  // by instance
    std::unordered_set<std::uint64_t> taken{};          // instances
  };

  Passage* passage_of(std::size_t chain, std::size_t callback);
  static void finish(Passage& passage);
  SyncFate fate(const Passage& passage, const Arrival& kept, std::uint64_t instance) const;
  static bool is_starved(const Synchroniser& sync, const Arrival& kept, std::int64_t until_ns);
  static bool was_needed(const Synchroniser& sync, const Arrival& kept, std::int64_t made_room_ns,
                         std::int64_t until_ns);

  std::int64_t end_ns_ = 0;
  std::map<std::size_t, Synchroniser> synchronisers_;  // by callback
  std::vector<std::vector<Passage>> passages_;         // by chain, in its order
};

}  // namespace rclrt::model
