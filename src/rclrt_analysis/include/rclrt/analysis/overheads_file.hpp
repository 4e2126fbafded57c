// SPDX-License-Identifier: Apache-2.0
// The file of a machine's overheads that `rclrt calibrate` writes (schemas/overheads.schema.json),
// and the machine that it describes. Input is untrusted. All functions may be called from several
// threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/machine.hpp"
#include "rclrt/yaml/diagnostics.hpp"

namespace rclrt::analysis {

/// The statistic of the measured samples that a bound uses.
enum class Statistic {
  kMax,             ///< includes the time during which the host stalled
  kMaxUndisturbed,  ///< the largest sample during which the host did not stall
  kP99,             ///< makes every bound conditional
  kP50,             ///< makes every bound conditional
};

/// The slowest hop that a message between executors takes.
enum class HopKind {
  kIntraProcess,  ///< within one process
  kSameHost,      ///< between two processes of one host
};

/// A measured time, in ns. A file may state one number instead of statistics.
struct MeasuredTime {
  Ticks min{};  ///< 0 if the file has statistics without it
  Ticks max{};
  std::optional<Ticks> max_undisturbed;
  std::optional<Ticks> p99;
  std::optional<Ticks> p50;
};

/// The measured times of one kind of executor. An absent time was not measured.
struct MeasuredExecutor {
  std::optional<MeasuredTime> dispatch;
  std::optional<MeasuredTime> timer_lateness;
  std::optional<MeasuredTime> scheduler;
  std::optional<MeasuredTime> polling;
  std::optional<MeasuredTime> handover;
};

/// The content of a file.
struct OverheadsFile {
  std::string name;  ///< of the file, for the assumptions
  std::map<ExecutorKind, MeasuredExecutor> executors;
  std::optional<MeasuredTime> intra_process;  ///< of a hop
  std::optional<MeasuredTime> same_host;      ///< of a hop
  std::optional<MeasuredTime> background;     ///< of each ms
  double realtime_share = 1;                  ///< see Machine::realtime_share
  std::optional<std::int64_t> message_bytes;  ///< size of the measured messages
  int cpus{};                                 ///< of the machine; 0: the file does not state it
  std::string rmw;                            ///< the measured middleware; empty: not stated
  yaml::Position rmw_at{};                    ///< the place of `rmw` in the file
};

/// The times of overheads that are accepted, for messages: in files and as options.
inline constexpr const char* kMicroseconds = "a number of microseconds from 0 to 1000000000";

/// Returns the nanoseconds of a decimal number of microseconds, rounded up; std::nullopt if it is
/// none of kMicroseconds.
RCLRT_ANALYSIS_EXPORT std::optional<Ticks> parse_microseconds(std::string_view text);

/// Times that replace measured ones, in ns.
struct StatedOverheads {
  std::optional<Ticks> dispatch;
  std::optional<Ticks> timer_jitter;
  std::optional<Ticks> scheduler;
  std::optional<Ticks> hop;  ///< at most, for a message between executors
};

/// The values of a file that a bound uses.
struct MachineChoice {
  Statistic statistic = Statistic::kMax;
  /// Absent: the slowest hop that the application's processes require.
  std::optional<HopKind> hops;
  StatedOverheads stated;
};

/// The content of a file, or the errors in it.
struct OverheadsFileResult {
  std::optional<OverheadsFile> file;
  std::vector<yaml::Diagnostic> diagnostics;
};

/// Reads the text of an overheads file, which is JSON or YAML. `name` is the name of the file in
/// the text of assumptions. Never throws on bad input (only std::bad_alloc when memory runs out).
RCLRT_ANALYSIS_EXPORT OverheadsFileResult parse_overheads(std::string_view text, std::string name);

/// Loads an overheads file. Throws yaml::FileError if it cannot be read or is wrong; what() has one
/// "file:line:column: message" per mistake.
RCLRT_ANALYSIS_EXPORT OverheadsFile load_overheads(const std::filesystem::path& file);

/// Returns the machine that an overheads file describes, for one kind of executor of the
/// application. A time that is missing in the file counts as zero, and an assumption states that.
///
/// Every bound becomes conditional if something relevant was not measured: the dispatch time of the
/// executor, messages as large as the application's, or times above a percentile. Throws
/// yaml::FileError if `choice` names hops that the file does not have.
RCLRT_ANALYSIS_EXPORT Machine machine_of(const OverheadsFile& file,
                                         const model::Application& application,
                                         ExecutorKind executor, const MachineChoice& choice = {});

/// Returns a machine with only the stated times. Times that are not stated count as zero. Without a
/// dispatch time, every bound is conditional, as with Machine::unmeasured().
RCLRT_ANALYSIS_EXPORT Machine machine_of(const StatedOverheads& stated);

}  // namespace rclrt::analysis
