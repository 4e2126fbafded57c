// SPDX-License-Identifier: Apache-2.0
// The processes of an application, started, watched and stopped.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <rclrt/model/application.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "part.hpp"
#include "rclrt/recorder/instance_record.hpp"
#include "run.hpp"

namespace rclrt::runner {

/// A file descriptor that is closed at the end.
class File {
 public:
  explicit File(int number = -1) : number_(number) {}
  ~File() { close(); }
  File(File&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int number() const { return number_; }
  void close();

 private:
  int number_;
};

/// SIGINT and SIGTERM of this process, held back and read as events while it exists. In a forked
/// process it has those of that process.
class StopRequests {
 public:
  StopRequests();
  ~StopRequests();
  StopRequests(const StopRequests&) = delete;
  StopRequests& operator=(const StopRequests&) = delete;

  int file() const { return file_.number(); }

  /// Waits for a request, at most for `limit`. Returns whether there has been one.
  bool arrived(std::chrono::milliseconds limit);

  /// Makes a request, as SIGINT does. Thread-safe.
  static void request() noexcept;

 private:
  sigset_t before_{};
  File file_;
  bool arrived_ = false;
};

/// The processes of a run on this host, forked from this one. They end at the latest when this
/// object is destroyed. Make it before any thread exists. Not thread-safe.
class Processes {
 public:
  /// Starts one for each list of executors: it prepares them and waits for the epoch.
  /// `requests` are those of the user; each process has those to itself in them.
  Processes(const model::Application& application,
            const std::vector<std::vector<std::size_t>>& executors, const RunOptions& options,
            std::span<const char* const> arguments, StopRequests& requests);

  /// Ends the processes that still run.
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Waits until all processes are ready to begin, and returns their states in the order of
  /// the lists. Returns nothing if the user stopped the run. Throws
  /// std::runtime_error with the process that cannot begin, and the cause.
  std::vector<Part> wait_until_prepared();

  /// Starts all of them at this time of CLOCK_MONOTONIC.
  void begin(std::int64_t epoch_ns);

  using Take = std::function<void(std::span<const recorder::LoggedInstance>)>;
  /// Passes the instances of all processes to `take` until all have ended their part of the run,
  /// because the time is over or the user stopped it. Returns their states, as
  /// wait_until_prepared(); nothing if they were stopped before they began. Throws
  /// std::runtime_error with the process that died, and the cause.
  std::vector<Part> wait(const Take& take);

 private:
  enum class State { kStarting, kPrepared, kDone };
  struct Child {
    std::string name;  ///< "process 'far' (executors a, b)"
    pid_t pid = -1;    ///< -1: it has ended
    File socket;
    File instances;  ///< a stream of them
    File part;
    State state = State::kStarting;
    bool measured = true;  ///< false: it was stopped before the run began
    /// Read from `instances`; the last one may not be complete yet.
    std::vector<std::byte> bytes{};
  };

  /// Waits until all have reached the state. Returns false if the user stopped it before they were
  /// prepared; if they run, they are asked to end.
  bool wait_for(State state, const Take& take);
  std::vector<Part> states() const;
  void receive(Child& child, const Take& take);
  /// Passes on what can be read, or everything to the end of the stream.
  static void read_instances(Child& child, const Take& take, bool to_the_end);
  /// Asks all to end.
  void request_end() noexcept;
  /// Asks all to end, and kills those that do not.
  void call_off() noexcept;

  StopRequests& requests_;
  std::vector<Child> children_;
};

}  // namespace rclrt::runner
