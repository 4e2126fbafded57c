// SPDX-License-Identifier: Apache-2.0
// rclrt_agent: the part of this host in a run that another host coordinates.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <rclrt/text/options.hpp>

#include "agent.hpp"
#include "rclrt/realtime/throw_errno.hpp"

namespace {

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

/// Returns a copy of standard output for messages, and lets everything that is printed go to
/// standard error: ROS prints on standard output, too.
int take_standard_output() {
  const int result = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (result < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    rclrt::realtime::throw_errno("standard output");
  }
  return result;
}

/// The same for standard input.
int take_standard_input() {
  const int result = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (result < 0 || nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0) {
    rclrt::realtime::throw_errno("standard input");
  }
  ::close(nothing);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const rclrt::text::OptionTable table{
        .program = "rclrt_agent",
        .purpose =
            "Takes part in one run that another host coordinates, on standard input and "
            "output.\n`rclrt agent` starts it.",
        .notes = "exit code: 0 done, 1 the run failed, 2 the request or its version was refused"};
    if (const auto answer = rclrt::text::parse_options(table, argc, argv).answer) {
      std::fputs(answer->c_str(), stdout);
      return 0;
    }
    const int in = take_standard_input();
    return rclrt::runner::serve_run(in, take_standard_output());
  } catch (const rclrt::text::UsageError& error) {
    std::fprintf(stderr, "rclrt_agent: %s\n", error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rclrt_agent: %s\n", error.what());
    return kFailed;
  }
}
