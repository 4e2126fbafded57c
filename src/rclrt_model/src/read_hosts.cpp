// SPDX-License-Identifier: Apache-2.0
/// The sections "hosts" and "links".
#include <algorithm>
#include <string>
#include <utility>

#include "limits.hpp"
#include "names.hpp"
#include "read_scheduling.hpp"
#include "reader.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {
namespace {

std::optional<std::int64_t> read_number(const Fields& fields, std::string_view key,
                                        IntegerRange range, Context& context) {
  const YamlNode* node = fields.find(key);
  return node != nullptr ? read_integer(*node, key, range, context) : std::nullopt;
}

std::int64_t require_number(const Fields& fields, std::string_view key, std::string_view example,
                            IntegerRange range, Context& context) {
  const YamlNode* node = fields.require(key, example);
  return node != nullptr ? read_integer(*node, key, range, context).value_or(0) : 0;
}

Nanoseconds read_time(const Fields& fields, std::string_view key, Context& context) {
  const YamlNode* node = fields.find(key);
  return node == nullptr
             ? Nanoseconds::zero()
             : read_milliseconds(*node, key, Zero::kAllowed, context).value_or(Nanoseconds::zero());
}

std::size_t resolve_host(const YamlNode& node, std::string_view what, Reading& reading) {
  const auto name = read_text(node, what, reading.context);
  return name ? reading.hosts.resolve(*name, node.at, reading.context) : kUnknown;
}

void read_address(const Fields& fields, NetworkHost& host, Context& context) {
  const YamlNode* node = fields.find("address");
  if (node == nullptr) {
    return;
  }
  // An address may look like a number, which a text must not do without quotes.
  const std::string address = yaml::is_scalar(*node) ? node->text : std::string();
  const auto fits = [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == ':' || c == '-' || c == '_' || c == '%';
  };
  const bool valid = !address.empty() && address.size() <= kMaxName && address.front() != '-' &&
                     std::ranges::all_of(address, fits);
  if (valid) {
    host.address = address;
  } else {
    report_value(*node, "address", "a host name or an IP address such as 10.0.0.2", context);
  }
}

void read_ends(const Fields& fields, NetworkLink& link, Reading& reading) {
  const YamlNode* node = fields.require("between", "between: [lidar_pc, main_pc]");
  if (node == nullptr) {
    link.between = {kUnknown, kUnknown};
    return;
  }
  const auto& items = read_list(*node, "between", reading.context);
  for (std::size_t end = 0; end < link.between.size(); ++end) {
    link.between.at(end) =
        end < items.size() ? resolve_host(items[end], "host", reading) : kUnknown;
  }
  const bool differ =
      items.size() == 2 && (link.between[0] != link.between[1] || link.between[0] == kUnknown);
  if (node->kind == YamlKind::kSequence && !differ) {
    reading.context.diagnostics.report(node->at,
                                       "link " + in_quotes(link.name) + " is not between two hosts",
                                       "two different hosts such as [lidar_pc, main_pc]");
    return;
  }
  for (const NetworkLink& other : reading.draft.application.links) {
    const bool same = link.between == other.between ||
                      (link.between[0] == other.between[1] && link.between[1] == other.between[0]);
    if (same && link.between[0] != kUnknown && link.between[1] != kUnknown) {
      reading.context.diagnostics.report(
          node->at,
          "link " + in_quotes(link.name) + " joins the same hosts as link " + in_quotes(other.name),
          "one link for each pair of hosts");
    }
  }
}

void read_packet_sizes(const Fields& fields, NetworkLink& link, Context& context) {
  const auto read = [&](std::string_view key, IntegerRange range, std::size_t& value) {
    value = static_cast<std::size_t>(
        read_number(fields, key, range, context).value_or(static_cast<std::int64_t>(value)));
  };
  read("mtu_bytes", kPacketBytes, link.mtu_bytes);
  read("header_bytes", kHeaderBytes, link.header_bytes);
  read("framing_bytes", kHeaderBytes, link.framing_bytes);
  if (link.mtu_bytes <= link.header_bytes) {
    const YamlNode* at = fields.find("mtu_bytes");
    report_value(at != nullptr ? *at : *fields.find("header_bytes"),
                 at != nullptr ? "mtu_bytes" : "header_bytes",
                 "mtu_bytes above header_bytes (" + std::to_string(link.header_bytes) +
                     "), so that a packet has room for data",
                 context);
  }
}

void read_shaper(const Fields& fields, NetworkLink& link, Context& context) {
  const YamlNode* node = fields.find("shaper");
  if (node == nullptr) {
    return;
  }
  const Fields own(*node, "shaper", {"rate_kbit", "burst_bytes"}, context);
  if (node->kind != YamlKind::kMapping) {
    return;
  }
  Shaper shaper;
  shaper.rate_kbit = static_cast<std::uint64_t>(
      require_number(own, "rate_kbit", "rate_kbit: 20000", kRates, context));
  shaper.burst_bytes = static_cast<std::size_t>(
      require_number(own, "burst_bytes", "burst_bytes: 16000", kBurstBytes, context));
  if (link.rate_kbit > 0 && shaper.rate_kbit > link.rate_kbit) {
    report_value(*own.find("rate_kbit"), "rate_kbit",
                 "at most that of the line, " + std::to_string(link.rate_kbit), context);
  }
  if (shaper.burst_bytes > 0 && shaper.burst_bytes < link.largest_packet()) {
    report_value(*own.find("burst_bytes"), "burst_bytes",
                 "at least the largest packet, " + std::to_string(link.largest_packet()) +
                     " bytes (mtu_bytes and framing_bytes), which would never leave otherwise",
                 context);
  }
  link.shaper = shaper;
}

void read_cross_traffic(const Fields& fields, NetworkLink& link, Reading& reading) {
  const YamlNode* section = fields.find("cross_traffic");
  if (section == nullptr) {
    return;
  }
  Context& context = reading.context;
  for (const YamlNode& item : read_list(*section, "cross_traffic", context)) {
    const Fields own(item, "cross traffic", {"from", "rate_kbit", "burst_bytes", "priority"},
                     context);
    if (item.kind != YamlKind::kMapping) {
      continue;
    }
    CrossTraffic traffic;
    if (const YamlNode* node = own.require("from", "from: main_pc")) {
      traffic.from = resolve_host(*node, "from", reading);
      const bool is_end = std::ranges::find(link.between, traffic.from) != link.between.end();
      if (traffic.from != kUnknown && !is_end) {
        report_value(*node, "from", "one of the two hosts of the link", context);
      }
    }
    traffic.rate_kbit = static_cast<std::uint64_t>(
        require_number(own, "rate_kbit", "rate_kbit: 1000", kCrossRates, context));
    traffic.burst_bytes = static_cast<std::size_t>(
        require_number(own, "burst_bytes", "burst_bytes: 3000", kBurstBytes, context));
    traffic.priority =
        static_cast<int>(read_number(own, "priority", kPriorities, context).value_or(0));
    link.cross_traffic.push_back(traffic);
  }
}

void read_times(const Fields& fields, NetworkLink& link, Context& context) {
  link.latency = read_time(fields, "latency_ms", context);
  link.min_latency = read_time(fields, "min_latency_ms", context);
  link.access = read_time(fields, "access_ms", context);
  if (link.min_latency > link.latency) {
    report_value(*fields.find("min_latency_ms"), "min_latency_ms", "at most latency_ms", context);
  }
}

}  // namespace

