// SPDX-License-Identifier: Apache-2.0
// The interface by which executors share the origin of the data of messages without a stamp.
// rclrt_robot implements it in shared memory (rclrt_robot/origins.hpp).
#pragma once

#include <rmw/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <string>

#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/sampled_value.hpp"
#include "rclrt_rclcpp/export.hpp"

namespace rclrt_rclcpp {

using rclrt::realtime::Origin;

/// Writes the origins of one node's instances. Thread-safe.
class RCLRT_RCLCPP_EXPORT OriginWriter {
 public:
  OriginWriter() = default;
  virtual ~OriginWriter() = default;
  OriginWriter(const OriginWriter&) = delete;
  OriginWriter& operator=(const OriginWriter&) = delete;

  /// Returns whether a reader asks for the instances. `now_ns`: CLOCK_MONOTONIC.
  virtual bool is_wanted(std::int64_t now_ns) const noexcept RCLRT_NONBLOCKING = 0;
  /// Records that an instance starts now. Returns its place for `end`; nullptr: there is none.
  virtual void* begin(Origin origin) noexcept RCLRT_NONBLOCKING = 0;
  /// Records that the instance in this place ends now.
  virtual void end(void* place) noexcept RCLRT_NONBLOCKING = 0;
};

/// Finds the origin of the data of one topic's messages. Thread-safe.
class RCLRT_RCLCPP_EXPORT OriginReader {
 public:
  /// The middleware's identifier of a publisher.
  using Gid = std::array<std::uint8_t, RMW_GID_STORAGE_SIZE>;

  OriginReader() = default;
  virtual ~OriginReader() = default;
  OriginReader(const OriginReader&) = delete;
  OriginReader& operator=(const OriginReader&) = delete;

  /// Returns the time from which the age of a message's data counts. The message was published by
  /// `publisher` at `published_ns` (CLOCK_REALTIME); `now_ns` is the current time
  /// (CLOCK_MONOTONIC).
  virtual Origin find(const Gid& publisher, std::int64_t published_ns,
                      std::int64_t now_ns) noexcept RCLRT_NONBLOCKING = 0;
};

/// Is notified when a message came from an unknown publisher. The executor implements it, and then
/// soon calls OriginSharing::scan().
class RCLRT_RCLCPP_EXPORT UnknownPublisherListener {
 public:
  virtual ~UnknownPublisherListener() = default;
  /// Requests a scan. Thread-safe.
  virtual void on_unknown_publisher() noexcept RCLRT_NONBLOCKING = 0;
};

/// Makes the OriginWriters and OriginReaders of one executor. Any thread may call `writer` and
/// `reader`; the executor's maintenance thread calls `scan`.
class RCLRT_RCLCPP_EXPORT OriginSharing {
 public:
  OriginSharing() = default;
  virtual ~OriginSharing() = default;
  OriginSharing(const OriginSharing&) = delete;
  OriginSharing& operator=(const OriginSharing&) = delete;

  /// Returns the writer of a node's instances; nullptr: not possible, and the log has the reason.
  virtual std::shared_ptr<OriginWriter> writer(const std::string& node) = 0;
  /// Returns the reader for a topic's messages. `node`: of the subscription.
  virtual std::shared_ptr<OriginReader> reader(
      const std::string& topic,
      const std::shared_ptr<rclcpp::node_interfaces::NodeBaseInterface>& node) = 0;
  /// Updates the known publishers. Called once a second during a spin, and on request.
  virtual void scan() = 0;
};

/// Makes the sharing of an executor in a DDS domain. The listener outlives the result.
using MakeOriginSharing = std::function<std::unique_ptr<OriginSharing>(
    std::size_t domain, UnknownPublisherListener& listener)>;

}  // namespace rclrt_rclcpp
