// SPDX-License-Identifier: Apache-2.0
/// The sections `hosts` and `links` of an app.yaml.
#include <string>

#include "write_parts.hpp"

namespace rclrt::model::detail {
namespace {

std::string time(const char* key, Nanoseconds value) {
  return value > Nanoseconds::zero() ? std::string(", ") + key + ": " + ms(value) : "";
}

std::string size(const char* key, std::size_t value, std::size_t usual) {
  return value != usual ? std::string(", ") + key + ": " + std::to_string(value) : "";
}

std::string bucket(std::uint64_t rate_kbit, std::size_t burst_bytes) {
  return "rate_kbit: " + std::to_string(rate_kbit) +
         ", burst_bytes: " + std::to_string(burst_bytes);
}

std::string host_text(const NetworkHost& host) {
  return "{name: " + name(host.name) +
         (host.address.empty() ? "" : ", address: " + in_double_quotes(host.address)) +
         cpus(host.cpus) + (host.clock_error ? ", clock_error_ms: " + ms(*host.clock_error) : "") +
         "}";
}

std::string link_text(const Application& application, const NetworkLink& link) {
  const auto host = [&](std::size_t index) { return name(application.hosts.at(index).name); };
  std::string text = "{name: " + name(link.name) + ", between: [" + host(link.between[0]) + ", " +
                     host(link.between[1]) + "], rate_kbit: " + std::to_string(link.rate_kbit);
  if (link.shaper) {
    text += ", shaper: {" + bucket(link.shaper->rate_kbit, link.shaper->burst_bytes) + "}";
  }
  text += time("latency_ms", link.latency) + time("min_latency_ms", link.min_latency) +
          time("access_ms", link.access);
  text += link.order == LinkOrder::kPriority ? ", order: priority" : "";
  text += size("mtu_bytes", link.mtu_bytes, NetworkLink::kMtu) +
          size("header_bytes", link.header_bytes, NetworkLink::kHeader) +
          size("framing_bytes", link.framing_bytes, NetworkLink::kFraming);
  if (!link.cross_traffic.empty()) {
    text += ", cross_traffic: " + list(link.cross_traffic, [&](const CrossTraffic& each) {
              return "{from: " + host(each.from) + ", " + bucket(each.rate_kbit, each.burst_bytes) +
                     (each.priority > 0 ? ", priority: " + std::to_string(each.priority) : "") +
                     "}";
            });
  }
  return text + "}";
}

}  // namespace

std::string hosts_and_links(const Application& application) {
  return section("hosts", application.hosts, host_text) +
         section("links", application.links,
                 [&](const NetworkLink& link) { return link_text(application, link); });
}

}  // namespace rclrt::model::detail
