// SPDX-License-Identifier: Apache-2.0
// A discrete-event simulation of executors in whole nanoseconds.
//
// The simulation models the engine of rclrt_executor on a kernel with SCHED_FIFO: threads with
// priorities, lanes with their workers, scheduler threads, groups with the immediate ceiling,
// credits, overload policies, synchronisers. The threads with the highest priorities get the CPUs.
// Among equals, a thread that wakes up goes behind the others, and a preempted one stays before
// them. Migration between CPUs costs no time.
//
// At one instant, instances that are due to end end first, then timers release and messages arrive,
// then the executors choose. So a release at time t does not delay an instance that ends at t, and
// a choice made at t sees the release. A callback publishes at its end. A thread of higher priority
// that the message wakes runs before the publisher's instance has ended, as in the real engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/simulation_system.hpp"
#include "rclrt/analysis/task_set.hpp"

namespace rclrt::analysis {

/// The length and the random numbers of a simulation.
struct SimulationOptions {
  /// Timers release before this time; nothing happens at or after it. Time starts at 0.
  std::int64_t horizon_ns = 0;
  /// Callbacks that start before this time have no execution time, and executors no overheads.
  /// Timers and messages then have the least delay of their distributions.
  std::int64_t warm_up_ns = 0;
  /// The seed of the random numbers. With the same seed, the n-th instance of a callback has the
  /// same execution time under every executor.
  std::uint64_t seed = 0;
  /// The simulation also ends when this number of instances has ended.
  std::uint64_t max_instances = std::numeric_limits<std::uint64_t>::max();
  InterruptCheck check_interrupt = nullptr;
};

/// One instance of a chain on its path.
struct SimulatedToken {
  std::uint32_t chain = 0;
  std::uint64_t instance = 0;  ///< number of the release, from 0
  std::int64_t release_ns = 0;

  bool operator==(const SimulatedToken&) const = default;
};

/// How an instance ended.
enum class SimulatedOutcome {
  kRan,       ///< user code ran
  kBuffered,  ///< a sync input waits for the others
  kEmpty,     ///< its message had been replaced by a newer one
};

/// An instance that has ended.
struct SimulatedInstance {
  std::uint64_t id = 0;  ///< from 0 in the order in which they were picked up
  std::size_t callback = 0;
  int level = 0;
  unsigned slot = 0;            ///< which of the level's workers
  unsigned cpu = 0;             ///< the CPU on which it ended
  std::int64_t release_ns = 0;  ///< a timer's nominal release, otherwise equal to ready_ns
  std::int64_t ready_ns = 0;
  std::int64_t start_ns = 0;  ///< first instruction of user code
  std::int64_t end_ns = 0;
  std::int64_t cpu_ns = 0;  ///< from pick-up to end
  std::uint32_t preemptions = 0;
  SimulatedOutcome outcome = SimulatedOutcome::kRan;
  unsigned input = 0;         ///< of a callback with several, by which its message came
  std::int64_t stamp_ns = 0;  ///< of a sync: that of the message it took
  /// The instances of chains that passed through this instance. For a message that a sync only
  /// keeps: those that the message belongs to. The span is valid only during the call of the
  /// observer.
  std::span<const SimulatedToken> tokens;
};

/// An uninterrupted interval of one instance on one CPU.
struct SimulatedInterval {
  std::size_t callback = 0;
  std::uint64_t instance = 0;  ///< SimulatedInstance::id
  unsigned cpu = 0;
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;

  bool operator==(const SimulatedInterval&) const = default;
};

/// A packet that a link has sent.
struct SimulatedPacket {
  std::size_t link = 0;  ///< index into SimulatedSystem::links
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::size_t bytes = 0;

  bool operator==(const SimulatedPacket&) const = default;
};

/// Interface to observe the instances and intervals of a simulation.
class RCLRT_ANALYSIS_EXPORT SimulationObserver {
 public:
  virtual ~SimulationObserver() = default;
  /// Notifies that an instance has ended.
  virtual void ended(const SimulatedInstance& /*instance*/) {}
  /// Reports an interval of nonzero length.
  virtual void ran(const SimulatedInterval& /*interval*/) {}
  /// Reports a packet of which the last bit has left the line.
  virtual void sent(const SimulatedPacket& /*packet*/) {}
};

/// Response times in nanoseconds, over the instances that have ended.
struct SimulatedResponses {
  std::uint64_t count = 0;
  std::int64_t best_ns = 0;   ///< 0 when there is none
  std::int64_t worst_ns = 0;  ///< ditto
};

/// Counts of instances: `released == completed + dropped + pending`.
struct SimulatedCounts {
  std::uint64_t released = 0;
  std::uint64_t completed = 0;
  std::uint64_t dropped = 0;
  std::uint64_t pending() const { return released - completed - dropped; }

  bool operator==(const SimulatedCounts&) const = default;
};

/// The counts and response times of a callback's instances.
struct CallbackSimulation {
  SimulatedCounts counts;  ///< of all its inputs
  SimulatedResponses response;
  std::uint64_t missed = 0;  ///< of a callback with a deadline: ended after it
};

/// The response times of a chain's instances.
struct ChainSimulation {
  SimulatedResponses response;
  std::uint64_t missed = 0;        ///< ended after the deadline
  std::uint64_t worst_instance{};  ///< the first one with the worst response
};

/// The messages that one direction of a link has sent.
struct LinkSimulation {
  std::uint64_t messages = 0;
  std::int64_t worst_delay_ns = 0;  ///< from publication until a message is at the other host
  std::int64_t most_bytes = 0;      ///< that waited at once, with the packet that is sent
};

/// The result of a simulation.
struct SimulationResult {
  std::vector<CallbackSimulation> callbacks;  ///< as in the system
  std::vector<ChainSimulation> chains;        ///< as in the system
  std::vector<LinkSimulation> links;          ///< as in the system
  std::uint64_t instances = 0;                ///< that have ended
  std::int64_t end_ns = 0;                    ///< the horizon, or when max_instances was reached
  std::int64_t busy_ns = 0;                   ///< CPU time of all CPUs together
};

/// Simulates the system. Deterministic. `observer` may be nullptr. Throws as require_valid() does,
/// and std::invalid_argument for a horizon that is negative or above a century.
RCLRT_ANALYSIS_EXPORT SimulationResult simulate(const SimulatedSystem& system,
                                                const SimulationOptions& options,
                                                SimulationObserver* observer = nullptr);

}  // namespace rclrt::analysis
