// SPDX-License-Identifier: Apache-2.0
// A queued instance.
#pragma once

#include <cstdint>

namespace rclrt::executor {

class Callback;

/// One release of a callback that waits or runs. The owner is the pool of the callback's credits,
/// or the queue that holds the instance. Cache-line aligned: the line moves once, from the thread
/// that releases to the worker.
struct alignas(64) Instance {
  Callback* callback = nullptr;
  std::int64_t release_ns = 0;
  std::int64_t ready_ns = 0;
  std::uint64_t order = 0;   ///< its place in the sequence of its lane, given by the lane
  Instance* next = nullptr;  ///< the link of the queue that holds it
  int queued_level = 0;      ///< the level at which it was queued; see LevelList
  // Used if it is the first of its level in a LevelList.
  Instance* last = nullptr;   ///< the last of its level
  Instance* below = nullptr;  ///< the first of the next less urgent level
};

}  // namespace rclrt::executor
