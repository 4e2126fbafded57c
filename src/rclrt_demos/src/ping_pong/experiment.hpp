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

/// Declares the node's parameter `name`, a time in seconds with the default `standard`, and returns
/// its value. Throws std::invalid_argument with the parameter's name unless the value is from 1 us
/// to 1e6 s.
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

/// Prints a warning if the executor's threads have no real-time priority, because the experiment
/// then shows nothing.
void warn_without_realtime(const Executor& executor);

/// Waits until `duration` has passed. Returns false if the context was shut down before.
bool wait_for_the_end(const Context& context, Seconds duration);

/// Throws std::invalid_argument if the command line has arguments that are not for ROS, or sets
/// parameters that none of the nodes has declared.
void require_known_arguments(const Context& context, const std::vector<Node*>& nodes);

/// Makes a ROS context from the command line, calls `program` with it, and returns its exit code.
/// If `program` throws std::invalid_argument or Error, prints the error to stderr and returns 2.
int run_program(const std::string& name, int argc, char** argv,
                const std::function<int(const std::shared_ptr<Context>&)>& program);

}  // namespace rclrt::demos
