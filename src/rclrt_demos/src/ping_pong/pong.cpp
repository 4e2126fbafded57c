// SPDX-License-Identifier: Apache-2.0
// The pong node in a process of its own; the other half is the program ping.
//
//   pong --ros-args -p high_busyloop:=0.025 -p low_busyloop:=0.01
#include "pong_node.hpp"

namespace {

using namespace rclrt::demos;  // NOLINT(google-build-using-namespace): this is its program

int run(const std::shared_ptr<rclrt::Context>& context) {
  PongNode pong(context);
  const Seconds duration = declare_duration(pong.node());
  require_known_arguments(*context, {&pong.node()});
  const auto high = make_executor(context, "high", kHighPriority);
  const auto low = make_executor(context, "low", kLowPriority);
  high->add_callback_group(pong.high_group(), pong.node());
  low->add_callback_group(pong.low_group(), pong.node());
  print_info(pong.node(), "Waiting for the ping node ...");
  if (!pong.wait_for_ping_node(kLongestDiscovery)) {
    return context->ok() ? report_absent("pong", "ping") : 0;  // 0: after Ctrl-C
  }
  {
    const Spinning low_spins(*low);
    const Spinning high_spins(*high);
    warn_without_realtime(*high);
    print_running(pong.node(), duration);
    wait_for_the_end(*context, duration);
    pong.read_cpu_times();
  }
  pong.print_statistics();
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run_program("pong", argc, argv, run); }
