// SPDX-License-Identifier: Apache-2.0
// Bounds for the chains of executors that run callbacks on several CPUs at once, or share CPUs or
// exchange messages with such executors. docs/explanation/several-cpus.md has the theorem and its
// proof.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bounds/global_offsets.hpp"
#include "bounds/global_system.hpp"
#include "bounds/global_window.hpp"
#include "bounds/sync_ways.hpp"
#include "demand.hpp"

namespace rclrt::analysis::detail {

/// Why a chain through a synchroniser has no bound under a wait set of several threads, unless all
/// executors state their CPUs.
inline constexpr const char* kTakesAnyOrder =
    "no bound is offered for a synchroniser under a wait set of several threads on CPUs that are "
    "not stated (cpus: [...]): it may take a later message of another input first";

/// Bounds the chains of a component (Cores::component) of executors on several CPUs.
///
/// A chain within an executor counts as one sequential task: while an instance of it is under way,
/// exactly one of its callbacks is ready. If this callback does not run, it waits for what it
/// shares with other callbacks (its group, the only worker of its priority, the scheduler thread),
/// or all CPUs of its executor run callbacks at least as urgent as the chain's least urgent one. So
/// the response x is the least solution of
///   x = C + B(x) + floor(sum over i of min(W_i(x), x - C - B(x) + 1) / CPUs).
/// C is the chain's own work, B(x) the work that it may have to wait for, and W_i(x) the work of
/// flow i at that priority and on these CPUs in a time x. W_i(x) includes work of instances that
/// were released before, by the response times of their flows: these grow from zero until nothing
/// changes. Work that runs on p CPUs at once, at most, counts as p times the time in which all CPUs
/// run it, at most. A flow without a bound counts with what its queues may hold. Bertogna and
/// Cirinei, RTSS 2007, for single callbacks. In a time that begins when all CPUs began to be busy,
/// only CPUs - 1 of the flows that run while they are pending have such work (Guan et al., RTSS
/// 2009, for single callbacks): the lower bound counts. A chain through several executors is the
/// sequence of such parts, with the messages between them.
class GlobalBounds {
 public:
  /// `scheduled`: executors have scheduler threads.
  GlobalBounds(const Workload& workload, const Core& component, GlobalPool pool, bool scheduled,
               const Overheads& overheads, Effort effort);

  RelyingBound bound(const model::Chain& chain);

  /// Returns the most instances of one input of the callback that are released and have not ended,
  /// at any time. kHorizon: there is no bound.
  Ticks most_pending(std::size_t callback);

 private:
  struct Segment {
    std::optional<Ticks> response;  ///< from the time at which its first callback is ready
    std::vector<Contribution> why;
    Ticks waited{};  ///< see ChainBound::waited
  };

  /// The end of a path, and the time in which it was found.
  struct End {
    Ticks x{};          ///< from when the first instance in that time is ready
    Ticks instances{};  ///< see GlobalWindow::set_instances()
    Ticks before{};     ///< the least time from that instance's stamp to the path's own
    WindowStart start{};
    std::optional<Ticks> phases{};  ///< as of this case of GlobalOffsets; nullopt: of none

    /// Returns the time from when the path is ready, if it is ready as late as it may.
    Ticks response() const { return x - before; }
  };

  /// The last bound of a path: where the next one, which is no lower, may begin.
  struct Begin {
    Ticks x{};
    Ticks busy_x{};  ///< with WindowStart::kBusy
    bool operator==(const Begin&) const = default;
  };

  /// The same, with instances counted in both ways.
  struct Begins {
    Begin in_order{};
    Begin one{};  ///< see GlobalWindow::set_instances()
  };

  /// A node that solve() raises.
  struct Raised {
    std::size_t source{};
    std::size_t node{};
    Begins path{};
    Begins last{};                  ///< of the node alone
    std::vector<bool> by_source{};  ///< the sources with responses that its own one depends on
    std::size_t at{};               ///< steps of solve() before this one; 0: not raised yet
    Ticks next{};                   ///< of its response
    Ticks before{};                 ///< of its response, see raise_again()
  };

  void solve();
  void order_nodes();
  void raise_all();
  template <typename IsChosen>
  void raise_again(IsChosen is_chosen);
  void lower_all();
  bool lower(std::span<Raised> alike);
  bool is_settled(const Raised& raised) const;
  bool raise(std::span<Raised> alike);
  Ticks& response_of(const Raised& raised) {
    return system_.sources[raised.source].nodes[raised.node].response;
  }
  Ticks bound_of(Raised& raised);
  static Ticks runs_of(const GlobalSource& source, const std::vector<std::size_t>& callbacks);
  Ticks response_by_last(Raised& raised);
  std::optional<Ticks> follow(const GlobalPath& path, Ticks ready, bool is_all, ChainBound& result);
  Segment respond_to_part(const GlobalPath& path, std::size_t begin, std::size_t end, Ticks ready,
                          bool explains);
  Segment respond(const GlobalPath& path, bool explains);
  std::optional<End> end_of(GlobalWindow& window, const GlobalPath& path, Begins& begins);
  std::optional<End> end_of_all(GlobalWindow& window, const GlobalPath& path, Begin& begin);
  std::optional<End> end_of_one(GlobalWindow& window, const GlobalPath& path, Begin& begin,
                                Ticks limit);
  std::optional<Ticks> end_in(GlobalWindow& window, Ticks& begin, Ticks limit);
  std::optional<End> end_by_offsets(GlobalWindow& window, const GlobalPath& path, Ticks limit);
  std::optional<Ticks> taken_by_sync(std::size_t publisher, std::size_t sync, Ticks arrival);
  Joins joins_of(std::span<const std::size_t> callbacks, KnownArrivals& arrivals);
  std::optional<Ticks> latency(std::span<const std::size_t> callbacks, const Joins& joins,
                               ChainBound& result);
  std::string why_none(std::span<const std::size_t> callbacks) const;
  std::string why_none_of(std::size_t source, std::size_t node, int depth) const;
  std::optional<std::size_t> mutual(std::size_t source, std::size_t node) const;

  const Workload& workload_;
  GlobalSystem system_;
  GlobalOffsets offsets_;
  Budget all_steps_;
  Budget budget_;                  // of solve(), then of one chain at a time
  std::int64_t steps_of_chain_{};  // for each chain, whatever others took
  std::vector<Ticks> limits_;      // of the responses of each source; longer ones are not followed
  std::vector<Raised> raised_;     // all nodes
  std::vector<std::span<Raised>> alike_;  // of raised_, see order_nodes()
  std::vector<std::size_t> changed_at_;   // for each source: the last step that raised a response
  std::size_t steps_ = 0;                 // of solve()
  bool solved_ = false;
  bool uses_both_ = false;  // bounds of a path, see WindowStart
  bool has_other_ = false;  // some path has both
  bool uses_offsets_ = false;
};

}  // namespace rclrt::analysis::detail
