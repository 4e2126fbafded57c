// SPDX-License-Identifier: Apache-2.0
// The other hosts of a run, as the host that coordinates it sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <rclrt/model/application.hpp>
#include <vector>

#include "part.hpp"
#include "processes.hpp"
#include "rclrt/recorder/results.hpp"
#include "remote_host.hpp"
#include "run.hpp"

namespace rclrt::runner {

/// Returns the executors (indices) of each process on the host that coordinates: on all hosts
/// without a connection. Throws std::invalid_argument if a connection is for a host that the
/// application does not have.
std::vector<std::vector<std::size_t>> processes_here(const model::Application& application,
                                                     const std::vector<HostConnection>& hosts);

/// All other hosts of a run. Not thread-safe.
class RemoteHosts {
 public:
  /// Makes them. Starts no thread.
  RemoteHosts(const model::Application& application, const RunOptions& options);

  /// Waits for the agents and checks their versions. Returns false if the run was stopped. Throws
  /// std::runtime_error with the host that does not answer or has another version.
  bool greet(StopRequests& requests);
  /// Sends the requests. If a host is lost later, the run is asked to stop (StopRequests).
  void start(const RemoteHost::Take& take);

  bool empty() const { return hosts_.empty(); }

  /// Waits until all are prepared and their clocks are known. Returns the states of their
  /// processes; nothing if the run was stopped. Throws std::runtime_error with the host that is
  /// lost.
  std::vector<Part> wait_until_prepared(StopRequests& requests);
  /// Throws std::runtime_error if a host was lost.
  void rethrow() const;
  /// Returns the longest time that a message took to a host and back.
  std::int64_t round_trip_ns() const;
  /// Throws std::runtime_error if one is lost or its clock is not known.
  void begin(std::int64_t epoch_ns);
  /// Waits until all have ended their part, which they do at `end_ns`; if the run is stopped, asks
  /// them to. Returns the states of their processes; nothing if one was stopped before it began.
  std::vector<Part> wait(std::int64_t end_ns, StopRequests& requests);
  /// Returns how exactly the times of all hosts are known. Empty: there is only this one.
  recorder::HostTable results() const;
  /// Closes the connections, and ends the threads.
  void disconnect();

 private:
  const model::Application& application_;
  std::vector<std::unique_ptr<RemoteHost>> hosts_;
};

}  // namespace rclrt::runner
