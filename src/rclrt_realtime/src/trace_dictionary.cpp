// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <stdexcept>

#include "rclrt/realtime/trace_event.hpp"

namespace rclrt::realtime {

TraceName TraceDictionary::name(std::string_view text, std::string_view category) {
  constexpr std::size_t kMaxNames = std::numeric_limits<std::uint16_t>::max() + std::size_t{1};
  const std::lock_guard lock(mutex_);
  const std::pair key{std::string(text), std::string(category)};
  if (const auto known = numbers_.find(key); known != numbers_.end()) {
    return known->second;
  }
  if (names_.size() == kMaxNames) {
    throw std::length_error("a trace has no more than 65536 names; the next is \"" + key.first +
                            "\"; put the part that varies into the value of an event");
  }
  const auto number = static_cast<TraceName>(names_.size());
  names_.push_back({key.first, key.second});
  numbers_.emplace(key, number);
  return number;
}

TraceThread TraceDictionary::thread(std::string_view name, pid_t tid) {
  const std::lock_guard lock(mutex_);
  threads_.push_back({std::string(name), tid});
  return static_cast<TraceThread>(threads_.size() - 1);
}

void TraceDictionary::set_tid(TraceThread thread, pid_t tid) {
  const std::lock_guard lock(mutex_);
  threads_.at(static_cast<std::size_t>(thread)).tid = tid;
}

const TraceDictionary::Name& TraceDictionary::operator[](TraceName name) const {
  const std::lock_guard lock(mutex_);
  return names_.at(static_cast<std::size_t>(name));
}

TraceDictionary::Thread TraceDictionary::operator[](TraceThread thread) const {
  const std::lock_guard lock(mutex_);
  return threads_.at(static_cast<std::size_t>(thread));
}

}  // namespace rclrt::realtime
