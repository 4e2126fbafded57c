// SPDX-License-Identifier: Apache-2.0
// The lines that the program writes: a JSON document each.
#pragma once

#include <cstdint>
#include <string>

#include "command_line.hpp"
#include "exchange.hpp"

namespace rclrt::clock {

/// Returns the first line: the host and what it assumes. `is_test`: its clock is a TestClock.
std::string start_line(const Settings& settings, const ExchangeOptions& options, bool is_test);

/// Returns the state of a peer at a time.
std::string peer_line(const PeerState& peer, const HostTime& now);

/// Returns the end of a report: the time, and the number of peers.
std::string report_line(std::size_t peers, const HostTime& now);

/// Returns the event that so many lines were not written, because the reader was too slow.
std::string lost_lines_line(std::uint64_t count, const HostTime& now);

/// Returns an event.
std::string event_line(const Event& event);

}  // namespace rclrt::clock
