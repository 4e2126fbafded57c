// SPDX-License-Identifier: Apache-2.0
// The paths from timers and events to the messages between hosts.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "rclrt/analysis/task_set.hpp"
#include "rclrt/model/link_messages.hpp"

namespace rclrt::analysis::detail {

/// A flow of a message: one of MessageFlows::of().
struct FlowId {
  std::size_t message{};  ///< index into MessageFlows::messages()
  std::size_t flow{};
  auto operator<=>(const FlowId&) const = default;
};

/// The instances of a message that stem from the releases of one timer or event by one path: one
/// for each release at most.
struct MessageFlow {
  /// The message from another host with which the path begins; nullopt: it begins with a timer or
  /// an event.
  std::optional<FlowId> entry;
  std::vector<std::size_t> callbacks;  ///< of the publisher's host, from the entry to the publisher
  Ticks period{};                      ///< of the releases
  Ticks jitter{};                      ///< of an event; nominal releases are `period` apart
};

/// All messages between hosts, with their flows. Behind a sync, the flows are those of its rarest
/// input: each set takes one message of each input.
class MessageFlows {
 public:
  /// Keeps a reference to the application.
  explicit MessageFlows(const model::Application& application);

  const std::vector<model::LinkMessage>& messages() const { return messages_; }
  const std::vector<MessageFlow>& of(std::size_t message) const { return flows_[message]; }

  /// Returns whether of() has all flows. False if there are too many, or if a callback takes
  /// several topics of the callback before it.
  bool is_complete(std::size_t message) const { return complete_[message]; }

  /// Returns the message by which a chain goes from its callback n - 1 to its callback n.
  std::size_t message_of(const model::Chain& chain, std::size_t n) const;

 private:
  struct Found {
    std::vector<MessageFlow> flows;
    bool complete = true;
  };

  const Found& paths_to(std::size_t callback, std::size_t output);
  Found find_paths(std::size_t callback, std::size_t output);
  const Found& flows_of(std::size_t message);
  std::vector<std::size_t> followed_inputs(std::size_t callback, std::size_t output) const;

  const model::Application& application_;
  std::vector<model::LinkMessage> messages_;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>, std::size_t> index_;
  std::map<std::string, std::vector<std::pair<std::size_t, std::size_t>>> publishers_;
  std::vector<double> rates_;
  std::map<std::size_t, Found> known_;                          // by message
  std::map<std::pair<std::size_t, std::size_t>, Found> paths_;  // by callback and output
  std::vector<std::vector<MessageFlow>> flows_;
  std::vector<bool> complete_;
};

}  // namespace rclrt::analysis::detail
