// SPDX-License-Identifier: Apache-2.0
// The common part of the programs ping, pong and ping_pong: parameters, executors, the time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rclrt/rclrt.hpp"

namespace rclrt::demos {

/// Times as users of the demonstration write them.
using Seconds = std::chrono::duration<double>;

/// SCHED_FIFO priorities of the two executors' threads, both on CPU 0.
inline constexpr int kHighPriority = 49;
inline constexpr int kLowPriority = 1;

/// How long a program waits for the other node.
inline constexpr std::chrono::seconds kLongestDiscovery{600};

/// Declares a parameter that is a time in seconds. Throws std::invalid_argument, which names the
/// parameter, unless the value is a time from 1 us to 1e6 s.
Seconds declare_seconds(Node& node, const std::string& name, double standard);

/// Declares `duration`, the length of the experiment: 10 s by default.
Seconds declare_duration(Node& node);

/// Makes an executor with one thread, at this SCHED_FIFO priority on CPU 0.
std::unique_ptr<Executor> make_executor(const std::shared_ptr<Context>& context,
                                        const std::string& name, int priority);

/// Spins an executor from its construction to its destruction.
class Spinning {
 public:
  explicit Spinning(Executor& executor);
  ~Spinning();
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;

 private:
  Executor& executor_;
  std::thread thread_;
};

/// Prints a line as ROS's loggers do: "[INFO] [time] [node]: text".
void print_info(const Node& node, const std::string& text);

/// Prints that the experiment begins.
void print_running(const Node& node, Seconds duration);

/// Reports that `program` found no node of the program `other`; returns the exit code.
int report_absent(const std::string& program, const std::string& other);

/// Prints the effects that are not visible without real-time priority, if the executors' threads
/// have none.
void warn_without_realtime(const Executor& executor);

/// Waits until `duration` has passed. Returns false if the context was shut down before.
bool wait_for_the_end(const Context& context, Seconds duration);

/// Throws std::invalid_argument for arguments that are not for ROS, and for parameters given on
/// the command line that none of the nodes has declared.
void require_known_arguments(const Context& context, const std::vector<Node*>& nodes);

/// Runs `program` and returns the exit code: 2, with the error on stderr, if it throws
/// std::invalid_argument or Error.
int run_program(const std::string& name, int argc, char** argv,
                const std::function<int(const std::shared_ptr<Context>&)>& program);

}  // namespace rclrt::demos
