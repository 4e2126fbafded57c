// SPDX-License-Identifier: Apache-2.0
// The origin of the data of messages without a stamp.
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

#include "origin_segments.hpp"
#include "rclcpp_names.hpp"
#include "rclrt_robot/origins.hpp"
#include "reader_counted_value.hpp"

namespace rclrt_robot {

/// The number of nodes of each name in the ROS graph; std::nullopt: not available.
using NodeCounts = std::optional<std::map<std::string, int>>;

/// Finds the origins of the data in the messages of one topic, that is, the times at which the data
/// was made. It looks up which instance ran in the publisher's node when the message was published;
/// the origin that was recorded for that instance is the origin of the data.
class TopicOrigins final : public rclrt_rclcpp::OriginReader {
 public:
  using Node = rclcpp::node_interfaces::NodeBaseInterface;
  /// The number of scans that messages of unknown publishers request after the known publishers
  /// have changed. After that, only the scan once a second looks for the publisher.
  static constexpr int kRequests = 10;
  /// The shortest interval between two such scans.
  static constexpr std::int64_t kRequestInterval_ns = 100'000'000;

  /// Makes the lookup for a topic. `node`: its graph has the publishers.
  TopicOrigins(std::string topic, std::weak_ptr<Node> node,
               rclrt_rclcpp::UnknownPublisherListener& listener)
      : topic_(std::move(topic)), node_(std::move(node)), listener_(listener) {}

  /// Returns the origin of a message's data; its `since_ns` is 0 if it is unknown. `published_ns`
  /// is of CLOCK_REALTIME, `now_ns` of CLOCK_MONOTONIC. Wait-free, from any thread.
  Origin find(const Gid& publisher, std::int64_t published_ns,
              std::int64_t now_ns) noexcept RCLRT_NONBLOCKING override;

  /// Returns whether a message has come within the last hour.
  bool is_used(std::int64_t now_ns) const noexcept;

  /// Looks up the publishers that the topic has now, and requests that they write their origins for
  /// the next seconds. One thread at a time calls it.
  void scan(const OriginSegments& segments, const NodeCounts& nodes, std::int64_t now_ns);

  std::shared_ptr<Node> node() const { return node_.lock(); }

 private:
  struct Publisher {
    Gid gid{};
    bool is_named = true;  // its node is known
    std::vector<std::shared_ptr<const OriginMapping>> nodes;

    bool operator==(const Publisher&) const = default;
  };
  using Publishers = std::vector<Publisher>;

  const Publisher* find_publisher(const Publishers& publishers, const Gid& gid,
                                  std::int64_t now_ns) noexcept RCLRT_NONBLOCKING;
  void request_scan(std::int64_t now_ns) noexcept RCLRT_NONBLOCKING;
  std::optional<Publishers> publishers(const OriginSegments& segments,
                                       const NodeCounts& nodes) const;

  const std::string topic_;
  const std::weak_ptr<Node> node_;
  rclrt_rclcpp::UnknownPublisherListener& listener_;
  ReaderCountedValue<Publishers> publishers_;
  // Hints that order nothing: relaxed.
  std::atomic<std::int64_t> used_ns_{INT64_MIN / 2};
  std::atomic<std::int64_t> requested_ns_{INT64_MIN / 2};
  std::atomic<int> requests_left_{kRequests};
  std::atomic<bool> has_matched_{false};  // a message's publisher was in the graph
};

/// Shares and reads origins for one executor. Thread-safe.
class Origins final : public rclrt_rclcpp::OriginSharing {
 public:
  Origins(std::size_t domain, rclrt_rclcpp::UnknownPublisherListener& listener)
      : domain_(domain), listener_(listener), segments_(domain) {}

  std::shared_ptr<rclrt_rclcpp::OriginWriter> writer(const std::string& node) override;
  std::shared_ptr<rclrt_rclcpp::OriginReader> reader(
      const std::string& topic, const std::shared_ptr<TopicOrigins::Node>& node) override;
  void scan() override;

 private:
  const std::size_t domain_;
  rclrt_rclcpp::UnknownPublisherListener& listener_;
  OriginSegments segments_;  // belongs to the maintenance thread
  std::mutex mutex_;  // guards the following members; no lock of this package is taken inside it
  std::map<std::string, std::weak_ptr<SegmentWriter>> writers_;
  std::vector<std::weak_ptr<TopicOrigins>> topics_;
  bool is_refused_ = false;  // and reported
};

}  // namespace rclrt_robot
