// SPDX-License-Identifier: Apache-2.0
// The events of a trace, independent of their source, and the interface of its sinks.
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

/// The kind of an event.
enum class TraceKind : std::uint8_t {
  kSpan,     ///< from begin_ns to end_ns
  kBegin,    ///< a span begins at begin_ns
  kEnd,      ///< the innermost span of this name ends at begin_ns
  kInstant,  ///< something happened at begin_ns
  kCounter,  ///< a quantity is `number` from begin_ns on
  kDropped,  ///< by begin_ns, `value` records of the thread were lost in total; it has no name
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

/// Maps the numbers in trace events to names and threads. It only grows: about 100 bytes for each
/// name or thread. Thread-safe. The references that it returns are valid as long as the dictionary
/// exists.
class RCLRT_REALTIME_EXPORT TraceDictionary {
 public:
  /// The text of a TraceName.
  struct Name {
    std::string text;
    std::string category;  ///< for a counter: its unit
  };
  /// The properties of a TraceThread.
  struct Thread {
    std::string name;
    pid_t tid = 0;
  };

  /// Returns the number of a name; equal texts and categories have the same number. Throws
  /// std::length_error after 65 536 names: use one name for each kind of event, not for each event.
  RCLRT_SETUP TraceName name(std::string_view text, std::string_view category = {});

  /// Adds a thread and returns its number.
  RCLRT_SETUP TraceThread thread(std::string_view name, pid_t tid);
  /// Sets the id of a thread, which is known only once it runs.
  RCLRT_SETUP void set_tid(TraceThread thread, pid_t tid);

  /// Returns the texts of a name by its number. Throws std::out_of_range if the number is not from
  /// this dictionary.
  RCLRT_SETUP const Name& operator[](TraceName name) const;
  RCLRT_SETUP Thread operator[](TraceThread thread) const;

 private:
  mutable std::mutex mutex_;  // guards what follows; a deque moves no element when it grows
  std::deque<Name> names_;
  std::deque<Thread> threads_;
  std::map<std::pair<std::string, std::string>, TraceName> numbers_;
};

/// Receives events on the thread that drains the rings. That is not a real-time thread, so a sink
/// may allocate, write and sleep; meanwhile further events wait in the rings. A sink that throws is
/// not called again.
class RCLRT_REALTIME_EXPORT TraceSink {
 public:
  virtual ~TraceSink() = default;

  /// Receives events of one thread, sorted by their begin; of spans with the same begin, the
  /// enclosing one first. A span is passed only after it has ended, so an enclosing span may come
  /// in a later call than the spans within it.
  RCLRT_SETUP virtual void write(std::span<const TraceEvent> events,
                                 const TraceDictionary& dictionary) = 0;

  /// Notifies the sink that all events recorded before `now_ns` have been passed to `write`. (A
  /// span is recorded when it ends.)
  RCLRT_SETUP virtual void pass_done(std::int64_t now_ns, const TraceDictionary& dictionary) = 0;

  /// Notifies the sink that no more events will follow.
  RCLRT_SETUP virtual void finish(const TraceDictionary& dictionary) = 0;
};

}  // namespace rclrt::realtime
