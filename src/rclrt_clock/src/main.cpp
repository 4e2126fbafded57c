// SPDX-License-Identifier: Apache-2.0
// rclrt_clock: measures the offsets of other hosts' clocks, and answers their pings.
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include "clock_node.hpp"
#include "command_line.hpp"
#include "identity.hpp"
#include "line_writer.hpp"
#include "rclrt/realtime/boot_number.hpp"
#include "report_lines.hpp"
#include "test_clock.hpp"

namespace {

constexpr int kNo = 1;
constexpr int kBadInput = 2;

using namespace rclrt::clock;  // NOLINT(google-build-using-namespace): this is its program

/// Returns this host's clock, or the one that a test states.
HostClock make_clock(const char* test) {
  if (test == nullptr) {
    return HostClock();
  }
  return HostClock([clock = TestClock(test)] { return clock.apply(read_clocks()); });
}

int run(const Settings& settings, int argc, char** argv) {
  const char* const test = std::getenv(kTestClockVariable);
  HostClock clock = make_clock(test);
  const ExchangeOptions options{.host = settings.host,
                                .boot = rclrt::realtime::boot_number(),
                                .session = random_session(),
                                .host_drift_ppm = settings.drift_ppm,
                                .period_ns = settings.period.count(),
                                .is_test = test != nullptr};
  const auto context = rclrt::Context::make(argc, argv);
  // One thread: the time of a ping is read when its callback begins.
  rclrt::EventsExecutor executor(context, {.name = "clock"});
  std::signal(SIGPIPE, SIG_IGN);  // the write fails instead
  LineWriter lines(STDOUT_FILENO, [&executor] { executor.cancel(); });
  ClockNode node(
      context, settings, options, std::move(clock),
      [&lines](const std::string& line) { return lines.write(line); },
      [&executor] { executor.cancel(); });
  executor.add_node(node.node());
  lines.write(start_line(settings, options, test != nullptr));
  executor.spin();
  node.report();
  if (lines.has_failed()) {
    throw std::runtime_error("standard output cannot be written");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine command;
  try {
    command = parse_command_line(argc, argv);
    if (command.answer) {
      std::fputs(command.answer->c_str(), stdout);
      return 0;
    }
    return run(command.settings, argc, argv);
  } catch (const rclrt::Error& error) {
    if (error.code() == RCL_RET_TOPIC_NAME_INVALID) {
      std::fprintf(stderr,
                   "rclrt_clock: --topic '%s' is no topic name; expected one like /rclrt/clock\n",
                   command.settings.topic.c_str());
      return kBadInput;
    }
    std::fprintf(stderr, "rclrt_clock: %s\n", error.what());
    return kNo;
  } catch (const rclrt::text::UsageError& error) {
    std::fprintf(stderr, "rclrt_clock: %s\n", error.what());
    return kBadInput;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "rclrt_clock: %s\n", error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rclrt_clock: %s\n", error.what());
    return kNo;
  }
}
