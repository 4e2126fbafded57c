// SPDX-License-Identifier: Apache-2.0
// A ring of the latest activities, running and ended, in the memory of one process or of several.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "rclrt/realtime/atomics.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// The constants of a SeqlockRing.
struct SeqlockRingShape {
  std::size_t places = 0;                          ///< 0: an argument of the constructor
  std::size_t alignment = alignof(std::uint64_t);  ///< of each place
  int tries = 16;                                  ///< places that `claim` looks at
};

/// Records activities that start and end: as many of the latest ones as there are places. Any
/// number of threads write and read, wait-free. The place of a running activity is skipped, so many
/// short activities do not overwrite a long one.
///
///     using Ring = SeqlockRing<Start, End, SeqlockRingShape{.places = 256}>;
///     Ring::Place* const place = ring.claim();       // nullptr: the next places are all in use
///     Ring::start(*place, Start{now}, End{kNoEnd});  // readers see it from here on
///     Ring::end(*place, End{later});                 // its place may be reused from here on
///
/// Each place is a seqlock (H. Boehm, "Can seqlocks get along with programming language memory
/// models?", MSPC 2012). Its state is one word: a ticket and a phase, claimed → running → ended.
///
/// Invariants:
/// * Tickets are unique and grow: an activity that is claimed after another one, on the same thread
///   or on a thread that preempts that one, has the greater ticket.
/// * From its claim to its end only the thread that claimed a place writes to it.
/// * A reader uses the values only if the ticket was the same before and after it read them. Values
///   are written with release and read with acquire: a reader that gets a value of a later activity
///   also gets the later state, and rejects the place. An `End` that is written meanwhile may be
///   read in parts; each part is of the same activity.
///
/// With a fixed number of places the ring is standard-layout and may lie in memory that processes
/// share, where another process may have written anything: every index is taken modulo the constant
/// number of places, every loop has a bound, and a value is only a value. The user of the ring must
/// not trust what it reads either.
///
/// `Start` and `End` are copied word by word. For `Atomics` see atomics.hpp;
/// `test/interleaving_seqlock_test.cpp` runs this code under every interleaving of a small case.
template <typename Start, typename End, SeqlockRingShape kShape = SeqlockRingShape{},
          typename Atomics = StdAtomics>
