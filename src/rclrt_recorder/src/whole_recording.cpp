// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/whole_recording.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace rclrt::recorder {

namespace {

/// Appends `added`, unless there are more than `most` elements then. Returns whether it did.
template <typename Element>
bool append(std::vector<Element>& all, std::span<const Element> added, std::size_t most) noexcept {
  if (added.size() > most || all.size() > most - added.size()) {
    return false;
  }
  try {
    all.insert(all.end(), added.begin(), added.end());
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

void WholeRecording::add(std::span<const LoggedInstance> instances) noexcept {
  if (is_whole_ && !append(instances_, instances, most_instances_)) {
    clear();
  }
}

void WholeRecording::add_stalls(std::span<const HostStall> stalls) noexcept {
  if (is_whole_ && !append(stalls_, stalls, kMostStalls)) {
    clear();
  }
}

void WholeRecording::clear() noexcept {
  is_whole_ = false;
  // An assignment of {} would keep their memory.
  std::vector<LoggedInstance>().swap(instances_);
  std::vector<HostStall>().swap(stalls_);
}

std::vector<LoggedInstance> WholeRecording::take_instances() {
  return std::exchange(instances_, {});
}

std::vector<HostStall> WholeRecording::take_stalls() {
  // Each portion is in the order of starts, but a stall of another CPU may have begun earlier.
  std::ranges::sort(stalls_, {}, &HostStall::start_ns);
  return std::exchange(stalls_, {});
}

}  // namespace rclrt::recorder
