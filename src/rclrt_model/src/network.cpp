// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/network.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "rclrt/model/link_messages.hpp"

namespace rclrt::model {

std::vector<std::size_t> NetworkLink::packets(std::size_t payload_bytes) const {
  const std::size_t most = mtu_bytes > header_bytes ? mtu_bytes - header_bytes : 1;
  std::size_t left = payload_bytes + kDataHeader;
  std::vector<std::size_t> result;
  while (left > 0) {
    const std::size_t here = std::min(left, most);
    result.push_back(here + header_bytes + framing_bytes);
    left -= here;
  }
  return result;
}

std::size_t NetworkLink::bytes_on_line(std::size_t payload_bytes) const {
  const auto each = packets(payload_bytes);
  return std::accumulate(each.begin(), each.end(), std::size_t{0});
}

namespace {

std::optional<LinkDirection> way(const Application& application, std::size_t from, std::size_t to) {
  for (const LinkDirection& each : link_directions(application)) {
    if (each.from == from && each.to == to) {
      return each;
    }
  }
  return std::nullopt;
}

/// The topics that one callback takes: those of its inputs, then those that it samples.
using Taken = std::vector<std::pair<std::string, std::optional<std::size_t>>>;

Taken taken_by(const Callback& callback) {
  Taken result;
  const std::vector<std::string> topics = inputs(callback);
  for (std::size_t input = 0; input < topics.size(); ++input) {
    result.emplace_back(topics[input], input);
  }
  for (const std::string& topic : callback.samples) {
    result.emplace_back(topic, std::nullopt);
  }
  return result;
}

}  // namespace

std::vector<LinkDirection> link_directions(const Application& application) {
  std::vector<LinkDirection> result;
  for (std::size_t link = 0; link < application.links.size(); ++link) {
    const auto& [one, other] = application.links[link].between;
    result.push_back({link, one, other});
    result.push_back({link, other, one});
  }
  return result;
}

std::vector<LinkMessage> link_messages(const Application& application) {
  std::vector<LinkMessage> result;
  if (application.hosts.empty()) {
    return result;
  }
  std::map<std::string_view, const Topic*> topics;
  for (const Topic& topic : application.topics) {
    topics[topic.name] = &topic;
  }
  std::vector<Taken> taken;
  for (const Callback& callback : application.callbacks) {
    taken.push_back(taken_by(callback));
  }
  for (std::size_t from = 0; from < application.callbacks.size(); ++from) {
    const auto& publishes = application.callbacks[from].publishes;
    const std::size_t here = application.host_of(from).value();
    for (std::size_t output = 0; output < publishes.size(); ++output) {
      for (std::size_t to = 0; to < taken.size(); ++to) {
        const std::size_t there = application.host_of(to).value();
        for (const auto& [topic, input] : taken[to]) {
          if (here == there || topic != publishes[output]) {
            continue;
          }
          LinkMessage message{.from = from, .output = output, .to = to, .input = input};
          message.way = way(application, here, there);
          if (const auto found = topics.find(topic); found != topics.end()) {
            message.priority = found->second->network_priority;
            if (found->second->size_bytes > 0) {
              message.bytes = found->second->size_bytes;
            }
          }
          result.push_back(message);
        }
      }
    }
  }
  return result;
}

Application with_distinct_cpus(const Application& application, unsigned without_statement) {
  if (application.hosts.empty()) {
    return application;
  }
  Application result = application;
  int first = 0;  // number of the host's first CPU in the result
  for (std::size_t host = 0; host < application.hosts.size(); ++host) {
    std::set<int> cpus(application.hosts[host].cpus.begin(), application.hosts[host].cpus.end());
    const bool states = !cpus.empty();
    for (const Executor& executor : application.executors) {
      if (executor.host == host) {
        cpus.insert(executor.cpus.begin(), executor.cpus.end());
        cpus.insert(executor.scheduler_cpus.begin(), executor.scheduler_cpus.end());
      }
    }
    for (int cpu = 0; !states && cpus.size() < std::max(without_statement, 1U); ++cpu) {
      cpus.insert(cpu);
    }
    const auto renumber = [&](std::vector<int>& own) {
      for (int& cpu : own) {
        cpu = first + static_cast<int>(std::distance(cpus.begin(), cpus.find(cpu)));
      }
    };
    for (Executor& executor : result.executors) {
      if (executor.host != host) {
        continue;
      }
      if (executor.cpus.empty()) {
        executor.cpus.assign(cpus.begin(), cpus.end());
      }
      renumber(executor.cpus);
      renumber(executor.scheduler_cpus);
      // Processes of two hosts differ, also if their names are equal.
      executor.process += "@" + application.hosts[host].name;
      executor.host.reset();
    }
    first += static_cast<int>(cpus.size());
  }
  result.hosts.clear();
  result.links.clear();
  return result;
}

}  // namespace rclrt::model