class SeqlockRing {
  using Word = Atomics::template Atomic<std::uint64_t>;
  template <typename T>
  static constexpr std::size_t kWordsOf =
      (sizeof(T) + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
  static constexpr bool kIsFixed = kShape.places != 0;

  // Without padding every bit of the words is defined.
  static_assert(std::is_trivially_copyable_v<Start> && std::is_trivially_copyable_v<End>);
  static_assert(std::has_unique_object_representations_v<Start> &&
                std::has_unique_object_representations_v<End>);
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  static_assert(kShape.tries > 0);

 public:
  /// The record of one activity.
  class alignas(kShape.alignment) Place {
    friend SeqlockRing;
    Word state_{0};  // kPhases × ticket + phase; 0: never used
    std::array<Word, kWordsOf<Start>> start_{};
    std::array<Word, kWordsOf<End>> end_{};
  };

  /// A copy of a record.
  struct Snapshot {
    std::uint64_t ticket;
    Start start;
    End end;  ///< the value that `start` or `end` got
  };

  SeqlockRing()
    requires kIsFixed
  = default;
  /// Makes a ring with `places` places, at least one.
  RCLRT_SETUP explicit SeqlockRing(std::size_t places)
    requires(!kIsFixed)
      : places_(places) {}
  SeqlockRing(const SeqlockRing&) = delete;
  SeqlockRing& operator=(const SeqlockRing&) = delete;

  /// Takes a place for an activity that is about to start. Returns nullptr if the next places all
  /// have running activities (`kShape.tries` places are tried). Any thread then calls `start` and
  /// `end`.
  Place* claim() noexcept RCLRT_NONBLOCKING {
    for (int i = 0; i < kShape.tries; ++i) {
      // relaxed: generates unique numbers and orders nothing
      const std::uint64_t ticket = 1 + next_.fetch_add(1, std::memory_order_relaxed);
      Place& place = places_[ticket % size()];
      // relaxed: only predicts the result of the compare-and-swap
      std::uint64_t state = place.state_.load(std::memory_order_relaxed);
      // PAIRS WITH: end(): the writes of the place's last owner happen before those of the next.
      if (phase_of(state) == kEnded && place.state_.compare_exchange_strong(
                                           state, ticket * kPhases + kClaimed,
                                           std::memory_order_acquire, std::memory_order_relaxed)) {
        return &place;
      }
    }
    return nullptr;
  }

  /// Makes the activity of a claimed place visible to readers. They read `until_ended` as its end
  /// until `end` stores the real one.
  static void start(Place& place, const Start& start,
                    const End& until_ended) noexcept RCLRT_NONBLOCKING {
    store(place.start_, start);
    store(place.end_, until_ended);
    change_phase(place, kClaimed, kRunning);
  }

  /// Ends the activity of a started place.
  static void end(Place& place, const End& end) noexcept RCLRT_NONBLOCKING {
    store(place.end_, end);
    change_phase(place, kRunning, kEnded);
  }

  /// Returns the newest ticket that `claim` has drawn; 0: none.
  std::uint64_t newest() const noexcept RCLRT_NONBLOCKING {
    return next_.load(std::memory_order_relaxed);  // a hint: `read` checks the ticket of the place
  }

  /// Returns the activity at the place of `ticket`; that may be a later activity with another
  /// ticket. Returns std::nullopt if the place has none, if its activity has not started, or if the
  /// activity is replaced during the call.
  std::optional<Snapshot> read(std::uint64_t ticket) const noexcept RCLRT_NONBLOCKING {
    const Place& place = places_[ticket % size()];
    // PAIRS WITH: change_phase(): the values of this activity are visible, or later ones.
    const std::uint64_t before = place.state_.load(std::memory_order_acquire);
    const std::uint64_t phase = phase_of(before);
    if (before == kNeverUsed || (phase != kRunning && phase != kEnded)) {
      return std::nullopt;
    }
    const Snapshot snapshot{before / kPhases, load<Start>(place.start_), load<End>(place.end_)};
    // relaxed is enough, because the acquire loads of the values come before this load. Only the
    // ticket is compared: whether running or ended, it is the same activity.
    if (place.state_.load(std::memory_order_relaxed) / kPhases != snapshot.ticket) {
      return std::nullopt;
    }
    return snapshot;
  }

  /// Returns the number of places.
  std::size_t size() const noexcept RCLRT_NONBLOCKING { return places_.size(); }

 private:
  enum Phase : std::uint64_t { kEnded = 0, kClaimed = 1, kRunning = 2 };
  static constexpr std::uint64_t kPhases = 4;
  static constexpr std::uint64_t kNeverUsed = 0;

  static std::uint64_t phase_of(std::uint64_t state) noexcept RCLRT_NONBLOCKING {
    return state % kPhases;
  }

  /// Stores another phase. Called only by the owner of the place.
  static void change_phase(Place& place, Phase from, Phase to) noexcept RCLRT_NONBLOCKING {
    // relaxed: the owner itself has written it
    const std::uint64_t state = place.state_.load(std::memory_order_relaxed);
    // PAIRS WITH: read() and, at the end, claim()
    place.state_.store(state - from + to, std::memory_order_release);
  }

  template <typename T, std::size_t kWords>
  static void store(std::array<Word, kWords>& words, const T& value) noexcept RCLRT_NONBLOCKING {
    std::array<std::uint64_t, kWords> bits{};
    std::memcpy(bits.data(), &value, sizeof value);
    for (std::size_t i = 0; i < kWords; ++i) {
      words[i].store(bits[i], std::memory_order_release);  // PAIRS WITH: load()
    }
  }

  template <typename T, std::size_t kWords>
  static T load(const std::array<Word, kWords>& words) noexcept RCLRT_NONBLOCKING {
    std::array<std::uint64_t, kWords> bits{};
    for (std::size_t i = 0; i < kWords; ++i) {
      // PAIRS WITH: store(): a value of a later activity brings the state of its claim with it.
      bits[i] = words[i].load(std::memory_order_acquire);
    }
    T value{};
    std::memcpy(static_cast<void*>(&value), bits.data(), sizeof value);
    return value;
  }

  using Places = std::conditional_t<kIsFixed, std::array<Place, kShape.places>, std::vector<Place>>;

  Word next_{0};  // the newest ticket
  Places places_{};
};

}  // namespace rclrt::realtime
