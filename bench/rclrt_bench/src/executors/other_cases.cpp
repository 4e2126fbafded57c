// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <std_srvs/srv/empty.hpp>
#include <vector>

#include "cases.hpp"
#include "conduct.hpp"
#include "observer.hpp"
#include "rclrt/rclrt.hpp"

namespace rclrt::bench {

void measure_request(const Setting& setting, Row& service, Row& client) {
  using Empty = std_srvs::srv::Empty;
  constexpr std::chrono::seconds kDiscovery{20};
  Observer observe_service(setting.samples);
  Observer observe_client(setting.samples);
  Node node(setting.context, "bench");
  node.create_service<Empty>(
      "bench_service",
      [&](const Empty::Request&, Empty::Response&, const InstanceInfo& info) {
        observe_service(info.start_ns - info.ready_ns);
      },
      10, setting.callback(1));
  const auto asking = node.create_client<Empty>("bench_service", 10, setting.callback(2));
  Contender contender(setting.executor, setting.context, setting.cpus);
  contender.add_node(node);
  if (!asking->wait_for_service(kDiscovery)) {
    return;  // interrupted
  }
  const auto ask = [&](std::size_t) {
    asking->async_send_request(Empty::Request(),
                               [&](const Empty::Response&, const InstanceInfo& info) {
                                 observe_client(info.start_ns - info.ready_ns);
                               });
  };
  conduct(contender, setting, at_1_khz(setting, ask), {&observe_client, &observe_service});
  observe_service.report(service);
  observe_client.report(client);
  service.lost += setting.samples - observe_service.kept();
  client.lost += setting.samples - observe_client.kept();
}

void measure_guard_conditions(const Setting& setting, Row& row) {
  /// A prime, so that it visits all places of a power of ten, scattered.
  constexpr std::size_t kStride = 7919;
  struct Triggered {
    std::shared_ptr<GuardCondition> condition;
    std::atomic<std::int64_t> at_ns{0};  // of the first trigger for which no callback has run
  };
  Observer observe(setting.samples);
  Node node(setting.context, "bench");
  std::vector<Triggered> all(static_cast<std::size_t>(row.key.entities));
  for (Triggered& each : all) {
    each.condition = node.create_guard_condition(
        [&](const InstanceInfo& info) {
          if (const std::int64_t triggered_ns = each.at_ns.exchange(0); triggered_ns != 0) {
            observe(info.start_ns - triggered_ns);
          }
        },
        setting.callback(1));
  }
  Contender contender(setting.executor, setting.context, setting.cpus);
  contender.add_node(node);
  const auto trigger = [&](std::size_t i) {
    Triggered& each = all[i * kStride % all.size()];
    std::int64_t unanswered = 0;
    each.at_ns.compare_exchange_strong(unanswered, realtime::monotonic_now_ns());
    each.condition->trigger();
  };
  conduct(contender, setting, at_1_khz(setting, trigger), {&observe});
  observe.report(row);
  row.lost += setting.samples - observe.kept();
}

}  // namespace rclrt::bench
