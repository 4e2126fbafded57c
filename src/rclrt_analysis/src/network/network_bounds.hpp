// SPDX-License-Identifier: Apache-2.0
// Bounds of an application on several hosts. Each host's part is bounded by itself, with messages
// from other hosts as events, and each link by network calculus. The jitter of all messages grows
// from zero until nothing changes: Richter, "Compositional scheduling analysis using standard event
// models", TU Braunschweig, 2005. The proof is in docs/explanation/links.md.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "network/host_part.hpp"
#include "network/link_queue.hpp"
#include "network/message_flows.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/link_bounds.hpp"

namespace rclrt::analysis::detail {

class NetworkBounds {
 public:
  /// Keeps a reference to the application, which has hosts. Throws as chain_bounds() does.
  NetworkBounds(const model::Application& application, const model::ExecutorChoice& executor,
                const Overheads& overheads, Effort effort);

  std::vector<ChainBound> chains();
  std::vector<LinkBound> links() const;
  std::vector<QueueBound> queues();

 private:
  /// The bounds of one message on its way.
  struct Hop {
    std::optional<Ticks> delay;  // from its publication until it is at the other host
    Ticks least{};               // a small message on a fast line takes no time there
  };

  /// A flow where it enters the link; unknown without a bound on its path.
  struct Departure {
    Ticks period{};
    Ticks jitter{};
    bool known = true;
    bool operator==(const Departure&) const = default;
  };

  void search();
  void bound_paths(std::size_t host);
  void bound_links();
  bool pass_on();
  FlowArrival arrival_of(FlowId flow) const;
  std::vector<std::size_t> messages_on(const model::LinkDirection& way) const;
  LinkQueue queue_of(const model::LinkDirection& way,
                     const std::vector<std::size_t>& messages) const;
  void refuse_waits();
  std::vector<ChainBound> bounds_of(std::size_t host, const std::vector<std::size_t>& only) const;
  std::string why_not(std::size_t message) const;
  std::string why_unbounded(const model::LinkDirection& way) const;
  std::string find_reason(const model::LinkDirection& way) const;
  std::string shares(const model::LinkDirection& way) const;
  bool add_hop(std::size_t message, ChainBound& result) const;
  static bool add_segment(const HostPart& part, std::vector<ChainBound> found, ChainBound& result);
  void decide(std::size_t chain, ChainBound& result) const;
  ChainBound compose(std::size_t chain, const std::vector<std::vector<ChainBound>>& found) const;
  std::string blocked(std::size_t host) const;
  bool receives(std::size_t host) const;

  const model::Application& all_;
  model::ExecutorChoice executor_;
  Overheads overheads_;
  Effort effort_;
  MessageFlows flows_;
  std::vector<HostPart> parts_;                     // by host
  std::vector<std::string> waiting_;                // by executor: why it has no bounds, or empty
  std::vector<bool> changed_;                       // by host
  std::vector<std::vector<Departure>> departures_;  // by message, by flow
  std::vector<std::vector<std::string>> notes_;     // why a departure is unknown
  std::vector<std::vector<FlowArrival>> arrivals_;
  std::vector<Hop> hops_;                             // by message
  std::vector<std::vector<std::string>> conditions_;  // by host: of the bounds on its paths
  /// Why a direction of a link has no bound, and its load, from the first round in which that was
  /// so: later, its messages may have none because of it.
  std::map<std::pair<std::size_t, std::size_t>, std::pair<std::string, double>> reasons_;
  bool gave_up_ = false;
};

}  // namespace rclrt::analysis::detail
