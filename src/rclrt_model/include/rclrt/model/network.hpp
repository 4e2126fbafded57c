// SPDX-License-Identifier: Apache-2.0
// Computers and the links between them: the sections `hosts` and `links` of an app.yaml. Plain
// values.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rclrt/model/export.hpp"

namespace rclrt::model {

/// A computer. CPUs of different hosts are different CPUs, also if their numbers are equal.
struct NetworkHost {
  std::string name;         ///< unique in the application
  std::string address{};    ///< host name or IP address by which it is reached; empty: `name`
  std::vector<int> cpus{};  ///< CPUs that its executors may use; empty: all of its CPUs
  /// The most that its clock differs from the true time; nullopt: not stated. Stamps of two hosts
  /// differ by the sum of their errors at most.
  std::optional<std::chrono::nanoseconds> clock_error{};
  bool operator==(const NetworkHost&) const = default;
};

/// The order in which a link transmits packets that wait. A packet that has begun is finished.
enum class LinkOrder {
  kFifo,      ///< as they arrive
  kPriority,  ///< the highest Topic::network_priority first; equal ones as they arrive
};

/// A token bucket before the line: within any time t, at most burst + rate x t leaves it.
struct Shaper {
  std::uint64_t rate_kbit{};  ///< kbit/s
  std::size_t burst_bytes{};
  bool operator==(const Shaper&) const = default;
};

/// Traffic that is not of the application: within any time t, at most burst + rate x t bytes with
/// all headers, in packets of at most the link's largest size.
struct CrossTraffic {
  std::size_t from{};         ///< host that sends it: an index into Application::hosts
  std::uint64_t rate_kbit{};  ///< kbit/s
  std::size_t burst_bytes{};
  int priority{};  ///< as Topic::network_priority
  bool operator==(const CrossTraffic&) const = default;
};

/// A full-duplex link between two hosts. Each direction has a queue and a line of its own.
struct RCLRT_MODEL_EXPORT NetworkLink {
  std::string name;                      ///< unique in the application
  std::array<std::size_t, 2> between{};  ///< different indices into Application::hosts
  std::uint64_t rate_kbit{};             ///< kbit/s of the line
  std::optional<Shaper> shaper{};        ///< its rate is at most that of the line
  /// From the last bit that leaves the line until the message is at the other host.
  std::chrono::nanoseconds min_latency{};
  std::chrono::nanoseconds latency{};  ///< at least min_latency
  /// How long the line may stay idle although packets wait, once in each period in which some wait:
  /// the latency T of a rate-latency service curve.
  std::chrono::nanoseconds access{};
  LinkOrder order{LinkOrder::kFifo};
  std::size_t mtu_bytes{kMtu};          ///< most bytes of a packet, without `framing_bytes`
  std::size_t header_bytes{kHeader};    ///< part of the MTU that is no payload: IP, UDP and RTPS
  std::size_t framing_bytes{kFraming};  ///< of each packet besides, as the line counts it
  std::vector<CrossTraffic> cross_traffic{};

  static constexpr std::size_t kMtu = 1500;      ///< of Ethernet
  static constexpr std::size_t kHeader = 112;    ///< IPv4 20, UDP 8, RTPS with a stamp 84
  static constexpr std::size_t kFraming = 38;    ///< Ethernet with preamble and gap
  static constexpr std::size_t kDataHeader = 4;  ///< CDR encapsulation, once in each message

  /// Returns the bytes on the line of each packet of a message with this payload, in order. There
  /// is at least one packet.
  std::vector<std::size_t> packets(std::size_t payload_bytes) const;

  /// Returns the sum of packets().
  std::size_t bytes_on_line(std::size_t payload_bytes) const;

  /// Returns the largest size that a packet may have on the line.
  std::size_t largest_packet() const { return mtu_bytes + framing_bytes; }

  bool operator==(const NetworkLink&) const = default;
};

}  // namespace rclrt::model
