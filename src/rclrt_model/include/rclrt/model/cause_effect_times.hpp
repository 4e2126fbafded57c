// SPDX-License-Identifier: Apache-2.0
// The reaction times and data ages of cause-effect chains, from the runs of callbacks.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rclrt/model/application.hpp"
#include "rclrt/model/export.hpp"

namespace rclrt::model {

/// A run of a callback for one instance of a chain. All times have the same origin.
struct ChainRun {
  std::size_t callback{};    ///< index into Application::callbacks
  std::size_t chain{};       ///< index into Application::chains
  std::uint64_t instance{};  ///< number of the chain's release, from 0
  Nanoseconds release{};     ///< of that instance of the chain
  Nanoseconds start{};       ///< of the run: it reads its variables
  Nanoseconds end{};         ///< of the run: it stores its variables and publishes
  /// When it read a variable in place of its start, and stored one in place of its end, if that is
  /// known.
  std::optional<Nanoseconds> read{};
  std::optional<Nanoseconds> stored{};
};

/// A run of the last callback of a cause-effect chain that used data of the first one.
struct CauseEffectOutput {
  Nanoseconds release{};  ///< of the data: the release of the first callback
  Nanoseconds end{};      ///< of the run
  /// From what happened after the previous data to this end; see CauseEffectChain. nullopt: the
  /// data are not new, or the first ones.
  std::optional<Nanoseconds> reaction{};
  std::uint64_t instance{};  ///< the instance of the last segment's chain

  Nanoseconds age() const { return end - release; }
  bool operator==(const CauseEffectOutput&) const = default;
};

/// The outputs of one cause-effect chain.
struct CauseEffectOutputs {
  std::vector<CauseEffectOutput> outputs{};  ///< in the order of their ends
  std::uint64_t inputs{};                    ///< instances of the first segment that ended
  /// What happened since then has had no reaction yet. nullopt: nothing is known to have happened.
  std::optional<Nanoseconds> open_since{};
  std::uint64_t distinct{};  ///< of the data in the outputs
  std::uint64_t initial{};   ///< runs of the last callback that had no data to use yet
};

/// A value that an instance of a segment read.
struct SampledRead {
  std::size_t segment{};      ///< that read it: index into CauseEffectChain::segments, from 1
  std::uint64_t instance{};   ///< of its chain
  std::uint64_t stored_by{};  ///< the instance of the chain of the segment before
  bool operator==(const SampledRead&) const = default;
};

/// The part of one segment in the time of an output.
struct CauseEffectStage {
  std::uint64_t instance{};  ///< of the segment's chain
  Nanoseconds begin{};       ///< its release; if the value that it reads is stored later, that time
  Nanoseconds end{};         ///< it stores its value, or is the output
  bool operator==(const CauseEffectStage&) const = default;
};

/// Where the time of an output went. From the end of each stage to the begin of the next one, the
/// stored value waits for its reader.
struct CauseEffectWay {
  Nanoseconds since{};                     ///< of what happened, or the release of the data
  std::vector<CauseEffectStage> stages{};  ///< one for each segment

  Nanoseconds length() const { return stages.back().end - since; }
  bool operator==(const CauseEffectWay&) const = default;
};

/// The ways of the longest reaction time and of the largest data age; of equal ones, the first.
/// The way of an age leads over the values that the output used. The way of a reaction leads over
/// the first values that show what happened: an output may use a newer one.
struct LongestWays {
  std::optional<CauseEffectWay> reaction{};  ///< nullopt: no output has a reaction time
  std::optional<CauseEffectWay> age{};       ///< nullopt: there is no output
};

/// All that is known of one cause-effect chain.
struct CauseEffectDetails {
  CauseEffectOutputs found{};
  LongestWays longest{};
  /// The values that the ended instances of the segments read. Those that found no value are left
  /// out, and those of which the value depends on none of the first segment.
  std::vector<SampledRead> reads{};
};

/// Joins runs of callbacks to outputs of cause-effect chains: a run reads the value that was stored
/// last before its start, or before ChainRun::read. With Chain::logical_execution it reads at its
/// release, and its end is the deadline of its chain, if it is not later. Not thread-safe.
class RCLRT_MODEL_EXPORT CauseEffectTimes {
 public:
  /// Keeps a reference to the application.
  explicit CauseEffectTimes(const Application& application);

  /// Takes a release of a chain, in any order, also if no run follows. Without the releases, those
  /// of the runs count.
  void release(std::size_t chain, std::uint64_t instance, Nanoseconds at);

  /// Takes a run, in any order. An input that a synchroniser only keeps is no run. Returns in how
  /// many segments the run's chain is.
  std::size_t add(const ChainRun& run);

  /// Returns the outputs of the runs so far, one entry for each cause-effect chain.
  std::vector<CauseEffectOutputs> outputs() const;

  /// Returns the same with where the longest times of a cause-effect chain went, and what was read.
  CauseEffectDetails details(std::size_t chain) const;

 private:
  /// An instance of a segment's chain, a time of it, and its release.
  struct Moment {
    std::uint64_t instance{};
    Nanoseconds at{};
    Nanoseconds release{};
    auto operator<=>(const Moment&) const = default;
  };
  struct SegmentRuns {
    std::vector<Moment> begun;  ///< reads of the entry; of the first segment, releases
    std::vector<Moment> ended;  ///< stores of the last callback; of the last segment, its ends
  };
  struct Place {
    std::size_t chain;  ///< index into Application::cause_effect_chains
    std::size_t segment;
  };

  struct Joined;
  Joined store(std::size_t chain) const;  ///< the values, without the outputs
  Joined join(std::size_t chain) const;
  static LongestWays longest_ways(const Joined& joined);
  static std::vector<SampledRead> reads(const Joined& joined);

  const Application& application_;
  std::vector<std::vector<Place>> places_;      ///< by chain
  std::vector<std::vector<SegmentRuns>> runs_;  ///< by cause-effect chain and segment
};

}  // namespace rclrt::model
