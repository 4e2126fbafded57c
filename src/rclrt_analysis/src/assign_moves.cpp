// SPDX-License-Identifier: Apache-2.0
#include "assign_moves.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace rclrt::analysis::detail {
namespace {

/// Returns whether the work of other chains is such a term of a bound.
bool is_delay(Contribution::Kind kind) {
  using Kind = Contribution::Kind;
  return kind == Kind::kInterference || kind == Kind::kSets || kind == Kind::kStarted;
}

}  // namespace

model::Application apply(const AssignCandidate& candidate, const model::Application& stated,
                         std::span<const PlacementUnit> units, ExecutorKind executor) {
  model::Application result = candidate.clusters.empty()
                                  ? stated
                                  : lay_out(stated, units, candidate.clusters, candidate.place);
  if (!candidate.level.empty()) {
    for (std::size_t i = 0; i < candidate.level.size(); ++i) {
      result.chains[i].priority = candidate.level[i];
    }
    for (model::Callback& callback : result.callbacks) {
      callback.priority.reset();
    }
    const auto values = synthesize_priorities(
        result, candidate.by_picas ? ChainPriorities::kPicas : ChainPriorities::kGiven);
    for (std::size_t i = 0; i < values.size(); ++i) {
      result.callbacks[i].priority = values[i].priority;
    }
  }
  if (!candidate.clusters.empty() && traits(executor).has_levels) {
    fit_kernel_priorities(result);
  }
  return result;
}

std::vector<int> ordered_chains(const model::Application& application, ChainPriorities source) {
  auto level = chain_priorities(application, source);
  std::vector<std::size_t> order(level.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::pair(-level[a], application.chains[a].deadline) <
           std::pair(-level[b], application.chains[b].deadline);
  });
  int next = static_cast<int>(order.size());
  for (const std::size_t chain : order) {
    level[chain] = next--;
  }
  return level;
}

void normalise(AssignCandidate& candidate) {
  std::vector<int> sorted = candidate.level;
  std::ranges::sort(sorted);
  const auto [first, last] = std::ranges::unique(sorted);
  sorted.erase(first, last);
  for (int& level : candidate.level) {
    level = 1 + static_cast<int>(std::ranges::lower_bound(sorted, level) - sorted.begin());
  }
}

AssignMoves::AssignMoves(const model::Application& application,
                         std::span<const PlacementUnit> units, SimulationRandom& random)
    : application_(application),
      units_(units),
      random_(random),
      unit_of_(units_of_callbacks(units)),
      chains_of_(application.callbacks.size()) {
  for (std::size_t chain = 0; chain < application.chains.size(); ++chain) {
    given_.push_back(application.chains[chain].priority);
    for (const std::size_t callback : application.chains[chain].callbacks) {
      chains_of_[callback].push_back(chain);
    }
  }
}

AssignCandidate AssignMoves::neighbour(AssignCandidate candidate,
                                       const std::vector<ChainBound>& bounds, bool resize) {
  if (application_.chains.empty()) {
    return candidate;
  }
  const bool can_move = candidate.clusters.size() > 1;
  if (can_move && resize && one_in(16)) {
    move_cpu(candidate);
  } else if (can_move && one_in(2)) {
    move_units(candidate, bounds);
  } else {
    move_priority(candidate, bounds);
  }
  normalise(candidate);
  return candidate;
}