void read_hosts(const YamlNode* section, Reading& reading) {
  if (section == nullptr) {
    return;
  }
  Context& context = reading.context;
  const auto& items = read_filled_list(*section, "hosts", context);
  if (items.empty()) {
    reading.hosts.assume_missing();
  }
  for (const YamlNode& item : items) {
    const Fields fields(item, "host", {"name", "address", "cpus", "clock_error_ms"}, context);
    NetworkHost host;
    host.name = read_declared_name(fields, "name", "name: main_pc", reading.hosts, context);
    read_address(fields, host, context);
    host.cpus = read_cpus(fields, "cpus", context);
    if (const YamlNode* node = fields.find("clock_error_ms")) {
      host.clock_error = read_milliseconds(*node, "clock_error_ms", Zero::kAllowed, context);
    }
    reading.draft.application.hosts.push_back(std::move(host));
  }
}

void read_links(const YamlNode* section, Reading& reading) {
  if (section == nullptr) {
    return;
  }
  Context& context = reading.context;
  NameIndex links("link", "links");
  for (const YamlNode& item : read_list(*section, "links", context)) {
    const Fields fields(
        item, "link",
        {"name", "between", "rate_kbit", "shaper", "latency_ms", "min_latency_ms", "access_ms",
         "order", "mtu_bytes", "header_bytes", "framing_bytes", "cross_traffic"},
        context);
    if (item.kind != YamlKind::kMapping) {
      continue;
    }
    NetworkLink link;
    link.name = read_declared_name(fields, "name", "name: cable", links, context);
    read_ends(fields, link, reading);
    link.rate_kbit = static_cast<std::uint64_t>(
        require_number(fields, "rate_kbit", "rate_kbit: 100000", kRates, context));
    read_packet_sizes(fields, link, context);
    read_shaper(fields, link, context);
    read_times(fields, link, context);
    if (const YamlNode* node = fields.find("order")) {
      link.order = read_choice<LinkOrder>(
                       *node, "order",
                       {{"fifo", LinkOrder::kFifo}, {"priority", LinkOrder::kPriority}}, context)
                       .value_or(LinkOrder::kFifo);
    }
    read_cross_traffic(fields, link, reading);
    reading.draft.application.links.push_back(std::move(link));
  }
}

std::optional<std::size_t> read_host_of_executor(const Fields& fields, Position at,
                                                 const Executor& executor, Reading& reading) {
  const auto& hosts = reading.draft.application.hosts;
  const YamlNode* node = fields.find("host");
  if (node == nullptr) {
    if (!hosts.empty() && !fields.is_misspelt("host")) {
      reading.context.diagnostics.report(at,
                                         "executor " + in_quotes(executor.name) + " states no host",
                                         "the key 'host', because the application has hosts");
      return kUnknown;
    }
    return std::nullopt;
  }
  const std::size_t host = resolve_host(*node, "host", reading);
  if (host >= hosts.size() || hosts[host].cpus.empty()) {
    return host;
  }
  const auto& cpus = hosts[host].cpus;
  for (const auto& [key, own] :
       {std::pair("cpus", &executor.cpus), std::pair("scheduler_cpus", &executor.scheduler_cpus)}) {
    for (const int cpu : *own) {
      if (std::ranges::find(cpus, cpu) == cpus.end()) {
        reading.context.diagnostics.report(fields.find(key)->at,
                                           "executor " + in_quotes(executor.name) + " uses CPU " +
                                               std::to_string(cpu) + ", which host " +
                                               in_quotes(hosts[host].name) + " does not state",
                                           "CPUs of its host");
        break;
      }
    }
  }
  return host;
}

}  // namespace rclrt::model::detail
