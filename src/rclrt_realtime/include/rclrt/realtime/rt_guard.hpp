// SPDX-License-Identifier: Apache-2.0
// Detects operations of a thread that are not real-time safe, in any build.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// The reaction of a guard to a violation.
enum class RtGuardAction : std::uint8_t {
  kCount,   ///< keeps it for `report()`
  kReport,  ///< also prints the report to stderr at the end of the section
  kAbort,   ///< terminates the process with the report, at the call itself if there is one
};

/// The events that are violations. The report counts all events, whatever is set here.
struct RtGuardOptions {
  RtGuardAction action = RtGuardAction::kReport;
  bool allocations = true;  ///< taking memory from the heap or giving it back
  bool lock_waits = true;   ///< waiting for a lock without inheritance or ceiling
  /// Taking such a lock while it is free: the next time another thread may hold it.
  bool free_locks = false;
  bool sleeps = true;                 ///< condition variables, semaphores, timed sleeps
  bool page_faults = true;            ///< minor and major
  bool involuntary_switches = false;  ///< preempted: not caused by the guarded thread
  bool voluntary_switches = false;    ///< gave the CPU away, in any system call
};

/// One caught call.
struct RtCall {
  std::string what;                ///< the function and its argument: "malloc(64)"
  std::vector<std::string> stack;  ///< innermost first; empty when the frames could not be read
};

/// The events of a guarded section.
struct RCLRT_REALTIME_EXPORT RtReport {
  std::uint64_t allocations = 0;    ///< malloc, realloc, new and their like
  std::uint64_t deallocations = 0;  ///< free and delete
  std::uint64_t lock_waits = 0;     ///< waits for a lock without inheritance or ceiling
  std::uint64_t free_locks = 0;     ///< such locks taken without a wait
  std::uint64_t sleeps = 0;
  std::uint64_t minor_faults = 0;  ///< pages mapped on first touch
  std::uint64_t major_faults = 0;  ///< pages read from a disk
  std::uint64_t involuntary_switches = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t violations = 0;  ///< of the above, those that the options select
  std::vector<RtCall> calls;     ///< the first violating calls, `RtGuard::kMaxCalls` at most

  /// Returns whether there was no violation.
  bool clean() const noexcept RCLRT_NONBLOCKING { return violations == 0; }

  /// Returns the report as text: one line per kind that occurred, then the calls with their stacks.
  RCLRT_SETUP std::string text() const;
};

namespace detail {
/// The kernel's counters of a thread.
struct ThreadUsage {
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t voluntary_switches = 0;
};

enum class CallKind : std::uint8_t { kAllocate, kFree, kLockWait, kFreeLock, kSleep };
inline constexpr std::size_t kCallKinds = 5;

/// Reports a call of `function` to the guards of the calling thread.
RCLRT_REALTIME_EXPORT void note(CallKind kind, const char* function, std::size_t argument) noexcept;
}  // namespace detail

/// Watches the calling thread from construction to destruction:
///
///     RtGuard guard({.action = RtGuardAction::kCount});
///     cycle();
///     const RtReport report = guard.report();
///     EXPECT_TRUE(report.clean()) << report.text();
///
/// Works with any compiler and any build except a sanitizer's. Link
/// `rclrt_realtime::rclrt_realtime_guard`: it interposes the C library's malloc, lock and sleep
/// functions for the program and its shared libraries. Page faults and context switches are the
/// kernel's counts. In a thread that is not guarded, each of these functions still reads a
/// thread-local variable. So link it only to tests and trial runs.
///
/// Guards nest: an outer guard sees everything that an inner one sees. `Allow` exempts a part of a
/// section. Only `report()` allocates, and it is exempt. Destroying the returned report frees
/// memory, which is not exempt.
///
/// Not detected as calls: the C library's calls of its own functions (an allocation by `getline` is
/// detected, an internal lock is not), and futexes and other system calls made directly. They
/// appear as voluntary switches if they sleep.
///
/// A guard belongs to the thread that constructed it. Guards must be destroyed in reverse order of
/// construction.
class RCLRT_REALTIME_EXPORT RtGuard {
 public:
  static constexpr std::size_t kMaxCalls = 8;    ///< calls kept with their stacks
  static constexpr std::size_t kMaxFrames = 24;  ///< frames kept of a stack

  /// Begins the section.
  explicit RtGuard(const RtGuardOptions& options = {}) noexcept RCLRT_NONBLOCKING;
  /// Ends the section. If there was a violation, performs the action of the options.
  ~RtGuard() noexcept RCLRT_NONBLOCKING;
  RtGuard(const RtGuard&) = delete;
  RtGuard& operator=(const RtGuard&) = delete;

  /// Returns the events so far. Only the guarded thread may call it.
  RCLRT_SETUP RtReport report() const;

  /// Returns the reason why this build does not detect malloc, locks and sleeps; nullptr if it
  /// detects them. A sanitizer with its own malloc is such a reason: then only page faults and
  /// context switches are counted.
  static const char* blind() noexcept RCLRT_NONBLOCKING;

  /// While it exists, exempts the calling thread from every guard.
  class RCLRT_REALTIME_EXPORT Allow {
   public:
    /// Begins the exemption; `reason` is for the reader of the code.
    explicit Allow(const char* reason) noexcept RCLRT_NONBLOCKING;
    /// Ends the exemption.
    ~Allow() noexcept RCLRT_NONBLOCKING;
    Allow(const Allow&) = delete;
    Allow& operator=(const Allow&) = delete;

   private:
    RtGuard* const suspended_;
    detail::ThreadUsage before_;
  };

 private:
  friend void detail::note(detail::CallKind kind, const char* function,
                           std::size_t argument) noexcept;

  struct Call {
    const char* function = nullptr;
    std::size_t argument = 0;
    std::size_t depth = 0;
    std::array<void*, kMaxFrames> frames{};
  };

  void act(const detail::ThreadUsage& until_now) const noexcept;
  bool asks_for(detail::CallKind kind) const noexcept;
  RtReport make_report(const detail::ThreadUsage& until_now) const;
  void print_report(const detail::ThreadUsage& until_now) const noexcept;

  const RtGuardOptions options_;
  RtGuard* const outer_;
  std::array<std::uint64_t, detail::kCallKinds> counts_{};
  std::size_t calls_kept_ = 0;
  std::array<Call, kMaxCalls> calls_{};
  detail::ThreadUsage exempt_;  // what the kernel counted in Allow scopes
  detail::ThreadUsage before_;  // last: the kernel's counts at the end of the constructor
};

}  // namespace rclrt::realtime
