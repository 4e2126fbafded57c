// SPDX-License-Identifier: Apache-2.0
// Shares the origin of messages' data between the processes of a machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "origin_ring.hpp"
#include "rclcpp_names.hpp"
#include "rclrt_rclcpp/origins.hpp"

namespace rclrt_robot {

/// Returns an origin as one number, for an OriginRing: not positive if it is not whole.
inline std::int64_t pack(Origin origin) noexcept RCLRT_NONBLOCKING {
  return origin.is_whole ? origin.since_ns : -origin.since_ns;
}
/// Returns the origin of such a number.
inline Origin unpack(std::int64_t packed) noexcept RCLRT_NONBLOCKING {
  if (packed == INT64_MIN) {  // no origin has this number
    return {};
  }
  return {packed < 0 ? -packed : packed, packed > 0};
}

/// A segment of shared memory with the instances of one node, mapped into this process.
///
/// It is System V shared memory (sysvipc(7)) and not a file, because such a segment cannot be
/// truncated: no other process of this user can make a real-time callback's access end in SIGBUS.
/// The segment is marked for removal when it is made, so the kernel removes it with the last
/// process that has it mapped, however that process ends.
class OriginMapping {
 public:
  struct Content;

  /// Makes a mapping. `content`: attached, of the right size.
  explicit OriginMapping(Content* content) : content_(content) {}
  ~OriginMapping();
  OriginMapping(const OriginMapping&) = delete;
  OriginMapping& operator=(const OriginMapping&) = delete;

  OriginRing& ring() const noexcept RCLRT_NONBLOCKING;
  Content& content() const noexcept { return *content_; }

 private:
  Content* const content_;
};

/// Shares one node's instances, as long as this exists, with the processes of this user.
class SegmentWriter final : public rclrt_rclcpp::OriginWriter {
 public:
  /// Makes a segment for the instances of `node`. Throws std::system_error with the cause, and
  /// std::invalid_argument if the name is too long.
  SegmentWriter(std::size_t domain, const std::string& node);
  ~SegmentWriter() override;
  SegmentWriter(const SegmentWriter&) = delete;
  SegmentWriter& operator=(const SegmentWriter&) = delete;

  bool is_wanted(std::int64_t now_ns) const noexcept RCLRT_NONBLOCKING override {
    return mapping_->ring().is_wanted(now_ns);
  }
  void* begin(Origin origin) noexcept RCLRT_NONBLOCKING override;
  void end(void* place) noexcept RCLRT_NONBLOCKING override;

 private:
  std::unique_ptr<OriginMapping> mapping_;
};

/// The segments of all nodes in one DDS domain, of this user and network. Not thread-safe.
class OriginSegments {
 public:
  explicit OriginSegments(std::size_t domain) : domain_(domain) {}

  /// Searches for the segments that exist now and that have a living writer. A segment with
  /// unexpected content is not used.
  void scan();

  /// Returns the segments of `node` that the last scan found. There are several if the node's
  /// callbacks are in several executors, or if several nodes have the same name.
  std::vector<std::shared_ptr<const OriginMapping>> of(const std::string& node) const;

 private:
  struct Known {
    std::string node;                              // empty: not one of ours
    std::shared_ptr<const OriginMapping> mapping;  // nullptr: not one of ours
  };

  const std::size_t domain_;
  std::map<int, Known> known_;  // by identifier, which the kernel does not reuse soon
};

}  // namespace rclrt_robot
