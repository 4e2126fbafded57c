// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/middleware.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace rclrt::model {

namespace {

// A version of a middleware with other names of libraries is a row of its own; the first row of an
// rmw counts for plans.
constexpr std::array<Middleware, 5> kMiddlewares{
    {{"rmw_fastrtps_cpp", "Fast DDS", "libfast*", "dds.udp.7411", "libfastrtps.so.2.14",
      "eprosima::fastrtps::rtps::UDPChannelResource"},
     {"rmw_fastrtps_cpp", "Fast DDS", "libfast*", "dds.udp.7411", "libfastdds.so.3.2",
      "eprosima::fastdds::rtps::UDPChannelResource"},
     {"rmw_fastrtps_dynamic_cpp", "Fast DDS", "libfast*", "dds.udp.7411", "libfastrtps.so.2.14",
      "eprosima::fastrtps::rtps::UDPChannelResource"},
     {"rmw_cyclonedds_cpp", "Cyclone DDS", "libddsc*", "recvUC", "libddsc.so.0",
      "create_thread_wrapper"},
     {"rmw_zenoh_cpp", "Zenoh", "libzenohc*", "rx-0", "libzenohc.so", "zenoh_transport"}}};

}  // namespace

std::span<const Middleware> middlewares() { return kMiddlewares; }

bool is_of_middleware(const ThreadRule& rule) {
  return rule.name == "middleware" && rule.library.empty() && rule.function.empty();
}

ThreadPlan for_middleware(ThreadPlan plan, std::string_view rmw) {
  const auto* const known = std::ranges::find(kMiddlewares, rmw, &Middleware::rmw);
  for (ThreadRule& rule : plan.rules) {
    if (!is_of_middleware(rule)) {
      continue;
    }
    if (known == kMiddlewares.end()) {
      throw std::invalid_argument(
          "threads: 'name: middleware': the threads of " + std::string(rmw) +
          " are not known\n  fix: state their library instead, such as library: \"libdds*\"; the "
          "log of a robot without this rule names it for each thread");
    }
    rule.name.clear();
    rule.library = known->library;
  }
  return plan;
}

}  // namespace rclrt::model
