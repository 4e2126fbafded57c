// SPDX-License-Identifier: Apache-2.0
// The record of a callback instance.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "rclrt/recorder/export.hpp"

namespace rclrt::recorder {

/// One instance of a chain: it travels with the messages from the chain's timer to its end.
struct ChainToken {
  std::uint32_t chain = 0;      ///< index into Application::chains
  std::uint64_t instance = 0;   ///< counts the releases of the chain's timer, from 0
  std::int64_t release_ns = 0;  ///< nominal release, CLOCK_MONOTONIC

  bool operator==(const ChainToken&) const = default;
};

/// Up to 16 tokens in place. Trivially copyable, never allocates.
class ChainTokens {
 public:
  static constexpr std::size_t kCapacity = 16;

  /// Returns false if there is no room; the token is then not kept.
  bool add(const ChainToken& token) noexcept {
    if (size_ == kCapacity) {
      return false;
    }
    tokens_[size_++] = token;
    return true;
  }

  std::span<const ChainToken> all() const noexcept { return {tokens_.data(), size_}; }

 private:
  std::array<ChainToken, kCapacity> tokens_{};
  std::size_t size_ = 0;
};

/// The result of an instance of a callback.
enum class Outcome : std::uint8_t {
  kRan,       ///< user code ran
  kBuffered,  ///< a sync input was kept until its partner arrives
  kEmpty,     ///< there was nothing to take
};

/// Stands for a CPU that is not known.
inline constexpr std::int32_t kUnknownCpu = -1;

/// An interval in which an instance ran on one CPU without an interruption. Times are
/// CLOCK_MONOTONIC in nanoseconds.
struct CpuPart {
  std::int32_t cpu = kUnknownCpu;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;

  bool operator==(const CpuPart&) const = default;
};

/// One callback instance. Times are CLOCK_MONOTONIC in nanoseconds.
struct InstanceRecord {
  std::uint64_t id = 0;
  std::uint32_t callback = 0;      ///< index into Application::callbacks
  std::int32_t level = 0;          ///< priority; higher is more urgent
  std::uint32_t thread_track = 0;  ///< index into the names of the display tracks
  std::int64_t release_ns = 0;     ///< a timer's nominal release; otherwise equal to ready_ns
  std::int64_t ready_ns = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t cpu_ns = 0;
  std::uint32_t preemptions = 0;
  std::int32_t first_cpu = kUnknownCpu;  ///< of its thread when it picked up the instance
  std::int32_t last_cpu = kUnknownCpu;   ///< of its thread when the instance ended
  std::uint32_t part_count = 0;          ///< of its parts; 0: not known, or it was not interrupted
  std::uint64_t first_part = 0;          ///< index of its first part in RunResults::cpu_parts
  Outcome outcome = Outcome::kRan;
  std::uint32_t input = 0;    ///< of a synchroniser: the input of the message that it took
  std::int64_t stamp_ns = 0;  ///< ditto: the stamp of that message
  /// A time at which the value that it read was the newest one; 0: not known, its start counts.
  std::int64_t read_ns = 0;
  std::int64_t stored_ns = 0;  ///< when it stored a variable; 0: not known, its end counts
  /// The tokens of the chain instances for which this instance worked. If a synchroniser only
  /// stored the message for a later set, the tokens that the message carries.
  ChainTokens tokens;
};

static_assert(std::is_trivially_copyable_v<InstanceRecord>);

/// Returns the parts of an instance, in order of time; `all`: RunResults::cpu_parts. Empty: they
/// are not known or not in `all`, or the instance was not interrupted.
RCLRT_RECORDER_EXPORT std::span<const CpuPart> parts_of(const InstanceRecord& record,
                                                        std::span<const CpuPart> all);

/// Returns how often the instance continued on another CPU; std::nullopt: its CPUs are not known.
/// Without parts it is 1 if the instance ended on another CPU than it began on: at least once.
RCLRT_RECORDER_EXPORT std::optional<std::uint32_t> migrations_of(const InstanceRecord& record,
                                                                 std::span<const CpuPart> all);

/// The collected data of one instance; `record.thread_track` is not set yet.
struct LoggedInstance {
  InstanceRecord record;
  std::uint32_t executor = 0;  ///< index into Application::executors
  std::uint32_t slot = 0;      ///< which of the level's workers
  /// When the message that it took was published, CLOCK_MONOTONIC; 0: unknown, or no message.
  std::int64_t published_ns = 0;
  /// The callback that published it: an index into Application::callbacks; kNobody: unknown.
  std::uint32_t publisher = kNobody;

  static constexpr std::uint32_t kNobody = UINT32_MAX;
};

static_assert(std::is_trivially_copyable_v<LoggedInstance>);

}  // namespace rclrt::recorder
