// SPDX-License-Identifier: Apache-2.0
// The latest instances of an executor: the running ones, and as many ended ones as fit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "rclrt/executor/blame.hpp"

namespace rclrt::executor {

/// A ring of a fixed size, written and read by any thread, wait-free. An instance has its place
/// from its start on. The place of a running instance is skipped, so a long instance is not
/// overwritten by many short ones.
///
/// Each place is a seqlock: `state_` is its ticket and its phase. A writer takes a place by setting
/// kFilling with a compare-and-swap, and owns the fields until it sets another phase. A reader
/// loads the state before and after the fields, and uses them only if the state is the same. Fields
/// are stored with release and loaded with acquire: a reader that loads a field of a later owner
/// also sees that the state has changed.
class InstanceHistory {
 public:
  /// Throws std::invalid_argument when `capacity` is 0.
  RCLRT_SETUP explicit InstanceHistory(std::size_t capacity);

  struct Place;

  /// Records the start of an instance. `callback` must outlive the history. All of `interval` but
  /// its end is copied. Returns nullptr when no place was found: the instance is then not
  /// remembered.
  Place* begin(const ExecutionInterval& interval,
               const std::string& callback) noexcept RCLRT_NONBLOCKING;
  /// Records the end of the instance.
  static void end(Place& place, std::int64_t end_ns,
                  std::int64_t cpu_ns) noexcept RCLRT_NONBLOCKING;

  /// Copies the instances that ran at some time from `from_ns` to `until_ns`, except instance
  /// `without`. Running instances end at `until_ns` in the copy. Returns their number. An instance
  /// that is written meanwhile may be missing.
  std::size_t copy(std::int64_t from_ns, std::int64_t until_ns, std::uint64_t without,
                   std::span<ExecutionInterval> to) const noexcept RCLRT_NONBLOCKING;

  std::size_t capacity() const noexcept RCLRT_NONBLOCKING { return capacity_; }

 private:
  const std::size_t capacity_;
  const std::unique_ptr<Place[]> places_;
  std::atomic<std::uint64_t> next_{0};  // relaxed: only generates tickets
};

struct alignas(64) InstanceHistory::Place {
  std::atomic<std::uint64_t> state{0};
  std::atomic<std::uint64_t> id{0};
  std::atomic<const std::string*> callback{nullptr};
  std::atomic<const void*> group{nullptr};
  std::atomic<int> level{0};
  std::atomic<int> priority{0};
  std::atomic<std::int64_t> deadline_ns{0};
  std::atomic<std::int64_t> start_ns{0};
  std::atomic<std::int64_t> end_ns{0};
  std::atomic<std::int64_t> cpu_ns{0};
};

}  // namespace rclrt::executor
