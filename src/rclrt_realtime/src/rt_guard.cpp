// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/rt_guard.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "rt_guard_hooks.hpp"

namespace rclrt::realtime {

namespace detail {
constinit thread_local RtGuard* t_guard = nullptr;
}

namespace {

// Takes a backtrace at the start of the program: the first backtrace of a process loads a library,
// and later ones neither allocate nor lock.
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): backtrace() is C and throws nothing
[[maybe_unused]] const int kUnwinderIsLoaded = []() noexcept {
  void* frame = nullptr;
  return backtrace(&frame, 1);
}();

/// The guard's own frames on top of a caught call: `note` and the interposed function.
constexpr std::size_t kOwnFrames = 2;

detail::ThreadUsage usage_now() noexcept RCLRT_NONBLOCKING {
  rusage usage{};
  RCLRT_TRUST("reads counters of the calling thread", getrusage(RUSAGE_THREAD, &usage));
  return {static_cast<std::uint64_t>(usage.ru_minflt), static_cast<std::uint64_t>(usage.ru_majflt),
          static_cast<std::uint64_t>(usage.ru_nivcsw), static_cast<std::uint64_t>(usage.ru_nvcsw)};
}

detail::ThreadUsage operator-(const detail::ThreadUsage& a, const detail::ThreadUsage& b) {
  return {a.minor_faults - b.minor_faults, a.major_faults - b.major_faults,
          a.involuntary_switches - b.involuntary_switches,
          a.voluntary_switches - b.voluntary_switches};
}

detail::ThreadUsage operator+(const detail::ThreadUsage& a, const detail::ThreadUsage& b) {
  return {a.minor_faults + b.minor_faults, a.major_faults + b.major_faults,
          a.involuntary_switches + b.involuntary_switches,
          a.voluntary_switches + b.voluntary_switches};
}

constexpr std::size_t index(detail::CallKind kind) { return static_cast<std::size_t>(kind); }

std::string frame_text(void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%p", address);
    return text.data();
  }
  // The form that addr2line and similar tools understand; the name, if the module exports it.
  std::array<char, 32> offset{};
  const auto distance = static_cast<char*>(address) - static_cast<char*>(info.dli_fbase);
  std::snprintf(offset.data(), offset.size(), "+0x%tx", distance);
  std::string text = std::string(info.dli_fname) + offset.data();
  if (info.dli_sname != nullptr) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> demangled(
        abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status), std::free);
    text += " " + std::string(status == 0 ? demangled.get() : info.dli_sname);
  }
  return text;
}

void append_line(std::string& text, const char* what, std::uint64_t count) {
  if (count != 0) {
    text += "  " + std::to_string(count) + " " + what + "\n";
  }
}

}  // namespace

std::string RtReport::text() const {
  std::string text = "rclrt guard: " + std::to_string(violations) + " violation(s)\n";
  append_line(text, "allocation(s)", allocations);
  append_line(text, "deallocation(s)", deallocations);
  append_line(text, "wait(s) for a lock without priority protocol", lock_waits);
  append_line(text, "lock(s) without priority protocol taken", free_locks);
  append_line(text, "sleep(s)", sleeps);
  append_line(text, "minor page fault(s)", minor_faults);
  append_line(text, "major page fault(s)", major_faults);
  append_line(text, "involuntary context switch(es)", involuntary_switches);
  append_line(text, "voluntary context switch(es)", voluntary_switches);
  for (const RtCall& call : calls) {
    text += "  " + call.what + "\n";
    for (const std::string& frame : call.stack) {
      text += "      " + frame + "\n";
    }
  }
  return text;
}

namespace detail {

// Not inlined: a stack begins with this frame.
[[gnu::noinline]] void note(CallKind kind, const char* function, std::size_t argument) noexcept {
  RtGuard* const innermost = std::exchange(t_guard, nullptr);  // calls made here do not count
  RtGuard::Call call{function, argument, 0, {}};
  RtGuard* abort_for = nullptr;
  for (RtGuard* guard = innermost; guard != nullptr; guard = guard->outer_) {
    ++guard->counts_[index(kind)];
    if (!guard->asks_for(kind)) {
      continue;
    }
    if (guard->calls_kept_ < RtGuard::kMaxCalls) {
      if (call.depth == 0) {
        call.depth = static_cast<std::size_t>(
            backtrace(call.frames.data(), static_cast<int>(call.frames.size())));
      }
      guard->calls_[guard->calls_kept_++] = call;
    }
    if (guard->options_.action == RtGuardAction::kAbort) {
      abort_for = guard;
    }
  }
  if (abort_for != nullptr) {
    abort_for->print_report(usage_now());
    std::abort();
  }
  t_guard = innermost;
}

}  // namespace detail

