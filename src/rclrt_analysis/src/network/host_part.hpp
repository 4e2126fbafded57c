// SPDX-License-Identifier: Apache-2.0
// The part of an application that one host runs, as an application of its own. Messages from other
// hosts are events with a period and a jitter.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "network/message_flows.hpp"
#include "rclrt/model/application.hpp"
#include "rclrt/model/executor_choice.hpp"

namespace rclrt::analysis::detail {

/// When instances of a flow arrive: n periods after the first nominal time, or up to the jitter
/// later.
struct FlowArrival {
  Ticks period{};
  Ticks jitter{};
  bool known = true;  ///< false: nothing is known of them
  bool operator==(const FlowArrival&) const = default;
};

/// A chain of a part.
struct PartChain {
  /// A segment of a chain of the whole application: its index, and the place of its first callback.
  /// If a message from another host leads there by several flows, each of them is a chain.
  struct Segment {
    std::size_t chain{};
    std::size_t first{};
  };
  std::optional<Segment> segment;  ///< nullopt: the path of `flow` to its publisher
  FlowId flow{};
};

/// One host's part of an application.
class HostPart {
 public:
  /// `host`: index into Application::hosts. Keeps references to both.
  HostPart(const model::Application& application, std::size_t host, const MessageFlows& flows,
           const model::ExecutorChoice& executor);

  const model::Application& application() const { return part_; }
  const std::vector<PartChain>& chains() const { return chains_; }

  /// Returns the number of callbacks that are the application's own: the first ones.
  std::size_t own_callbacks() const { return part_of_.size(); }

  /// Returns the callback of the whole application; for a message's arrival, the one that takes it.
  std::size_t whole(std::size_t callback) const { return whole_[callback]; }

  /// Returns whether the callback that takes the message is the event itself. Otherwise, the event
  /// passes the message on to another executor (Overheads::far).
  bool is_direct(std::size_t message) const;

  /// Takes over when a message arrives.
  void set_arrival(FlowId flow, const FlowArrival& arrival);

  /// Returns a sync that matches messages of another host, as a callback of the whole application:
  /// by stamps that are older than their arrival, and of another clock. nullopt: there is none. The
  /// proofs of find_joins() do not hold for such a sync, because they need that no stamp is later
  /// than its arrival.
  std::optional<std::size_t> sync_over_hosts() const;

 private:
  struct ArrivalEvent {
    std::size_t callback{};
    FlowArrival arrival;
  };

  void add_executors();
  void add_callbacks();
  void add_arrivals();
  void add_event(FlowId flow);
  std::string topic_for(std::size_t taker, std::size_t input);
  void add_segments();
  void add_paths();
  void add_chain(const model::Chain& like, std::vector<std::size_t> callbacks, PartChain chain);
  bool is_from_other_host(std::size_t callback, std::vector<std::optional<bool>>& known) const;

  const model::Application& all_;
  std::size_t host_;
  const MessageFlows& flows_;
  bool by_deadline_;
  model::Application part_;
  std::vector<std::size_t> whole_;
  std::map<std::size_t, std::size_t> part_of_;  // callback of the whole to that of the part
  std::map<std::size_t, std::size_t> executor_of_;
  std::map<FlowId, ArrivalEvent> events_;
  std::vector<PartChain> chains_;
};

}  // namespace rclrt::analysis::detail
