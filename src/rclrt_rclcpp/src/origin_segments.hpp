// SPDX-License-Identifier: Apache-2.0
// How the processes of a machine tell each other since when the data of messages counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "origin_ring.hpp"

namespace rclrt_rclcpp {

/// Since when data counts.
struct Origin {
  std::int64_t since_ns = 0;  ///< CLOCK_MONOTONIC; 0: it is not known
  /// Whether it is where the data comes from: not, if it is the publication of a message of which
  /// nobody tells more.
  bool is_whole = false;

  /// Returns it as one number, for an OriginRing: not positive if it is not whole.
  std::int64_t packed() const noexcept RCLRT_NONBLOCKING { return is_whole ? since_ns : -since_ns; }
  static Origin of_packed(std::int64_t packed) noexcept RCLRT_NONBLOCKING {
    if (packed == INT64_MIN) {  // which no number here has
      return {};
    }
    return {packed < 0 ? -packed : packed, packed > 0};
  }
};

/// A segment of shared memory with the instances of one node, attached.
///
/// It is System V shared memory (sysvipc(7)) and not a file: nobody can make it smaller, so no
/// process of this user turns an access of a real-time callback into SIGBUS; and it was marked for
/// removal when it was made, so the kernel removes it with the last process that has it attached,
/// however that ends.
class OriginMapping {
 public:
  struct Content;

  /// `content`: attached, of the right size.
  explicit OriginMapping(Content* content) : content_(content) {}
  ~OriginMapping();
  OriginMapping(const OriginMapping&) = delete;
  OriginMapping& operator=(const OriginMapping&) = delete;

  OriginRing& ring() const noexcept RCLRT_NONBLOCKING;
  Content& content() const noexcept { return *content_; }

 private:
  Content* const content_;
};

/// Tells of one node's instances, as long as this exists, to the processes of this user.
/// `is_wanted`, `begin` and `end` are thread-safe.
class OriginWriter {
 public:
  /// Throws std::system_error, which names the cause, and std::invalid_argument for a name that is
  /// too long.
  OriginWriter(std::size_t domain, const std::string& node);
  ~OriginWriter();
  OriginWriter(const OriginWriter&) = delete;
  OriginWriter& operator=(const OriginWriter&) = delete;

  /// Returns whether somebody reads. `now_ns`: CLOCK_MONOTONIC.
  bool is_wanted(std::int64_t now_ns) const noexcept RCLRT_NONBLOCKING {
    return mapping_->ring().is_wanted(now_ns);
  }
  /// Writes that an instance starts now. Returns its place for `end`; nullptr: there is none.
  OriginRing::Place* begin(Origin origin) noexcept RCLRT_NONBLOCKING;
  /// Writes that it ends now.
  static void end(OriginRing::Place& place) noexcept RCLRT_NONBLOCKING;

 private:
  std::unique_ptr<OriginMapping> mapping_;
};

/// The segments of all nodes in one DDS domain, of this user and network. Not thread-safe.
class OriginSegments {
 public:
  explicit OriginSegments(std::size_t domain) : domain_(domain) {}

  /// Looks which segments there are now, whose writers live. One that does not have what it should
  /// is not used.
  void look();

  /// Returns those of a node that the last look found: several, if its callbacks are in several
  /// executors, or several nodes have its name.
  std::vector<std::shared_ptr<const OriginMapping>> of(const std::string& node) const;

 private:
  struct Known {
    std::string node;                              // empty: it is none of ours
    std::shared_ptr<const OriginMapping> mapping;  // nullptr: likewise
  };

  const std::size_t domain_;
  std::map<int, Known> known_;  // by their numbers, which the kernel does not use again soon
};

}  // namespace rclrt_rclcpp
