// SPDX-License-Identifier: Apache-2.0
/// Python: hosts, links and the messages between hosts.
#include "rclrt/model/network.hpp"

#include <array>

#include "rclrt/model/link_messages.hpp"
#include "record.hpp"

namespace rclrt::model {

void bind_network(py::module_& module) {
  Record<NetworkHost>(module, "NetworkHost")
      .field("name", &NetworkHost::name)
      .field("address", &NetworkHost::address)
      .field("cpus", &NetworkHost::cpus)
      .field("clock_error_ns", &NetworkHost::clock_error);
  Record<Shaper>(module, "Shaper")
      .field("rate_kbit", &Shaper::rate_kbit)
      .field("burst_bytes", &Shaper::burst_bytes);
  Record<CrossTraffic>(module, "CrossTraffic")
      .field("from_", &CrossTraffic::from)
      .field("rate_kbit", &CrossTraffic::rate_kbit)
      .field("burst_bytes", &CrossTraffic::burst_bytes)
      .field("priority", &CrossTraffic::priority);
  Record<NetworkLink>(module, "NetworkLink")
      .field("name", &NetworkLink::name)
      .value(
          "between",
          [](const NetworkLink& link) { return py::make_tuple(link.between[0], link.between[1]); })
      .field("rate_kbit", &NetworkLink::rate_kbit)
      .field("shaper", &NetworkLink::shaper)
      .field("min_latency_ns", &NetworkLink::min_latency)
      .field("latency_ns", &NetworkLink::latency)
      .field("access_ns", &NetworkLink::access)
      .field("order", &NetworkLink::order)
      .field("mtu_bytes", &NetworkLink::mtu_bytes)
      .field("header_bytes", &NetworkLink::header_bytes)
      .field("framing_bytes", &NetworkLink::framing_bytes)
      .field("cross_traffic", &NetworkLink::cross_traffic)
      .more()
      .def("bytes_on_line", &NetworkLink::bytes_on_line, py::arg("payload_bytes"));
  Record<LinkDirection>(module, "LinkDirection")
      .field("link", &LinkDirection::link)
      .field("from_", &LinkDirection::from)
      .field("to", &LinkDirection::to);
  Record<LinkMessage>(module, "LinkMessage")
      .field("from_", &LinkMessage::from)
      .field("output", &LinkMessage::output)
      .field("to", &LinkMessage::to)
      .field("input", &LinkMessage::input)
      .field("way", &LinkMessage::way)
      .field("bytes", &LinkMessage::bytes)
      .field("priority", &LinkMessage::priority);
  module.def(
      "link_messages",
      [](const Application& application) {
        return py::tuple(py::cast(link_messages(application)));
      },
      py::arg("application"), "Returns the messages between hosts.");
}

}  // namespace rclrt::model
