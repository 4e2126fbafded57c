// SPDX-License-Identifier: Apache-2.0
// The intra-process topics of one context.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <typeindex>
#include <utility>

#include "rclrt/detail/intra_topic.hpp"

namespace rclrt::detail {

/// Finds the IntraTopic for a full topic name and message type, or creates it. A topic exists as
/// long as a publisher or subscription owns it. Thread-safe; for setup only.
class IntraTopics {
 public:
  template <typename T>
  RCLRT_SETUP std::shared_ptr<IntraTopic> get(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(topics_, [](const auto& each) { return each.second.expired(); });
    std::weak_ptr<IntraTopic>& known = topics_[{name, std::type_index(typeid(T))}];
    auto topic = known.lock();
    if (!topic) {
      topic = std::make_shared<IntraTopicOf<T>>();
      known = topic;
    }
    return topic;
  }

 private:
  std::mutex mutex_;  // guards topics_
  std::map<std::pair<std::string, std::type_index>, std::weak_ptr<IntraTopic>> topics_;
};

/// The function by which a base class without T gets the topic.
using GetIntraTopic = std::shared_ptr<IntraTopic> (*)(IntraTopics&, const std::string&);
template <typename T>
std::shared_ptr<IntraTopic> get_intra_topic(IntraTopics& topics, const std::string& name) {
  return topics.get<T>(name);
}

}  // namespace rclrt::detail
