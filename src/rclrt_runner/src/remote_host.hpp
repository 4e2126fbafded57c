// SPDX-License-Identifier: Apache-2.0
// Another host of a run, as the host that coordinates it sees it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <rclrt/model/application.hpp>
#include <span>
#include <string>
#include <vector>

#include "channel.hpp"
#include "host_offset.hpp"
#include "part.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/results.hpp"
#include "run.hpp"

namespace rclrt::runner {

/// Returns the name of the host of a process; empty: the application states none.
std::string host_of(const model::Application& application, const std::vector<std::size_t>& process);

/// Returns the executors (indices) of each process on a host.
std::vector<std::vector<std::size_t>> processes_on(const model::Application& application,
                                                   const std::string& host);

/// The agent on another host, and the thread that talks to it.
class RemoteHost {
 public:
  using Take = std::function<void(std::span<const recorder::LoggedInstance>)>;

  /// Makes it for a connection. The arguments must outlive this object.
  RemoteHost(HostConnection connection, const model::Application& application,
             const RunOptions& options);
  ~RemoteHost();
  RemoteHost(const RemoteHost&) = delete;
  RemoteHost& operator=(const RemoteHost&) = delete;

  /// Waits for the agent and checks its version. Returns false if `goes_on` does meanwhile. Throws
  /// std::runtime_error. Starts no thread.
  bool greet(const std::function<bool()>& goes_on);

  /// Sends the request, and measures the offset of the clocks from now on. `take` gets the
  /// instances, in the thread of this object. `failed` is called once when the host is lost, from
  /// that thread.
  void start(Take take, std::function<void()> failed);

  enum class State : std::uint8_t { kConnecting, kPrepared, kDone, kNotBegun, kLost };
  State state() const;
  /// Waits while the state is before `state`, at most for the limit. Returns the state.
  State wait_for(State state, std::chrono::milliseconds limit);

  /// Returns how long messages took to the host and back, at most.
  std::int64_t round_trip_ns() const;
  /// Starts the run there, at this time of CLOCK_MONOTONIC of this host. Throws std::runtime_error
  /// if its clock is not known.
  void begin(std::int64_t epoch_ns);
  /// Closes the connection, and ends the thread.
  void disconnect();
  /// Asks the host to end its part now.
  void request_end();
  /// Gives the host up, unless it has ended its part.
  void lose(const std::string& cause);

  /// Returns the states of its processes, as of now; of a host that was lost during the run, those
  /// before the run, with the time up to which all of its instances have come.
  std::vector<Part> parts() const;
  /// Returns what the results say of the host.
  recorder::HostTimes result() const;

 private:
  void talk(const realtime::StopFlag& stop);
  void exchange();
  void send_due(std::int64_t now_ns);
  void take_message(const Message& message);
  void take_pong(const Message& message, const ClockPair& received);
  bool follow(const ClockPair& now, std::int64_t most_ns);
  void note_error(const ClockPair& now);
  void add_knot(const ClockPair& now);
  State seen_state() const;
  void end(const Message& message);
  const HostConnection connection_;
  const model::Application& application_;
  const RunOptions& options_;
  const std::vector<std::vector<std::size_t>> processes_;
  Take take_;
  std::function<void()> failed_;
  std::vector<std::size_t> own_;  // executors
  Channel channel_;
  mutable std::mutex mutex_;  // guards the members below, up to the thread's own ones
  mutable std::condition_variable changed_;
  State state_ = State::kConnecting;
  std::optional<std::int64_t> epoch_ns_;  // none: it has not begun
  bool is_asked_to_end_ = false;
  bool has_ended_ = false;  // parts_ are those of the end
  std::vector<Part> parts_;
  std::vector<recorder::CallbackCounts> came_;  // instances, one per callback
  recorder::HostTimes result_;
  HostOffset offset_;
  std::int64_t difference_ns_ = 0;    // that the host has: time of the run less its CLOCK_MONOTONIC
  std::int64_t error_ns_ = 0;         // of it, at most, since the last knot of result_
  std::int64_t longest_trip_ns_ = 0;  // of the latest answers
  std::int64_t heard_at_ns_ = 0;
  std::int64_t complete_until_ns_ = 0;
  // The members below are those of the thread alone.
  struct Sent {
    std::uint64_t sequence = 0;
    ClockPair clocks{};
  };
  std::vector<Sent> sent_;
  std::uint64_t sequence_ = 0;
  std::int64_t last_ping_ns_ = 0;
  std::int64_t next_ping_ns_ = 0;
  std::uint64_t bytes_ = 0;
  std::int64_t next_difference_ns_ = 0;
  realtime::Thread thread_;  // last: it uses all of the above
};

}  // namespace rclrt::runner
