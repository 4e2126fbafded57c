// SPDX-License-Identifier: Apache-2.0
// All results of a run.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <rclrt/model/application.hpp>
#include <rclrt/model/executor_choice.hpp>
#include <string>
#include <vector>

#include "rclrt/executor/callback.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/recorder/callback_accounting.hpp"
#include "rclrt/recorder/cause_effect_accounting.hpp"
#include "rclrt/recorder/chain_accounting.hpp"
#include "rclrt/recorder/chain_misses.hpp"
#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/hop_accounting.hpp"
#include "rclrt/recorder/host_probe.hpp"
#include "rclrt/recorder/host_times.hpp"
#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/machine_context.hpp"
#include "rclrt/recorder/proposed_chains.hpp"
#include "rclrt/recorder/time_distribution.hpp"

namespace rclrt::recorder {

/// The circumstances of a run.
struct RunContext {
  MachineContext machine;
  bool realtime = false;            ///< every thread got the real-time priority it should have
  std::string realtime_reason;      ///< why, or why not
  bool runs_to_completion = false;  ///< in an executor all priorities share their threads
  bool memory_locked = false;
  std::string rmw;
  std::string ros_distro;
  std::map<std::string, std::string> versions;
  double steal_ms = 0;  ///< taken by the host from all CPUs during the run
  std::uint64_t records_dropped = 0;
  std::uint64_t foreign_messages = 0;  ///< taken and ignored: no callback can have sent them
};

/// The executor's own counts of one callback.
struct CallbackCounts {
  std::uint64_t released = 0;
  std::uint64_t completed = 0;
  std::uint64_t dropped = 0;
  std::uint64_t missed = 0;  ///< of the callback's own deadline

  /// Adds the counts of another entity that belongs to the same callback, or of the same callback
  /// in another process.
  template <typename Counts>
  CallbackCounts& operator+=(const Counts& more) noexcept {
    released += more.released;
    completed += more.completed;
    dropped += more.dropped;
    missed += more.missed;
    return *this;
  }
};

/// A thread of the process, as the kernel has it.
struct ThreadResult {
  std::string name;
  pid_t tid = 0;
  realtime::Scheduling scheduling;
  std::string process{};  ///< of the application; empty: the one of executors that name none
};

/// Returns the scheduling of every thread of this process, now.
RCLRT_RECORDER_EXPORT std::vector<ThreadResult> read_threads();

/// The instance of a chain that a counter-example is about.
struct ReplayedInstance {
  std::size_t chain = 0;  ///< index into Application::chains
  std::uint64_t instance = 0;
};

/// How a run was simulated.
struct SimulationStatement {
  std::uint64_t seed = 0;
  double lowest_execution = 1;  ///< execution times: from this share of the WCET up to the WCET
  std::optional<ReplayedInstance> replayed{};  ///< if the schedule is that of a counter-example
};

/// The file with callback priorities that replaced those of the application.
struct PrioritiesFile {
  std::string file;
  std::string sha256;
};

/// The distributions of the times of one callback.
struct CallbackTimes {
  TimeDistribution response;
  TimeDistribution dispatch;
  TimeDistribution execution;
};

/// The distributions of the times of one cause-effect chain.
struct SampledTimes {
  TimeDistribution reaction;
  TimeDistribution age;
};

/// The distributions of all instances of a run that streamed. It has kept only some of them, see
/// RunStream.
struct StreamedStatement {
  std::uint64_t instances = 0;  ///< of callbacks, in the whole run; RunResults::records has some
  /// From here to the end of the run all instances are kept.
  std::int64_t latest_since_ns = 0;
  std::vector<TimeDistribution> responses{};  ///< one per chain
  std::vector<CallbackTimes> callbacks{};     ///< one per callback
  std::vector<SampledTimes> cause_effect{};   ///< one per cause-effect chain
};

/// How a run came to its end.
enum class RunEnd {
  kFinished,     ///< it lasted as long as it was asked to
  kInterrupted,  ///< it was stopped earlier
  kRunning,      ///< it had not ended when the results were written
};

/// All results of a run.
struct RunResults {
  model::Application application;
  std::string application_file;
  std::string application_sha256;
  std::optional<PrioritiesFile> priorities;  ///< none: those of the application
  model::ExecutorChoice executor;
  std::string executor_label;
  std::string started_utc;
  RunWindow window;
  RunContext context;
  HostStallReport host_stalls;
  std::vector<ChainResult> chains;                       ///< one per chain of the application
  std::vector<CauseEffectResult> cause_effect_chains{};  ///< one per cause-effect chain
  std::vector<CallbackCounts> callback_counts;           ///< one per callback
  std::vector<CallbackResult> callbacks;                 ///< one per callback
  std::vector<HopResult> hops;                           ///< from callback to callback
  /// "service", "client" or "waitable", of callbacks that the application has as subscriptions.
  std::map<std::size_t, std::string> other_kinds;
  /// The largest permitted age of a callback's data at the end of the callback, for the callbacks
  /// that state one.
  MaxAges max_ages{};
  bool proposes_chains = false;  ///< they are in no file: the observed model has the observed ones
  std::vector<std::optional<int>> kernel_priorities;  ///< one per callback; none: no fixed priority
  std::vector<ThreadResult> threads;
  std::vector<std::string> thread_tracks;  ///< names of the display tracks, in display order
  std::vector<InstanceRecord> records;
  std::vector<CpuPart> cpu_parts{};  ///< of the records; see parts_of()
  std::vector<ChainMiss> misses;     ///< by chain, the worst ones of each, in order of release
  std::optional<SimulationStatement> simulation;  ///< none: a real run
  std::optional<StreamedStatement> streamed{};    ///< none: all instances are kept
  RunEnd end = RunEnd::kFinished;
  HostTable hosts{};  ///< of a run over several hosts: how exactly their times are known
};

/// Returns "completed", "late", "dropped", "pending", "unmatched" or "unknown".
RCLRT_RECORDER_EXPORT const char* to_string(ChainStatus status);

/// Returns "ran", "buffered" or "empty".
RCLRT_RECORDER_EXPORT const char* to_string(Outcome outcome);

/// Returns how far the response of a completed instance of a chain may be from the truth, in either
/// direction: 0 unless the chain goes over hosts with different clocks.
RCLRT_RECORDER_EXPORT std::int64_t response_error_ns(const RunResults& results, std::size_t chain,
                                                     const ChainInstance& instance);

/// Decides again which deadlines of chains were met, with the errors of the hosts' clocks: an
/// instance with a deadline within the error of its response is neither met nor missed
/// (ChainStatus::kUnknown). Does nothing for a run on one host. Call it after account().
RCLRT_RECORDER_EXPORT void judge_over_hosts(RunResults& results);

/// Throws std::invalid_argument if a list does not have one entry for each chain or callback, or if
/// a record names a callback, a track or a part on a CPU that does not exist.
RCLRT_RECORDER_EXPORT void require_consistent(const RunResults& results);

}  // namespace rclrt::recorder
