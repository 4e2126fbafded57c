// SPDX-License-Identifier: Apache-2.0
// The newest value of one writer together with the time from which its data counts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/latest_value.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// The time from which data counts: the time at which the first message of its chain came to be.
struct Origin {
  std::int64_t since_ns = 0;  ///< CLOCK_MONOTONIC; 0: unknown
  /// true: `since_ns` is the true origin of the data. false: the origin is unknown, and `since_ns`
  /// is the time at which a message of the chain was published or arrived.
  bool is_whole = false;
};

/// Returns the origin of data that were made from both: the older one, which is whole if both are.
/// An unknown origin does not count.
constexpr Origin older(Origin a, Origin b) noexcept RCLRT_NONBLOCKING {
  if (a.since_ns == 0 || b.since_ns == 0) {
    return a.since_ns == 0 ? b : a;
  }
  return {std::min(a.since_ns, b.since_ns), a.is_whole && b.is_whole};
}

/// A stored value, as a reader sees it.
template <typename T>
struct Sample {
  T value{};
  Origin origin;
  /// Counts the stored values, from 1. The same number again: no newer value was stored since. A
  /// gap: the values between were replaced before they were read. 0: nothing was stored yet.
  std::uint64_t number = 0;

  /// Returns whether a value was stored; otherwise `value` is the initial one.
  bool is_stored() const noexcept RCLRT_NONBLOCKING { return number != 0; }
  /// Returns the age of the data in nanoseconds: the time since their origin. 0: it is unknown.
  std::int64_t age_ns() const noexcept RCLRT_NONBLOCKING {
    return origin.since_ns != 0 ? monotonic_now_ns() - origin.since_ns : 0;
  }
};

namespace detail {

/// Writes a trace event: the callback that the calling thread runs stores number `number` of the
/// value. Call it before the value can be read, so that no read comes first in the trace. Does
/// nothing without `rclrt trace record`.
RCLRT_REALTIME_EXPORT void trace_stored(const void* value, std::uint64_t number,
                                        Origin origin) noexcept RCLRT_NONBLOCKING;
/// Writes a trace event: it has read number `number`.
RCLRT_REALTIME_EXPORT void trace_read(const void* value,
                                      std::uint64_t number) noexcept RCLRT_NONBLOCKING;

}  // namespace detail

/// One writer stores values with their origins, many readers sample the newest one. Both are
/// wait-free and allocate nothing.
///
///     SampledValue<Pose> pose(1);                  // configure: at most one reader
///     auto reader = pose.reader();
///     pose.store({1, 2}, {release_ns, true});      // the writer
///     const Sample<Pose>& now = reader.view();     // the reader: now.value, now.age_ns()
///
/// Invariant: value, origin and number are one object in one slot of a LatestValue. So a reader
/// always sees the origin of exactly the value that it sees.
///
/// Memory order: that of LatestValue, of which the exchange that publishes a slot is a release, and
/// the `fetch_add` that takes it an acquire. `stored_` belongs to the writer. If several threads
/// write one after the other, something else must order them, as an executor does with the
/// instances of one callback.
///
/// `rclrt trace record` records each store and each read with its number: `rclrt model` then knows
/// which callback reads which value.
template <typename T>
class SampledValue {
 public:
  /// Reads in one thread. Movable. Not thread-safe. Must not outlive the SampledValue.
  class Reader {
   public:
    /// Returns the newest sample, by copy.
    Sample<T> read() noexcept RCLRT_NONBLOCKING { return view(); }
    /// Returns a reference to the newest sample, valid until the next call of this reader.
    const Sample<T>& view() noexcept RCLRT_NONBLOCKING {
      const Sample<T>& sample = reader_.view();
      detail::trace_read(value_, sample.number);
      return sample;
    }
    /// Returns true when a newer value was stored than this reader last read.
    bool changed() const noexcept RCLRT_NONBLOCKING { return reader_.changed(); }

   private:
    friend class SampledValue;
    Reader(const SampledValue* value, LatestValue<Sample<T>>::Reader reader) noexcept
        : value_(value), reader_(std::move(reader)) {}

    const SampledValue* value_;
    LatestValue<Sample<T>>::Reader reader_;
  };

  /// Makes a value for at most `max_readers` readers. Readers see `initial`, with the number 0,
  /// until something is stored. Throws as LatestValue.
  RCLRT_SETUP explicit SampledValue(std::size_t max_readers, const T& initial = T{})
      : latest_(max_readers, Sample<T>{initial, {}, 0}) {}

  /// Returns a reader for one more reading thread. Throws std::length_error if all are in use.
  /// Thread-safe.
  RCLRT_SETUP Reader reader() { return Reader(this, latest_.reader()); }

  /// Stores a value with its origin. Only one thread may store at a time.
  void store(const T& value, Origin origin) noexcept RCLRT_NONBLOCKING {
    ++stored_;
    detail::trace_stored(this, stored_, origin);
    latest_.write(Sample<T>{value, origin, stored_});
  }

 private:
  LatestValue<Sample<T>> latest_;
  std::uint64_t stored_ = 0;  // used only by the writer
};

/// Readers of several values, which it keeps. It can be moved into a new object. Not thread-safe.
template <typename... T>
class SampleReaders {
 public:
  /// Takes one reader of each value. Throws std::length_error if one of them has none left.
  RCLRT_SETUP explicit SampleReaders(const std::shared_ptr<SampledValue<T>>&... values)
      : values_(values...), readers_(values->reader()...) {}
  /// Takes the readers of another object, which is then empty.
  SampleReaders(SampleReaders&&) noexcept = default;
  /// Does not exist: it would end values before their readers.
  SampleReaders& operator=(SampleReaders&&) = delete;
  SampleReaders(const SampleReaders&) = delete;
  SampleReaders& operator=(const SampleReaders&) = delete;
  ~SampleReaders() = default;

  /// Returns the newest sample of each value. They are valid until the next call.
  std::tuple<const Sample<T>&...> view() noexcept RCLRT_NONBLOCKING {
    return view(std::index_sequence_for<T...>());
  }

 private:
  template <std::size_t... I>
  std::tuple<const Sample<T>&...> view(std::index_sequence<I...> /*of T*/) noexcept
      RCLRT_NONBLOCKING {
    return {std::get<I>(readers_).view()...};
  }

  std::tuple<std::shared_ptr<SampledValue<T>>...> values_;  // outlive their readers
  std::tuple<typename SampledValue<T>::Reader...> readers_;
};

namespace detail {

template <typename Result>
struct StoredType {
  using Type = Result;
};
template <typename T>
struct StoredType<Sample<T>> {
  using Type = T;
};

}  // namespace detail

/// The type that is stored for the result of a function: a Sample stands for its value.
template <typename Result>
using StoredType = detail::StoredType<Result>::Type;

}  // namespace rclrt::realtime
