// SPDX-License-Identifier: Apache-2.0
// Two nodes in one process, and the two callback groups of one of them under two executors.
//
//   ping_pong --ros-args -p ping_period:=0.033 -p high_busyloop:=0.025 -p low_busyloop:=0.01
//
// Seconds; the default of each is 0.01: the high path takes all of CPU 0, the low path gets none.
#include "ping_node.hpp"
#include "pong_node.hpp"

namespace {

using namespace rclrt::demos;  // NOLINT(google-build-using-namespace): this is its program

int run(const std::shared_ptr<rclrt::Context>& context) {
  PingNode ping(context);
  PongNode pong(context);
  const Seconds duration = declare_duration(ping.node());
  declare_duration(pong.node());
  require_known_arguments(*context, {&ping.node(), &pong.node()});

  const auto high = make_executor(context, "high", kHighPriority);
  const auto low = make_executor(context, "low", kLowPriority);
  high->add_node(ping.node());
  high->add_callback_group(pong.high_group(), pong.node());
  low->add_callback_group(pong.low_group(), pong.node());
  if (!ping.wait_for_pong_node(kLongestDiscovery)) {
    return context->ok() ? report_absent("ping_pong", "pong") : 0;  // 0: after Ctrl-C
  }
  {
    const Spinning low_spins(*low);
    const Spinning high_spins(*high);
    warn_without_realtime(*high);
    print_running(pong.node(), duration);
    wait_for_the_end(*context, duration);
    pong.read_cpu_times();
  }
  ping.print_statistics(duration);
  pong.print_statistics();
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run_program("ping_pong", argc, argv, run); }
