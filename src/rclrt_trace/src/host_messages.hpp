// SPDX-License-Identifier: Apache-2.0
// The messages that went from one traced host to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace_reader.hpp"

namespace rclrt::trace {

/// A message that one host published and another one took. Each time is that host's
/// CLOCK_MONOTONIC: the message was sent at `sent_ns` or later, and received at `received_ns` or
/// earlier.
struct HostMessage {
  std::size_t from = 0;  ///< number of the host
  std::size_t to = 0;
  std::int64_t sent_ns = 0;
  std::int64_t received_ns = 0;
};

/// Messages of one topic to one host that are not joined with their publication.
struct UnjoinedMessages {
  std::string topic;
  std::size_t to = 0;
  std::uint64_t unknown = 0;    ///< no trace has their publication
  std::uint64_t ambiguous = 0;  ///< several publications have their topic and source timestamp
};

/// Collects the messages between hosts. A message is identified by its topic and its source
/// timestamp: the tracepoints have the publisher's gid only where it is created, and no sequence
/// number. The events of each host must come in order of its time. Not thread-safe.
class HostMessages {
 public:
  /// Processes the next event.
  void take(const TraceEvent& event);
  /// Joins the messages with their publications. Call it after the last event.
  void join();

  /// The times of the first and the last event of a host's nodes, on its own clock.
  struct Span {
    std::int64_t first_ns = 0;
    std::int64_t last_ns = 0;
  };
  /// Returns the span of a host; std::nullopt: it has no events of nodes.
  std::optional<Span> span_of(std::size_t host) const {
    return host < spans_.size() ? spans_[host] : std::nullopt;
  }

  const std::vector<HostMessage>& joined() const { return joined_; }
  /// Returns the topics with unjoined messages, by topic and host. Those of tools are left out.
  const std::vector<UnjoinedMessages>& unjoined() const { return unjoined_; }
  /// Returns how many takes of messages, and publications, have a source timestamp.
  std::uint64_t takes() const { return takes_.size(); }
  std::uint64_t publications() const { return publication_count_; }

 private:
  using Handle = std::tuple<std::uint32_t, std::int64_t, std::uint64_t>;  // space, pid, pointer
  using Key = std::pair<std::uint32_t, std::int64_t>;                     // topic, source timestamp
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return std::hash<std::uint64_t>()(
          static_cast<std::uint64_t>(key.second) * 0x9E3779B97F4A7C15U ^ key.first);
    }
  };
  struct Publication {
    std::size_t host = 0;
    std::int64_t time_ns = 0;
    bool is_only = true;
  };
  struct Take {
    Key key;
    std::size_t host = 0;
    std::int64_t time_ns = 0;
  };
  std::uint32_t topic_of(std::string_view name);
  void note_time(const TraceEvent& event);

  std::map<std::string, std::uint32_t, std::less<>> topics_;
  std::vector<std::string> names_;
  std::map<Handle, std::uint32_t> publishers_;     // topic, by rmw handle
  std::map<Handle, std::uint32_t> subscriptions_;  // ditto
  std::unordered_map<Key, Publication, KeyHash> publications_;
  std::uint64_t publication_count_ = 0;
  std::vector<Take> takes_;
  std::vector<HostMessage> joined_;
  std::vector<UnjoinedMessages> unjoined_;
  std::vector<std::optional<Span>> spans_;  // by host
};

}  // namespace rclrt::trace
