// SPDX-License-Identifier: Apache-2.0
// The responses of all nodes of a system of several CPUs, which depend on each other.
#include <algorithm>
#include <functional>
#include <utility>

#include "bounds/global_bounds.hpp"
#include "bounds/global_window.hpp"

namespace rclrt::analysis::detail {
namespace {

constexpr int kMostPasses = 3;

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

/// Raises the response of a node. Returns whether it has changed.
bool GlobalBounds::raise(Raised& raised) {
  GlobalNode& own = system_.sources[raised.source].nodes[raised.node];
  if (own.response >= kHorizon || is_settled(raised)) {
    return false;
  }
  raised.at = ++steps_;
  const Ticks response = bound_of(raised);
  if (response <= own.response) {
    return false;
  }
  own.response = response;
  changed_at_[raised.source] = steps_;
  return true;
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
  std::ranges::stable_sort(raised_, std::greater{}, [this](const Raised& each) {
    return system_.sources[each.source].nodes[each.node].lowest;
  });
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
  raise_all();
  uses_both_ = true;
  const auto is_short = [this](const Raised& each) {
    const GlobalSource& source = system_.sources[each.source];
    return source.nodes[each.node].response <= source.arrivals.front().releases.period;
  };
  if (!std::ranges::all_of(raised_, is_short)) {
    reset(kHorizon);
    raise_all();
  }
  const auto has_bound = [this](const Raised& each) {
    return system_.sources[each.source].nodes[each.node].response < kHorizon;
  };
  if (!std::ranges::all_of(raised_, has_bound)) {
    reset(kHorizon - 1);
    raise_all();
  }
  if (offsets_.any()) {
    uses_offsets_ = true;
    lower_all();
  }
}

/// Lowers responses to what the stated offsets give. All responses are bounds already, so each of
/// them holds with those of the others, and none needs to be raised again.
void GlobalBounds::lower_all() {
  bool changed = true;
  for (int pass = 0; pass < kMostPasses && changed; ++pass) {
    changed = false;
    for (Raised& each : raised_) {
      each.path = each.last = {};
      Ticks& response = system_.sources[each.source].nodes[each.node].response;
      const Ticks lower = bound_of(each);
      changed = changed || lower < response;
      response = std::min(response, lower);
    }
  }
}

/// Sets responses of at most this to zero, to be raised again.
void GlobalBounds::reset(Ticks most) {
  for (Raised& each : raised_) {
    Ticks& response = system_.sources[each.source].nodes[each.node].response;
    response = response <= most ? 0 : response;
    each.path = each.last = {};
    each.at = 0;
  }
}

void GlobalBounds::raise_all() {
  for (bool changed = true; changed;) {
    changed = false;
    for (Raised& each : raised_) {
      changed = raise(each) || changed;
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
