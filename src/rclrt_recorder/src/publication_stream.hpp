// SPDX-License-Identifier: Apache-2.0
// Finds the callbacks that publish on each topic while a recording goes on, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <rclrt/model/application.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::recorder {

/// Does what find_publications() does, with the latest kMessages messages of each topic. Not
/// thread-safe.
class PublicationStream {
 public:
  static constexpr std::size_t kMessages = 256;
  /// With fewer messages the callbacks that publish on a topic are a guess.
  static constexpr std::size_t kCertain = 50;

  /// Returns whether a callback was running at a time, within an error.
  using RanAt =
      std::function<bool(std::size_t callback, std::int64_t time_ns, std::int64_t error_ns)>;

  /// Takes over callbacks that were added to the application, and the topics on which each node has
  /// publishers now. A callback that was added has published none of the messages so far. If a
  /// topic has another candidate among the earlier callbacks, its messages are forgotten, and its
  /// publishers stay until there are kCertain messages again.
  void grow(const model::Application& application,
            const std::vector<std::set<std::string>>& of_node);

  /// Takes an instance, in the order of starts.
  void take(const LoggedInstance& instance, const RanAt& ran_at);

  /// Sets what the callbacks of the application publish. Returns whether that has changed.
  bool set(model::Application& application) const;

  /// Returns the topics of which the publishers are certain.
  std::set<std::string> certain() const;

  /// Returns the number of kept messages.
  std::size_t messages() const;

 private:
  struct Message {
    std::int64_t published_ns = 0;
    std::vector<std::size_t> exact{};  // callbacks that were running then
    std::vector<std::size_t> near{};   // within the error of the clocks
  };
  struct Topic {
    std::vector<std::size_t> candidates{};
    std::deque<Message> messages{};
    std::vector<std::size_t> earlier{};  // publishers, until the messages are certain again
  };
  struct Busy {
    std::int64_t first_ns = -1;  // start of the first run
    std::int64_t sum_ns = 0;
  };

  void take_candidates(Topic& topic, std::vector<std::size_t> candidates, std::size_t known) const;
  std::vector<std::size_t> publishers_of(const Topic& topic) const;

  std::vector<std::string> inputs_;      // by callback: the topic of its messages, or an empty text
  std::vector<Busy> busy_;               // by callback
  std::int64_t newest_ns_ = 0;           // the latest end of a run
  std::map<std::string, Topic> topics_;  // with a subscription and a node that publishes
};

}  // namespace rclrt::recorder
