// SPDX-License-Identifier: Apache-2.0
#include "instance_history.hpp"

#include <algorithm>
#include <stdexcept>

namespace rclrt::executor {

namespace {

std::size_t checked_capacity(std::size_t capacity) {
  if (capacity == 0) {
    throw std::invalid_argument("the history of instances needs a capacity of at least 1");
  }
  return capacity;
}

}  // namespace

InstanceHistory::InstanceHistory(std::size_t capacity) : ring_(checked_capacity(capacity)) {}

InstanceHistory::Place* InstanceHistory::begin(
    const ExecutionInterval& interval, const std::string& callback) noexcept RCLRT_NONBLOCKING {
  Place* const place = ring_.claim();
  if (place != nullptr) {
    Ring::start(*place,
                {.id = interval.id,
                 .callback = &callback,
                 .group = interval.group,
                 .level = interval.level,
                 .priority = interval.priority,
                 .deadline_ns = interval.deadline_ns,
                 .start_ns = interval.start_ns},
                {.end_ns = INT64_MAX, .cpu_ns = -1});
  }
  return place;
}

std::size_t InstanceHistory::copy(
    std::int64_t from_ns, std::int64_t until_ns, std::uint64_t without,
    std::span<ExecutionInterval> to) const noexcept RCLRT_NONBLOCKING {
  std::size_t size = 0;
  for (std::size_t i = 0; i < capacity() && size < to.size(); ++i) {
    const auto found = ring_.read(i);
    if (!found || found->end.end_ns <= from_ns || found->start.start_ns >= until_ns ||
        found->start.id == without) {
      continue;
    }
    ExecutionInterval& interval = to[size++];
    interval.id = found->start.id;
    interval.callback = *found->start.callback;
    interval.group = found->start.group;
    interval.level = found->start.level;
    interval.priority = found->start.priority;
    interval.deadline_ns = found->start.deadline_ns;
    interval.start_ns = found->start.start_ns;
    interval.end_ns = std::min(found->end.end_ns, until_ns);
    interval.cpu_ns = found->end.cpu_ns;
  }
  return size;
}

}  // namespace rclrt::executor
