// SPDX-License-Identifier: Apache-2.0
// Since when the data of messages without a stamp counts.
#pragma once

#include <rmw/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <utility>
#include <vector>

#include "entity_callback.hpp"
#include "origin_files.hpp"
#include "rcu_value.hpp"

namespace rclrt_rclcpp {

/// Finds out since when the data counts that one topic's messages were made of: what the instance
/// says that ran in the publisher's node when the message was published.
class TopicOrigins {
 public:
  using Gid = std::array<std::uint8_t, RMW_GID_STORAGE_SIZE>;
  using Node = rclcpp::node_interfaces::NodeBaseInterface;

  /// `node`: whose graph is asked for the publishers.
  TopicOrigins(std::string topic, std::weak_ptr<Node> node, Changes& changes)
      : topic_(std::move(topic)), node_(std::move(node)), changes_(changes) {}

  /// Returns since when the data of a message counts, CLOCK_MONOTONIC; std::nullopt: nobody tells.
  /// `published_ns`: CLOCK_REALTIME; `now_ns`: CLOCK_MONOTONIC. Wait-free, from any thread.
  std::optional<std::int64_t> find(const Gid& publisher, std::int64_t published_ns,
                                   std::int64_t now_ns) noexcept RCLRT_NONBLOCKING;

  /// Whether messages have come that were to be found.
  bool is_used() const noexcept { return is_used_.load(std::memory_order_relaxed); }

  /// Looks who publishes now. Called by one thread.
  void look(const OriginFiles& files, std::int64_t now_ns);

 private:
  struct Publisher {
    Gid gid{};
    std::vector<std::shared_ptr<const OriginMapping>> nodes;

    bool operator==(const Publisher&) const = default;
  };
  using Publishers = std::vector<Publisher>;

  Publishers publishers(const OriginFiles& files) const;

  const std::string topic_;
  const std::weak_ptr<Node> node_;
  Changes& changes_;
  RcuValue<Publishers> publishers_;
  // Hints, which order nothing: relaxed.
  std::atomic<bool> is_used_{false};
  std::atomic<std::int64_t> looked_ns_{INT64_MIN / 2};  // when anybody asked for a look last
};

/// What one executor tells and asks. Thread-safe.
class Origins {
 public:
  Origins(std::size_t domain, Changes& changes)
      : domain_(domain), changes_(changes), files_(domain) {
    OriginFiles::remove_abandoned();
  }

  /// Returns who tells of a node's instances; nullptr: it is not possible, of which the log says
  /// why.
  std::shared_ptr<OriginWriter> writer(const std::string& node);
  std::shared_ptr<TopicOrigins> topic(const std::string& topic,
                                      const std::shared_ptr<TopicOrigins::Node>& node);

  /// Brings what is known of publishers up to date, and lets them tell for the next time. Called by
  /// the maintenance thread.
  void look();

 private:
  const std::size_t domain_;
  Changes& changes_;
  OriginFiles files_;  // of the thread that looks
  std::mutex mutex_;   // guards what follows; no other lock is taken inside it
  std::map<std::string, std::weak_ptr<OriginWriter>> writers_;
  std::vector<std::weak_ptr<TopicOrigins>> topics_;
  bool is_refused_ = false;  // and told
};

}  // namespace rclrt_rclcpp
