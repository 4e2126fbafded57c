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

/// A file with the instances of one node, mapped.
class OriginMapping {
 public:
  struct File;

  explicit OriginMapping(File* file) : file_(file) {}
  ~OriginMapping();
  OriginMapping(const OriginMapping&) = delete;
  OriginMapping& operator=(const OriginMapping&) = delete;

  OriginRing& ring() const noexcept;

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

  /// Whether somebody reads. `now_ns`: CLOCK_MONOTONIC.
  bool is_wanted(std::int64_t now_ns) const noexcept RCLRT_NONBLOCKING {
    return mapping_->ring().is_wanted(now_ns);
  }
  /// An instance starts now; `origin_ns`: since when its data counts, CLOCK_MONOTONIC.
  OriginRing::Place* begin(std::int64_t origin_ns) noexcept RCLRT_NONBLOCKING;
  /// It ends now.
  static void end(OriginRing::Place& place) noexcept RCLRT_NONBLOCKING;

 private:
  int descriptor_ = -1;  // its lock says that the file has an owner
  std::filesystem::path path_;
  std::unique_ptr<OriginMapping> mapping_;
};

/// The files of all nodes in one DDS domain. Not thread-safe.
class OriginFiles {
 public:
  explicit OriginFiles(std::size_t domain) : domain_(domain) {}

  /// Looks which files there are now. One that does not have what it should is not used.
  void look();

  /// Returns those of a node that the last look found: several, if its callbacks are in several
  /// executors, or several nodes have its name.
  std::vector<std::shared_ptr<const OriginMapping>> of(const std::string& node) const;

  /// Removes the files of this user whose processes have ended without doing so.
  static void remove_abandoned() noexcept;

 private:
  struct Known {
    std::uint64_t inode = 0;
    std::string node;
    std::shared_ptr<const OriginMapping> mapping;  // nullptr: not usable
  };

  const std::size_t domain_;
  std::map<std::string, Known> known_;  // by their names
};

}  // namespace rclrt_rclcpp
