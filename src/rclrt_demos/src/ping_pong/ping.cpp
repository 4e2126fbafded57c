// SPDX-License-Identifier: Apache-2.0
// The ping node in a process of its own; the other half is the program pong.
//
//   ping --ros-args -p ping_period:=0.033
#include "ping_node.hpp"

namespace {

using namespace rclrt::demos;  // NOLINT(google-build-using-namespace): this is its program

int run(const std::shared_ptr<rclrt::Context>& context) {
  PingNode ping(context);
  const Seconds duration = declare_duration(ping.node());
  require_known_arguments(*context, {&ping.node()});
  const auto executor = make_executor(context, "high", kHighPriority);
  executor->add_node(ping.node());
  print_info(ping.node(), "Waiting for the pong node ...");
  if (!ping.wait_for_pong_node(kLongestDiscovery)) {
    return context->ok() ? report_absent("ping", "pong") : 0;  // 0: after Ctrl-C
  }
  {
    const Spinning spins(*executor);
    warn_without_realtime(*executor);
    print_running(ping.node(), duration);
    wait_for_the_end(*context, duration);
  }
  ping.print_statistics(duration);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run_program("ping", argc, argv, run); }