RtGuard::RtGuard(const RtGuardOptions& options) noexcept RCLRT_NONBLOCKING
    : options_(options),
      outer_(RCLRT_TRUST("a constant-initialised variable of the thread", detail::t_guard)) {
  before_ = usage_now();
  RCLRT_TRUST("a constant-initialised variable of the thread", detail::t_guard = this);
}

RtGuard::~RtGuard() noexcept RCLRT_NONBLOCKING {
  const detail::ThreadUsage until_now = usage_now();
  RCLRT_TRUST("a constant-initialised variable of the thread", detail::t_guard = nullptr);
  RCLRT_TRUST("allocates and prints after a violation only", act(until_now));
  RCLRT_TRUST("a constant-initialised variable of the thread", detail::t_guard = outer_);
}

void RtGuard::act(const detail::ThreadUsage& until_now) const noexcept {
  if (options_.action != RtGuardAction::kCount && !make_report(until_now).clean()) {
    print_report(until_now);
    if (options_.action == RtGuardAction::kAbort) {
      std::abort();
    }
  }
}

bool RtGuard::asks_for(detail::CallKind kind) const noexcept {
  switch (kind) {
    case detail::CallKind::kAllocate:
    case detail::CallKind::kFree:
      return options_.allocations;
    case detail::CallKind::kLockWait:
      return options_.lock_waits;
    case detail::CallKind::kFreeLock:
      return options_.free_locks;
    case detail::CallKind::kSleep:
      return options_.sleeps;
  }
  return false;
}

RtReport RtGuard::report() const {
  const detail::ThreadUsage until_now = usage_now();
  const Allow ourselves("making the report");
  return make_report(until_now);
}

RtReport RtGuard::make_report(const detail::ThreadUsage& until_now) const {
  using detail::CallKind;
  const detail::ThreadUsage usage = until_now - before_ - exempt_;
  RtReport report;
  report.allocations = counts_[index(CallKind::kAllocate)];
  report.deallocations = counts_[index(CallKind::kFree)];
  report.lock_waits = counts_[index(CallKind::kLockWait)];
  report.free_locks = counts_[index(CallKind::kFreeLock)];
  report.sleeps = counts_[index(CallKind::kSleep)];
  report.minor_faults = usage.minor_faults;
  report.major_faults = usage.major_faults;
  report.involuntary_switches = usage.involuntary_switches;
  report.voluntary_switches = usage.voluntary_switches;
  for (std::size_t kind = 0; kind < detail::kCallKinds; ++kind) {
    if (asks_for(static_cast<CallKind>(kind))) {
      report.violations += counts_[kind];
    }
  }
  if (options_.page_faults) {
    report.violations += usage.minor_faults + usage.major_faults;
  }
  if (options_.involuntary_switches) {
    report.violations += usage.involuntary_switches;
  }
  if (options_.voluntary_switches) {
    report.violations += usage.voluntary_switches;
  }
  for (std::size_t i = 0; i < calls_kept_; ++i) {
    const Call& call = calls_[i];
    RtCall& shown = report.calls.emplace_back();
    shown.what = std::string(call.function) + "(" +
                 (call.argument != 0 ? std::to_string(call.argument) : "") + ")";
    for (std::size_t frame = kOwnFrames; frame < call.depth; ++frame) {
      shown.stack.push_back(frame_text(call.frames[frame]));
    }
  }
  return report;
}

void RtGuard::print_report(const detail::ThreadUsage& until_now) const noexcept {
  std::fputs(make_report(until_now).text().c_str(), stderr);
}

const char* RtGuard::blind() noexcept RCLRT_NONBLOCKING { return detail::why_no_hooks(); }

RtGuard::Allow::Allow(const char* /*reason*/) noexcept RCLRT_NONBLOCKING
    : suspended_(RCLRT_TRUST("a constant-initialised variable of the thread", detail::t_guard)),
      before_(usage_now()) {
  RCLRT_TRUST("a constant-initialised variable of the thread", detail::t_guard = nullptr);
}

RtGuard::Allow::~Allow() noexcept RCLRT_NONBLOCKING {
  const detail::ThreadUsage exempt = usage_now() - before_;
  for (RtGuard* guard = suspended_; guard != nullptr; guard = guard->outer_) {
    guard->exempt_ = guard->exempt_ + exempt;
  }
  RCLRT_TRUST("a constant-initialised variable of the thread", detail::t_guard = suspended_);
}

}  // namespace rclrt::realtime
