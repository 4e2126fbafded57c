// SPDX-License-Identifier: Apache-2.0
// A queued instance.
#pragma once

#include <cstdint>

namespace rclrt::executor {

class Callback;

/// One release that waits or runs. Owned by its callback's credits, or by the queue that holds it.
/// Cache-line aligned: the line moves once, from the thread that releases to the worker.
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
