// SPDX-License-Identifier: Apache-2.0
// The responses of all nodes of a system of several CPUs, which depend on each other.
#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "bounds/global_bounds.hpp"
#include "bounds/global_window.hpp"

namespace rclrt::analysis::detail {
namespace {

constexpr int kMostPasses = 8;

/// How many steps each chain may take, at least, if as many are left.
constexpr Ticks kStepsOfChain = 10'000'000;

}  // namespace

/// Returns a bound on the response of a node: the longest response of a node before it, plus the
/// node's own time from being ready to its end. This is the lower bound if several instances of the
/// path are under way, because each of them delays the callbacks of the path only once.
Ticks GlobalBounds::response_by_last(Raised& raised) {
  const GlobalSource& source = system_.sources[raised.source];
  const Ticks before = system_.arrival(source, raised.node);
  if (source.nodes[raised.node].from.empty() || before >= kHorizon) {
    return kHorizon;
  }
  const GlobalPath path = system_.path_of(raised.source, raised.node, before);
  GlobalWindow window(system_, path);
  window.mark_sources(raised.by_source);
  const auto end = end_of(window, path, raised.last);
  return end ? sum(before, end->response() - system_.tail(path)) : kHorizon;
}

/// Returns whether no response has changed that this one depends on, so that raise() would leave
/// it.
bool GlobalBounds::is_settled(const Raised& raised) const {
  if (raised.at == 0) {
    return false;
  }
  for (std::size_t i = 0; i < changed_at_.size(); ++i) {
    if (changed_at_[i] >= raised.at && raised.by_source[i]) {
      return false;
    }
  }
  return true;
}

/// Raises the responses of nodes that are alike, each by the present ones of all. Returns whether
/// one of them has changed. Where the steps end meanwhile, none of these nodes has a bound, so that
/// this does not depend on which of them is the first.
bool GlobalBounds::raise(std::span<Raised> alike) {
  ++steps_;
  for (Raised& each : alike) {
    each.next = response_of(each);
    if (each.next < kHorizon && !is_settled(each)) {
      each.at = steps_;
      each.next = std::max(each.next, bound_of(each));
    }
  }
  bool changed = false;
  for (const Raised& each : alike) {
    if (each.at == steps_ && (budget_.empty() || each.next > response_of(each))) {
      response_of(each) = budget_.empty() ? kHorizon : each.next;
      changed_at_[each.source] = steps_;
      changed = true;
    }
  }
  return changed;
}

/// Returns a bound on the response of a node by the present ones of others; kHorizon: none.
Ticks GlobalBounds::bound_of(Raised& raised) {
  const GlobalSource& source = system_.sources[raised.source];
  Ticks response = kHorizon;
  if (const auto path = system_.path_to(raised.source, raised.node)) {
    const auto ready =
        path->begin > 0 ? std::optional(path->ready) : system_.ready_after_stamp(source);
    if (ready && *ready < kHorizon) {
      GlobalWindow window(system_, *path);
      window.mark_sources(raised.by_source);
      const auto end = end_of(window, *path, raised.path);
      response = end ? sum(*ready, end->response() - system_.tail(*path)) : kHorizon;
    }
  }
  response = std::min(response, response_by_last(raised));
  return response > limits_[raised.source] ? kHorizon : response;
}

/// Sets the order of raise(): the most urgent nodes first, because most others depend on them.
/// Nodes that are alike are raised together, so the order in the file has no influence.
void GlobalBounds::order_nodes() {
  changed_at_.resize(system_.sources.size());
  for (std::size_t i = 0; i < system_.sources.size(); ++i) {
    const GlobalSource& source = system_.sources[i];
    for (std::size_t k = 0; k < source.nodes.size(); ++k) {
      Raised& raised = raised_.emplace_back();
      raised.source = i;
      raised.node = k;
      // A set of a sync is ready when messages of any source have come.
      raised.by_source.resize(system_.sources.size(), source.is_sync);
      raised.by_source[i] = true;
    }
  }
  const auto place = [this](const Raised& each) {
    const GlobalSource& source = system_.sources[each.source];
    const GlobalNode& node = source.nodes[each.node];
    return std::tuple(-node.lowest, source.is_sync, node.before.size(), source.shortest_period(),
                      node.longest, node.work);
  };
  std::ranges::sort(raised_, {}, place);
  for (auto begin = raised_.begin(); begin != raised_.end();) {
    const auto end = std::find_if(begin, raised_.end(),
                                  [&](const Raised& each) { return place(each) != place(*begin); });
    alike_.emplace_back(begin, end);
    begin = end;
  }
}

/// Computes the responses of all nodes, as a fixed point: raises them from zero until none changes.
/// The result bounds all responses: an instance that were the first to end later than its response
/// would contradict it, because all others have kept theirs until then.
///
/// Only one of the two bounds of a path is used at first, because it takes less time. If a node has
/// none then, or one that is longer than its period, both are used. Responses without a bound have
/// raised others by more than their queues hold, so these are raised again with such as are left.
void GlobalBounds::solve() {
  if (std::exchange(solved_, true)) {
    return;
  }
  order_nodes();
  const std::int64_t before = budget_.used();
  raise_all();
  uses_both_ = true;
  const auto is_short = [this](const Raised& each) {
    return response_of(each) <= system_.sources[each.source].shortest_period();
  };
  if (!std::ranges::all_of(raised_, is_short)) {
    // Without a path that has both, they would be raised to the same values, with as many steps.
    if (has_other_ || !budget_.take_again(budget_.used() - before)) {
      raise_again([](Ticks) { return true; });
    }
  }
  const auto has_bound = [this](const Raised& each) { return response_of(each) < kHorizon; };
  if (!std::ranges::all_of(raised_, has_bound)) {
    raise_again([](Ticks response) { return response < kHorizon; });
  }
  if (offsets_.any()) {
    uses_offsets_ = true;
    lower_all();
  }
  const auto chains = static_cast<Ticks>(workload_.application.chains.size());
  const std::int64_t left = all_steps_.left() - budget_.used();
  steps_of_chain_ = std::max(left / std::max<Ticks>(1, chains), std::min(left, kStepsOfChain));
}

/// Raises from zero the responses for which `is_chosen` returns true, by the present ones of the
/// others. Each is a bound before and after, so the lower one of both counts.
template <typename IsChosen>
void GlobalBounds::raise_again(IsChosen is_chosen) {
  for (Raised& each : raised_) {
    Ticks& response = response_of(each);
    each.before = response;
    response = is_chosen(response) ? 0 : response;
    each.path = each.last = {};
    each.at = 0;
  }
  raise_all();
  for (Raised& each : raised_) {
    Ticks& response = response_of(each);
    response = std::min(response, each.before);
  }
}

/// Lowers responses to what the stated offsets give. All responses are bounds already, so each of
/// them holds with those of the others, and none needs to be raised again.
void GlobalBounds::lower_all() {
  for (Raised& each : raised_) {
    each.at = 0;
  }
  bool changed = true;
  for (int pass = 0; pass < kMostPasses && changed; ++pass) {
    changed = false;
    for (const std::span<Raised> alike : alike_) {
      changed = lower(alike) || changed;
    }
  }
}

/// Lowers the responses of nodes that are alike. Returns whether one of them has changed.
bool GlobalBounds::lower(std::span<Raised> alike) {
  ++steps_;
  for (Raised& each : alike) {
    each.next = response_of(each);
    if (!is_settled(each)) {
      each.at = steps_;
      each.path = each.last = {};
      each.next = std::min(each.next, bound_of(each));
    }
  }
  bool changed = false;
  for (const Raised& each : alike) {
    if (each.next < response_of(each) && !budget_.empty()) {
      response_of(each) = each.next;
      changed_at_[each.source] = steps_;
      changed = true;
    }
  }
  return changed;
}

void GlobalBounds::raise_all() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::span<Raised> alike : alike_) {
      changed = raise(alike) || changed;
    }
  }
}

/// Returns the end of a path by the offsets that timers state, if it is at most `limit`: the latest
/// one of all cases in which its own timer may be released.
std::optional<GlobalBounds::End> GlobalBounds::end_by_offsets(GlobalWindow& window,
                                                              const GlobalPath& path, Ticks limit) {
  const Ticks cases = offsets_.cases(path.source);
  if (cases == 0) {
    return std::nullopt;
  }
  End latest{.x = window.own(), .start = WindowStart::kReady, .phases = 0};
  for (Ticks i = 0; i < cases && latest.x <= limit; ++i) {
    window.set_phases(&offsets_.phases(path.source, i));
    Ticks x = latest.x;
    if (!end_in(window, x, limit)) {
      return std::nullopt;
    }
    if (x > latest.x) {
      latest.x = x;
      latest.phases = i;
    }
  }
  return latest.x <= limit ? std::optional(latest) : std::nullopt;
}

}  // namespace rclrt::analysis::detail
