// SPDX-License-Identifier: Apache-2.0
// What the hosts of a run send each other. Numbers have the byte order of the machine, which the
// first line states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <rclrt/model/application.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host_offset.hpp"
#include "part.hpp"
#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::runner {

/// Returns the text without characters that a terminal would obey, and not longer than that.
std::string printable(std::string text, std::size_t longest = 80);

/// Returns the first line of an agent: what it is, its version, and the name of its machine.
std::string agent_greeting();
/// Returns the first line of the host that coordinates.
std::string coordinator_greeting();

/// Checks the first line of an agent. Returns the name of its machine. Throws std::runtime_error
/// with the difference and the fix.
std::string check_agent_greeting(const std::string& line);
/// Checks the first line of a coordinator. Throws std::runtime_error.
void check_coordinator_greeting(const std::string& line);

/// The request to an agent: to run its part of an application, and nothing else. It has no command,
/// no file name and no ROS argument.
struct HostRequest {
  std::string host;         ///< the name of the agent's host in the application
  std::string application;  ///< an app.yaml
  std::string executor;     ///< a name for model::parse_executor
  std::int64_t duration_ns = 0;
  bool strict = false;
  bool alone = true;
  std::uint32_t domain = 0;  ///< ROS_DOMAIN_ID
};

std::vector<std::byte> to_bytes(const HostRequest& request);
/// Throws std::runtime_error if the bytes are none of a request.
HostRequest request_of(std::span<const std::byte> bytes);

/// A ping, or the answer to it with the clocks of the agent's host.
struct HostPing {
  std::uint64_t sequence = 0;
  ClockPair clocks{};
};

std::vector<std::byte> to_bytes(const HostPing& ping);
HostPing ping_of(std::span<const std::byte> bytes);

/// The times that an agent gets: the difference of the time of the run and its CLOCK_MONOTONIC, and
/// for MessageKind::kBegin the epoch of the run.
struct HostTimes {
  std::int64_t difference_ns = 0;
  std::int64_t epoch_ns = 0;
};

std::vector<std::byte> to_bytes(const HostTimes& times);
/// Throws std::runtime_error for impossible times.
HostTimes times_of(std::span<const std::byte> bytes);

/// Returns the states of the processes of a host.
std::vector<std::byte> to_bytes(const std::vector<Part>& parts);
/// Throws std::runtime_error unless they are `count` states of processes of this application.
std::vector<Part> parts_of(std::span<const std::byte> bytes, std::size_t count,
                           const model::Application& application);

/// Returns instances as bytes.
std::vector<std::byte> to_bytes(std::span<const recorder::LoggedInstance> instances);
/// Returns the instances. Throws std::runtime_error if one of them is none of the executors in
/// `own` or has an impossible value, so that no number is used as an index before it is checked.
std::vector<recorder::LoggedInstance> instances_of(std::span<const std::byte> bytes,
                                                   std::span<const std::size_t> own,
                                                   const model::Application& application);

}  // namespace rclrt::runner
