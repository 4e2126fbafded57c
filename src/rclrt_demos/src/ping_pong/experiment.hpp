// SPDX-License-Identifier: Apache-2.0
// What the programs ping, pong and ping_pong have in common: parameters, executors, the time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rclrt/rclrt.hpp"

namespace rclrt::demos {

/// Times as the demonstration's users write them.
using Seconds = std::chrono::duration<double>;

/// SCHED_FIFO priorities of the two executors' threads, both on CPU 0.
inline constexpr int kHighPriority = 49;
inline constexpr int kLowPriority = 1;

/// How long a program waits for the other node.
inline constexpr std::chrono::seconds kLongestDiscovery{600};

/// Declares a parameter that is a time in seconds. Throws std::invalid_argument, which names the
/// parameter, for what is no time from 1 us to 1e6 s.
Seconds declare_seconds(Node& node, const std::string& name, double standard);

/// Declares `duration`, how long the experiment takes: 10 s unless the user says otherwise.
Seconds declare_duration(Node& node);

/// Makes an executor whose one thread runs at this SCHED_FIFO priority on CPU 0.
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

/// Says that `program` found no node of the program `other`; returns the exit code.
int report_nobody(const std::string& program, const std::string& other);

/// Prints what cannot be shown when the executors' threads have no real-time priority.
void warn_without_realtime(const Executor& executor);

/// Waits until `duration` has passed; false when the context was shut down before.
bool wait_for_the_end(const Context& context, Seconds duration);

/// Throws std::invalid_argument for arguments that are not for ROS, and for parameters given on
/// the command line that none of the nodes has declared.
void require_known_arguments(const Context& context, const std::vector<Node*>& nodes);

/// Runs `program` and returns the exit code: 2, with the error on stderr, when it throws
/// std::invalid_argument or Error.
int run_program(const std::string& name, int argc, char** argv,
                const std::function<int(const std::shared_ptr<Context>&)>& program);

}  // namespace rclrt::demos
