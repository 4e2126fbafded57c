// SPDX-License-Identifier: Apache-2.0
// Catches a thread doing what a real-time thread must not, in any build.
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

/// What a guard does about a violation.
enum class RtGuardAction : std::uint8_t {
  kCount,   ///< keeps it for `report()`
  kReport,  ///< and prints the report to stderr at the end of the section
  kAbort,   ///< ends the process with the report, at the call itself where there is one
};

/// What counts as a violation. Everything is counted in the report, whatever is set here.
struct RtGuardOptions {
  RtGuardAction action = RtGuardAction::kReport;
  bool allocations = true;  ///< taking memory from the heap or giving it back
  bool lock_waits = true;   ///< waiting for a lock without inheritance or ceiling
  /// Taking such a lock, although nobody held it: the next time somebody may.
  bool free_locks = false;
  bool sleeps = true;                 ///< condition variables, semaphores, timed sleeps
  bool page_faults = true;            ///< minor and major
  bool involuntary_switches = false;  ///< preempted by another thread: not the thread's own doing
  bool voluntary_switches = false;    ///< gave the CPU away, in any system call
};

/// One caught call.
struct RtCall {
  std::string what;                ///< the function, and what was asked of it: "malloc(64)"
  std::vector<std::string> stack;  ///< innermost first; empty when the frames could not be read
};

/// What happened in a guarded section.
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
  std::uint64_t violations = 0;  ///< of the above, those that the options ask for
  std::vector<RtCall> calls;     ///< the first violating calls, `RtGuard::kMaxCalls` at most

  /// Returns whether there was no violation.
  bool clean() const noexcept RCLRT_NONBLOCKING { return violations == 0; }

  /// Returns, for a reader, one line per kind that occurred, then the calls with their stacks.
  RCLRT_SETUP std::string text() const;
};

namespace detail {
/// What the kernel counts for a thread.
struct ThreadUsage {
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t voluntary_switches = 0;
};

enum class CallKind : std::uint8_t { kAllocate, kFree, kLockWait, kFreeLock, kSleep };
inline constexpr std::size_t kCallKinds = 5;

/// Tells the guards of the calling thread of a call of `function`.
RCLRT_REALTIME_EXPORT void note(CallKind kind, const char* function, std::size_t argument) noexcept;
}  // namespace detail

/// Watches the calling thread from construction to destruction:
///
///     RtGuard guard({.action = RtGuardAction::kCount});
///     cycle();
///     const RtReport report = guard.report();
///     EXPECT_TRUE(report.clean()) << report.text();
///
/// For any compiler and any build but a sanitizer's: link `rclrt_realtime::rclrt_realtime_guard`,
/// which puts itself between the program (its shared libraries too) and the C library's malloc,
/// lock and sleep functions. Page faults and context switches are the kernel's counts. A thread
/// that is not guarded pays for a look at a thread-local variable in each of these functions, so
/// link it to tests and trial runs.
///
/// Guards nest: the outer ones see what the inner ones see. `Allow` exempts a piece of a section.
/// Nothing here allocates but `report()`, which is itself exempt; what it returned is given back to
/// the heap by whoever holds it.
///
/// Not seen as calls: the C library's calls of its own functions (a `getline` that allocates is,
/// one of its internal locks is not), futexes and other system calls made directly. They show as
/// voluntary switches when they sleep.
///
/// A guard belongs to the thread that made it, and ends in reverse order of construction.
class RCLRT_REALTIME_EXPORT RtGuard {
 public:
  static constexpr std::size_t kMaxCalls = 8;    ///< calls kept with their stacks
  static constexpr std::size_t kMaxFrames = 24;  ///< frames kept of a stack

  /// Begins the section.
  explicit RtGuard(const RtGuardOptions& options = {}) noexcept RCLRT_NONBLOCKING;
  /// Ends the section and does what the action says, if there was a violation.
  ~RtGuard() noexcept RCLRT_NONBLOCKING;
  RtGuard(const RtGuard&) = delete;
  RtGuard& operator=(const RtGuard&) = delete;

  /// Returns what happened so far. Called by the guarded thread.
  RCLRT_SETUP RtReport report() const;

  /// Returns why calls are not seen in this build; nullptr when they are. Sanitizers have their own
  /// malloc: there only page faults and switches are counted.
  static const char* blind() noexcept RCLRT_NONBLOCKING;

  /// Exempts what the calling thread does while it exists, from every guard.
  class RCLRT_REALTIME_EXPORT Allow {
   public:
    /// Allows it; `reason` is for the reader of the code.
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
  detail::ThreadUsage before_;  // last: what it counted up to the end of the constructor
};

}  // namespace rclrt::realtime
