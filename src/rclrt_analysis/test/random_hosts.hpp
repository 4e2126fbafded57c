// SPDX-License-Identifier: Apache-2.0
// Random applications on several hosts, with links between them.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "random_application.hpp"
#include "rclrt/model/link_messages.hpp"

namespace rclrt::analysis {

class RandomHosts : public RandomApplication {
 public:
  using RandomApplication::RandomApplication;

  /// Spreads an application over two or three hosts. The load of each link is at most 90 %.
  model::Application make_on_hosts() {
    model::Application application = make();
    spread(application, true);
    application.threads = {
        {.name = "middleware", .scheduling = {.policy = model::Policy::kFifo, .priority = 96}}};
    const int hosts = between(2, 3);
    for (int i = 0; i < hosts; ++i) {
      application.hosts.push_back({.name = "h" + std::to_string(i)});
    }
    for (std::size_t i = 0; i < application.executors.size(); ++i) {
      application.executors[i].host = i < 2 ? i : static_cast<std::size_t>(between(0, hosts - 1));
    }
    for (model::Callback& callback : application.callbacks) {
      callback.executor.reset();  // it would be on the host of its node
    }
    add_topics(application);
    for (std::size_t one = 0; one < application.hosts.size(); ++one) {
      for (std::size_t other = one + 1; other < application.hosts.size(); ++other) {
        application.links.push_back(draw_link(application, one, other));
        set_rate(application);
      }
    }
    return application;
  }

 private:
  void add_topics(model::Application& application) {
    for (const model::Callback& callback : application.callbacks) {
      for (const std::string& topic : callback.publishes) {
        const bool is_new = std::ranges::none_of(
            application.topics, [&](const auto& each) { return each.name == topic; });
        if (is_new) {
          const auto size = static_cast<std::size_t>(std::exp(uniform(2, 10)));
          application.topics.push_back(
              {.name = topic, .size_bytes = size, .network_priority = between(0, 3)});
        }
      }
    }
  }

  model::NetworkLink draw_link(const model::Application& application, std::size_t one,
                               std::size_t other) {
    model::NetworkLink link{.name = "l" + std::to_string(application.links.size()),
                            .between = {one, other},
                            .rate_kbit = 1};
    if (chance(0.5)) {
      link.order = model::LinkOrder::kPriority;
    }
    if (chance(0.4)) {
      link.latency = ms(chance(0.3) ? uniform(0, 200) : uniform(0, 2));
      link.min_latency = chance(0.5) ? link.latency / 2 : link.latency;
    }
    if (chance(0.3)) {
      link.access = ms(uniform(0, 1));
    }
    if (chance(0.3)) {
      link.mtu_bytes = static_cast<std::size_t>(between(200, 9000));
    }
    return link;
  }

  /// Sets the rate of the last link so that its busier direction has a random load, and adds a
  /// shaper and other traffic.
  void set_rate(model::Application& application) {
    model::NetworkLink& link = application.links.back();
    const auto rates = application.rates();
    std::array<double, 2> bits_per_s{};
    for (const model::LinkMessage& message : model::link_messages(application)) {
      if (message.way && message.way->link + 1 == application.links.size()) {
        const bool forth = message.way->from == link.between[0];
        bits_per_s.at(forth ? 0 : 1) +=
            8.0 * static_cast<double>(link.bytes_on_line(*message.bytes)) * rates[message.from];
      }
    }
    const double needed = std::max({bits_per_s[0], bits_per_s[1], 1e5}) / 1000;
    auto limit = static_cast<std::uint64_t>(needed / uniform(0.05, 0.7)) + 1;
    link.rate_kbit = limit;
    if (chance(0.4)) {
      link.rate_kbit = limit * static_cast<std::uint64_t>(between(1, 10));
      const auto packet = static_cast<double>(link.largest_packet());
      link.shaper = {.rate_kbit = limit,
                     .burst_bytes = static_cast<std::size_t>(packet * uniform(1, 8))};
    }
    const int others = between(0, 2);
    for (int i = 0; i < others; ++i) {
      link.cross_traffic.push_back(
          {.from = link.between.at(static_cast<std::size_t>(between(0, 1))),
           .rate_kbit = static_cast<std::uint64_t>(static_cast<double>(limit) * uniform(0, 0.1)),
           .burst_bytes = static_cast<std::size_t>(between(1, 20'000)),
           .priority = between(0, 3)});
    }
  }
};

}  // namespace rclrt::analysis
