// SPDX-License-Identifier: Apache-2.0
// How the processes of a machine tell each other since when the data of messages counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
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

/// A file with the instances of one node, mapped.
class OriginMapping {
 public:
  struct File;

  explicit OriginMapping(File* file) : file_(file) {}
  ~OriginMapping();
  OriginMapping(const OriginMapping&) = delete;
  OriginMapping& operator=(const OriginMapping&) = delete;

  OriginRing& ring() const noexcept RCLRT_NONBLOCKING;

 private:
  File* const file_;
};

/// Tells of one node's instances, in a file that exists as long as this does and that the processes
/// of this user see. `is_wanted`, `begin` and `end` are thread-safe.
class OriginWriter {
 public:
  /// Throws std::system_error, which names the file and the cause, and std::invalid_argument for a
  /// name that is too long.
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
  int descriptor_ = -1;  // its lock says that the file has an owner
  std::filesystem::path path_;
  std::unique_ptr<OriginMapping> mapping_;
};

/// The files of all nodes in one DDS domain, of this user and network. Not thread-safe.
class OriginFiles {
 public:
  explicit OriginFiles(std::size_t domain) : domain_(domain) {}

  /// Looks which files there are now. One that does not have what it should is not used.
  void look();

  /// Maps those of a node that the last look found, and returns them: several, if its callbacks are
  /// in several executors, or several nodes have its name.
  std::vector<std::shared_ptr<const OriginMapping>> of(const std::string& node);

  /// Removes the files of this user whose processes have ended without doing so.
  static void remove_abandoned() noexcept;

 private:
  struct Known {
    std::uint64_t inode = 0;
    std::string node;                              // empty: it is no such file
    std::shared_ptr<const OriginMapping> mapping;  // nullptr: not yet
  };

  const std::size_t domain_;
  std::map<std::string, Known> known_;  // by their names
};

}  // namespace rclrt_rclcpp
