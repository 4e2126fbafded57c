// SPDX-License-Identifier: Apache-2.0
#include "hosts.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::runner {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLookAtHosts{50};
constexpr std::int64_t kPreparing_ns = 60'000'000'000;
constexpr std::int64_t kPatience_ns = 20'000'000'000;

}  // namespace

std::vector<std::vector<std::size_t>> processes_here(const model::Application& application,
                                                     const std::vector<HostConnection>& hosts) {
  auto result = application.processes();
  std::set<std::string> known;
  for (const auto& each : result) {
    known.insert(host_of(application, each));
  }
  std::set<std::string> connected;
  for (const HostConnection& each : hosts) {
    if (!known.contains(each.host)) {
      throw std::invalid_argument("the application has no executor on host '" + each.host + "'");
    }
    if (!connected.insert(each.host).second) {
      throw std::invalid_argument("host '" + each.host + "' has two connections; expected one");
    }
  }
  std::erase_if(result, [&](const auto& process) {
    return std::ranges::find(hosts, host_of(application, process), &HostConnection::host) !=
           hosts.end();
  });
  return result;
}

RemoteHosts::RemoteHosts(const model::Application& application, const RunOptions& options)
    : application_(application) {
  for (const HostConnection& each : options.hosts) {
    hosts_.push_back(std::make_unique<RemoteHost>(each, application, options));
  }
}

bool RemoteHosts::greet(StopRequests& requests) {
  for (const auto& host : hosts_) {
    try {
      if (!host->greet([&] { return !requests.arrived(milliseconds(0)); })) {
        return false;
      }
    } catch (const std::runtime_error& error) {
      throw std::runtime_error("host '" + host->result().name + "': " + error.what());
    }
  }
  return true;
}

void RemoteHosts::start(const RemoteHost::Take& take) {
  for (const auto& host : hosts_) {
    host->start(take, StopRequests::request);
  }
}

std::vector<Part> RemoteHosts::wait_until_prepared(StopRequests& requests) {
  std::vector<Part> result;
  const std::int64_t limit_ns = realtime::monotonic_now_ns() + kPreparing_ns;
  for (const auto& host : hosts_) {
    while (host->wait_for(RemoteHost::State::kPrepared, kLookAtHosts) <
               RemoteHost::State::kPrepared &&
           !requests.arrived(milliseconds(0))) {
      if (realtime::monotonic_now_ns() > limit_ns) {
        host->lose("is not prepared after 60 s");
      }
    }
    rethrow();
    if (requests.arrived(milliseconds(0)) || host->state() != RemoteHost::State::kPrepared) {
      return {};
    }
    std::ranges::move(host->parts(), std::back_inserter(result));
  }
  return result;
}

void RemoteHosts::rethrow() const {
  for (const auto& host : hosts_) {
    if (const auto result = host->result(); !result.lost.empty()) {
      throw std::runtime_error("host '" + result.name + "': " + result.lost);
    }
  }
}

std::int64_t RemoteHosts::round_trip_ns() const {
  std::int64_t result = 0;
  for (const auto& host : hosts_) {
    result = std::max(result, host->round_trip_ns());
  }
  return result;
}

void RemoteHosts::begin(std::int64_t epoch_ns) {
  rethrow();
  for (const auto& host : hosts_) {
    host->begin(epoch_ns);
  }
}

std::vector<Part> RemoteHosts::wait(std::int64_t end_ns, StopRequests& requests) {
  const auto is_over = [](const auto& host) { return host->state() >= RemoteHost::State::kDone; };
  bool is_asked = false;
  std::int64_t limit_ns = end_ns + kPatience_ns;
  while (!std::ranges::all_of(hosts_, is_over)) {
    const std::int64_t now_ns = realtime::monotonic_now_ns();
    if (now_ns > limit_ns) {
      std::ranges::for_each(hosts_, [](const auto& host) {
        host->lose("did not end its part of the run within 20 s");
      });
      break;
    }
    if (is_asked) {
      std::this_thread::sleep_for(kLookAtHosts);
    } else if (requests.arrived(kLookAtHosts)) {
      is_asked = true;
      std::ranges::for_each(hosts_, [](const auto& host) { host->request_end(); });
      limit_ns = now_ns + kPatience_ns;
    }
  }
  std::vector<Part> result;
  for (const auto& host : hosts_) {
    if (host->state() == RemoteHost::State::kNotBegun) {
      return {};
    }
    std::ranges::move(host->parts(), std::back_inserter(result));
  }
  return result;
}

void RemoteHosts::disconnect() {
  for (const auto& host : hosts_) {
    host->disconnect();
  }
}

recorder::HostTable RemoteHosts::results() const {
  recorder::HostTable table;
  if (hosts_.empty()) {
    return table;
  }
  std::vector<std::string> names;  // of the other hosts
  for (const auto& host : hosts_) {
    names.push_back(host->result().name);
  }
  recorder::HostTimes here;
  const auto name_of = [&](std::size_t executor) { return host_of(application_, {executor}); };
  const auto is_here = [&](const std::string& name) {
    return std::ranges::find(names, name) == names.end();
  };
  for (std::size_t executor = 0; executor < application_.executors.size(); ++executor) {
    if (here.name.empty() && is_here(name_of(executor))) {
      here.name = name_of(executor);
    }
  }
  here.name = here.name.empty() ? "this host" : here.name;
  table.hosts.push_back(here);
  for (const auto& host : hosts_) {
    table.hosts.push_back(host->result());
    table.hosts.back().compared_with = here.name;
  }
  for (std::size_t callback = 0; callback < application_.callbacks.size(); ++callback) {
    const std::string name = name_of(application_.executor_of(callback));
    const auto other = std::ranges::find(names, name);
    table.of_callback.push_back(
        other == names.end() ? 0 : static_cast<std::size_t>(other - names.begin()) + 1);
  }
  return table;
}

}  // namespace rclrt::runner