std::size_t AssignMoves::choose_chain(const std::vector<ChainBound>& bounds) {
  std::vector<std::size_t> order(bounds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (one_in(4)) {
    return order[below(order.size())];
  }
  const auto excess = [&](std::size_t chain) {  // a chain without a bound comes first
    const auto& bound = bounds[chain].bound;
    const auto deadline = static_cast<double>(application_.chains[chain].deadline.count());
    return bound ? static_cast<double>(*bound) / deadline : 1e9;
  };
  std::ranges::stable_sort(order, std::greater{}, excess);
  // Half of the draws are among the first, a quarter among the next as many, and so on.
  std::size_t most = std::max(order.size() / 8, std::size_t{1});
  while (most < order.size() && one_in(2)) {
    most *= 2;
  }
  return order[below(std::min(most, order.size()))];
}

std::set<std::size_t> AssignMoves::clusters_of_chain(const AssignCandidate& candidate,
                                                     std::size_t chain) const {
  std::set<std::size_t> result;
  for (const std::size_t callback : application_.chains[chain].callbacks) {
    result.insert(candidate.clusters.empty() ? application_.executor_of(callback)
                                             : candidate.place[unit_of_[callback]]);
  }
  return result;
}

std::optional<std::size_t> AssignMoves::choose_delaying(const AssignCandidate& candidate,
                                                        std::size_t chain,
                                                        const ChainBound& bound) {
  std::vector<std::size_t> found;  // those with the longest terms
  for (const Contribution& each : bound.why) {
    if (!is_delay(each.kind) || found.size() >= 3) {
      continue;
    }
    for (const std::size_t other : chains_of_[each.callback]) {
      if (other != chain) {
        found.push_back(other);
      }
    }
  }
  if (found.empty() || one_in(4)) {
    const auto own = clusters_of_chain(candidate, chain);
    for (std::size_t other = 0; other < application_.chains.size(); ++other) {
      const auto theirs = clusters_of_chain(candidate, other);
      if (other != chain && std::ranges::find_first_of(own, theirs) != own.end()) {
        found.push_back(other);
      }
    }
  }
  return found.empty() ? std::nullopt : std::optional(found[below(found.size())]);
}

void AssignMoves::move_priority(AssignCandidate& candidate, const std::vector<ChainBound>& bounds) {
  if (candidate.level.empty()) {
    candidate.level = given_;
    normalise(candidate);
  }
  if (one_in(16)) {
    candidate.by_picas = !candidate.by_picas;
    return;
  }
  for (int& level : candidate.level) {
    level *= 2;  // the odd ones are between two of them
  }
  const std::size_t chain = choose_chain(bounds);
  const auto delaying = one_in(3) ? std::nullopt : choose_delaying(candidate, chain, bounds[chain]);
  if (delaying && candidate.level[*delaying] >= candidate.level[chain]) {
    candidate.level[chain] = candidate.level[*delaying] + 1;
  } else {
    const int most = *std::ranges::max_element(candidate.level) + 1;
    candidate.level[chain] = static_cast<int>(random_.uniform(1, most));
  }
}

void AssignMoves::move_units(AssignCandidate& candidate, const std::vector<ChainBound>& bounds) {
  const std::size_t chain = choose_chain(bounds);
  const auto delaying = choose_delaying(candidate, chain, bounds[chain]);
  const std::size_t moved = delaying && one_in(2) ? *delaying : chain;
  const auto& callbacks = application_.chains[moved].callbacks;
  const std::size_t unit =  // rarely any one, because some are on no chain
      one_in(8) ? below(units_.size()) : unit_of_[callbacks[below(callbacks.size())]];
  const std::size_t from = candidate.place[unit];
  std::size_t to = below(candidate.clusters.size() - 1);
  to += to >= from ? 1 : 0;
  if (one_in(2)) {  // to the one with the most room
    const auto loads = cluster_loads(units_, candidate.clusters, candidate.place);
    for (std::size_t cluster = 0; cluster < loads.size(); ++cluster) {
      const auto full = [&](std::size_t each) {
        return loads[each] / static_cast<double>(candidate.clusters[each].size());
      };
      to = cluster != from && full(cluster) < full(to) ? cluster : to;
    }
  } else if (one_in(2)) {  // to a callback of its chain
    const std::size_t other = candidate.place[unit_of_[callbacks[below(callbacks.size())]]];
    to = other != from ? other : to;
  }
  const std::size_t which = below(4);
  if (which == 0) {  // the whole chain
    for (const std::size_t callback : callbacks) {
      candidate.place[unit_of_[callback]] = to;
    }
  } else if (which == 1) {  // the whole node
    for (std::size_t each = 0; each < units_.size(); ++each) {
      if (units_[each].node == units_[unit].node) {
        candidate.place[each] = to;
      }
    }
  } else if (which == 2) {  // in exchange for another one
    const std::size_t other = below(units_.size());
    to = candidate.place[other];
    candidate.place[other] = from;
    candidate.place[unit] = to;
  } else {
    candidate.place[unit] = to;
  }
}

void AssignMoves::move_cpu(AssignCandidate& candidate) {
  auto& from = candidate.clusters[below(candidate.clusters.size())];
  auto& to = candidate.clusters[below(candidate.clusters.size())];
  if (&from != &to && from.size() > 1) {
    to.push_back(from.back());
    from.pop_back();
    std::ranges::sort(to);
  }
}

}  // namespace rclrt::analysis::detail
