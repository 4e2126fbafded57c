// SPDX-License-Identifier: Apache-2.0
// The messages of an application that go from host to host.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rclrt/model/application.hpp"
#include "rclrt/model/export.hpp"

namespace rclrt::model {

/// One direction of a link: it has a queue and a line of its own.
struct LinkDirection {
  std::size_t link{};  ///< index into Application::links
  std::size_t from{};  ///< index into Application::hosts
  std::size_t to{};    ///< index into Application::hosts
  bool operator==(const LinkDirection&) const = default;
};

/// The messages of one publisher that one callback of another host takes. Each such callback gets
/// a copy of its own.
struct LinkMessage {
  std::size_t from{};                  ///< publisher: index into Application::callbacks
  std::size_t output{};                ///< index into its Callback::publishes
  std::size_t to{};                    ///< callback that takes the message
  std::optional<std::size_t> input{};  ///< index into its inputs(); nullopt: it samples the topic
  std::optional<LinkDirection> way{};  ///< nullopt: no link leads from host to host
  std::optional<std::size_t> bytes{};  ///< payload; nullopt: the file states none, or 0
  int priority{};                      ///< Topic::network_priority
  bool operator==(const LinkMessage&) const = default;
};

/// Returns the messages between hosts, in the order of publishers, topics and takers. Empty for an
/// application without hosts.
RCLRT_MODEL_EXPORT std::vector<LinkMessage> link_messages(const Application& application);

/// Returns both directions of each link, in the order of the links: from the first host of
/// `between` to the second, then back.
RCLRT_MODEL_EXPORT std::vector<LinkDirection> link_directions(const Application& application);

/// Returns a copy without hosts and links in which CPUs of different hosts have different numbers.
/// Callbacks, executors and chains keep their indices. An executor that states no CPUs gets those
/// of its host; if the host states none either, those that the host's other executors state, or as
/// many new ones as `without_statement` if these are more. Returns an application without hosts as
/// it is.
RCLRT_MODEL_EXPORT Application with_distinct_cpus(const Application& application,
                                                  unsigned without_statement = 1);

}  // namespace rclrt::model
