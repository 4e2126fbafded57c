// SPDX-License-Identifier: Apache-2.0
// What a trace consists of, whoever records it, and where it goes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// A name or thread of one TraceDictionary.
enum class TraceName : std::uint16_t {};
/// A thread of one TraceDictionary.
enum class TraceThread : std::uint32_t {};

/// What an event says.
enum class TraceKind : std::uint8_t {
  kSpan,     ///< from begin_ns to end_ns
  kBegin,    ///< a span begins at begin_ns
  kEnd,      ///< the innermost span of this name ends at begin_ns
  kInstant,  ///< something happened at begin_ns
  kCounter,  ///< a quantity is `number` from begin_ns on
  kDropped,  ///< by begin_ns `value` records of the thread were lost in all; it has no name
};

/// One event of one thread. Times are CLOCK_MONOTONIC nanoseconds.
struct TraceEvent {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t value = 0;
  double number = 0;
  TraceThread thread{};
  std::uint32_t flow = 0;  ///< arrows lead from each event of a flow to its next; 0: none
  TraceName name{};
  TraceKind kind = TraceKind::kInstant;
  bool has_value = false;
  bool last_of_flow = false;
};

/// The texts behind the numbers in events. Grows only: about 100 bytes a name or thread.
/// Thread-safe; what it returns stays valid as long as the dictionary.
class RCLRT_REALTIME_EXPORT TraceDictionary {
 public:
  /// The text behind a TraceName.
  struct Name {
    std::string text;
    std::string category;  ///< of a counter: its unit
  };
  /// What is known of a TraceThread.
  struct Thread {
    std::string name;
    pid_t tid = 0;
  };

  /// Returns the number of a name; the same one for the same two texts. Throws std::length_error
  /// after 65 536 names: names are for kinds of things, not for things.
  RCLRT_SETUP TraceName name(std::string_view text, std::string_view category = {});

  /// Adds a thread and returns its number.
  RCLRT_SETUP TraceThread thread(std::string_view name, pid_t tid);
  /// Sets the id of a thread, which is known only once it runs.
  RCLRT_SETUP void set_tid(TraceThread thread, pid_t tid);

  /// Returns the entry of a number. These throw std::out_of_range for a number that is not theirs.
  RCLRT_SETUP const Name& operator[](TraceName name) const;
  RCLRT_SETUP Thread operator[](TraceThread thread) const;

 private:
  mutable std::mutex mutex_;  // guards what follows; a deque moves no element when it grows
  std::deque<Name> names_;
  std::deque<Thread> threads_;
  std::map<std::pair<std::string, std::string>, TraceName> numbers_;
};

/// Receives events on a drain thread: no real-time thread, so it may allocate, write and sleep.
/// While it does, the rings fill. A sink that throws is told nothing more.
class RCLRT_REALTIME_EXPORT TraceSink {
 public:
  virtual ~TraceSink() = default;

  /// Takes the events of one thread ordered by begin, enclosing spans first. A span comes when it
  /// has ended, hence after those it encloses that ended in an earlier call.
  RCLRT_SETUP virtual void write(std::span<const TraceEvent> events,
                                 const TraceDictionary& dictionary) = 0;

  /// Tells that all that was recorded before `now_ns` has been written; a span is recorded when it
  /// ends.
  RCLRT_SETUP virtual void pass_done(std::int64_t now_ns, const TraceDictionary& dictionary) = 0;

  /// Tells that nothing more will come.
  RCLRT_SETUP virtual void finish(const TraceDictionary& dictionary) = 0;
};

}  // namespace rclrt::realtime
