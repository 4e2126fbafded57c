// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/assign.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <rclrt/model/no_deadline.hpp>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "allocation.hpp"
#include "rclrt/analysis/cause_effect.hpp"
#include "rclrt/analysis/synthesis.hpp"
#include "rclrt/analysis/time_distribution.hpp"

namespace rclrt::analysis {
namespace {

using model::Application;

constexpr std::int64_t kStepsPerBound = 20'000'000;

/// The rule that makes priorities of callbacks from the order of the chains.
enum class Style { kChains, kPicas };

struct Candidate {
  std::vector<std::size_t> core;   // for each node: index into AssignOptions::cpus
  std::vector<std::size_t> order;  // chains, the most urgent first
  Style style{};
  bool as_stated = false;  // priorities of the file instead of `order`
};

class LocalSearch {
 public:
  LocalSearch(const Application& application, const AssignOptions& options)
      : stated_(application),
        options_(options),
        random_(options.seed),
        units_(detail::units(application, options.cpus.size())) {}

  Assignment run() {
    result_.before = quality_of(stated_);
    const auto core = detail::allocate(stated_, units_, options_.cpus.size());
    if (options_.method == AssignMethod::kPicas) {
      consider({core, order_by(ChainPriorities::kGiven), Style::kPicas}, "picas");
      return finished();
    }
    consider({core, order_by(ChainPriorities::kGiven), Style::kChains, true}, "given");
    consider({core, order_by(ChainPriorities::kGiven), Style::kChains}, "chain priorities");
    consider({core, order_by(ChainPriorities::kRateMonotonic), Style::kChains}, "rate");
    consider({core, order_by(ChainPriorities::kDeadlineMonotonic), Style::kChains}, "deadline");
    consider({core, order_by(ChainPriorities::kGiven), Style::kPicas}, "picas");
    consider({core, order_by(ChainPriorities::kDeadlineMonotonic), Style::kPicas},
             "picas by deadline");
    assign_from_below(core);
    const std::size_t patience = 20 * (stated_.chains.size() + stated_.nodes.size());
    for (std::size_t vain = 0; vain < patience && may_go_on(); ++vain) {
      if (consider(neighbour(best_), "")) {
        vain = 0;
      }
    }
    return finished();
  }

 private:
  Assignment finished() {
    result_.application = made(best_);
    result_.after = best_quality_;
    return std::move(result_);
  }

  Effort effort() const {
    return {.steps = kStepsPerBound, .check_interrupt = options_.check_interrupt};
  }

  Quality quality_of(const Application& application) {
    ++result_.evaluations;
    return quality(application, options_.executor, options_.overheads, effort());
  }

  bool may_go_on() const {
    const bool done =
        options_.objective == Objective::kFeasible && has_best_ && best_quality_.not_proved == 0;
    return !done && result_.evaluations < options_.evaluations;
  }

  std::vector<std::size_t> order_by(ChainPriorities source) const {
    const auto priorities = chain_priorities(stated_, source);
    std::vector<std::size_t> order(priorities.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return std::pair(-priorities[a], stated_.chains[a].deadline) <
             std::pair(-priorities[b], stated_.chains[b].deadline);
    });
    return order;
  }

  Application made(const Candidate& candidate) const {
    Application result = detail::on_cores(stated_, candidate.core, options_.cpus);
    if (candidate.as_stated) {
      return result;
    }
    int level = static_cast<int>(candidate.order.size());
    for (const std::size_t chain : candidate.order) {
      result.chains[chain].priority = level--;
    }
    for (model::Callback& callback : result.callbacks) {
      callback.priority.reset();
    }
    const auto source =
        candidate.style == Style::kPicas ? ChainPriorities::kPicas : ChainPriorities::kGiven;
    const auto values = synthesize_priorities(result, source);
    for (std::size_t i = 0; i < values.size(); ++i) {
      result.callbacks[i].priority = values[i].priority;
    }
    return result;
  }

  bool consider(Candidate candidate, const char* start) {
    if (has_best_ && !may_go_on()) {
      return false;
    }
    const Quality found = quality_of(made(candidate));
    if (has_best_ && !better(found, best_quality_, options_.objective)) {
      return false;
    }
    has_best_ = true;
    best_ = std::move(candidate);
    best_quality_ = found;
    if (*start != '\0') {
      result_.start = start;
    }
    return true;
  }

  /// Considers the priorities of Audsley's algorithm over the chains: from the lowest priority up,
  /// each goes to a chain that is proved at it, preferably the one with the longest deadline. If no
  /// chain is, the remaining ones keep the deadline monotonic order.
  void assign_from_below(const std::vector<std::size_t>& core) {
    std::vector<std::size_t> open = order_by(ChainPriorities::kDeadlineMonotonic);
    std::vector<std::size_t> below;  // the most urgent first
    while (!open.empty()) {
      bool found = false;
      for (std::size_t i = open.size(); i-- > 0 && !found && may_go_on();) {
        Candidate candidate{core, {}, Style::kChains};
        const std::size_t chain = open[i];
        std::ranges::copy_if(open, std::back_inserter(candidate.order),
                             [&](std::size_t each) { return each != chain; });
        candidate.order.push_back(chain);
        candidate.order.insert(candidate.order.end(), below.begin(), below.end());
        ++result_.evaluations;
        const auto bounds =
            chain_bounds(made(candidate), options_.executor, options_.overheads, effort());
        if (bounds[chain].verdict == Verdict::kUnknown) {
          continue;
        }
        found = true;
        below.insert(below.begin(), chain);
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
      }
      if (!found) {
        break;
      }
    }
    open.insert(open.end(), below.begin(), below.end());
    consider({core, open, Style::kChains}, "Audsley's algorithm over the chains");
  }

  Candidate neighbour(Candidate candidate) {
    const std::size_t chains = candidate.order.size();
    const bool move_node = options_.cpus.size() > 1 && random_.uniform(0, 2) == 0;
    if (move_node) {
      const std::size_t to = random_.next() % options_.cpus.size();
      const std::size_t chosen = random_.next() % units_.size();
      const bool alone = random_.uniform(0, 1) == 0;
      for (std::size_t node = 0; node < units_.size(); ++node) {
        const bool moves = alone ? node == chosen : units_[node] == units_[chosen];
        if (moves) {
          candidate.core[node] = to;
        }
      }
    } else if (random_.uniform(0, 7) == 0) {
      candidate.style = candidate.style == Style::kChains ? Style::kPicas : Style::kChains;
      candidate.as_stated = false;
    } else {
      const std::size_t from = random_.next() % chains;
      const std::size_t to = random_.next() % chains;
      const std::size_t chain = candidate.order[from];
      candidate.order.erase(candidate.order.begin() + static_cast<std::ptrdiff_t>(from));
      candidate.order.insert(candidate.order.begin() + static_cast<std::ptrdiff_t>(to), chain);
      candidate.as_stated = false;
    }
    return candidate;
  }

  const Application& stated_;
  const AssignOptions& options_;
  SimulationRandom random_;
  std::vector<std::size_t> units_;  // units of nodes that stay together
  Assignment result_;
  Candidate best_;
  Quality best_quality_;
  bool has_best_ = false;
};

/// Returns bound / limit; 0 without either.
double share_of(const std::optional<Ticks>& bound, const std::optional<model::Nanoseconds>& limit) {
  return bound && limit ? static_cast<double>(*bound) / static_cast<double>(limit->count()) : 0.0;
}

/// Returns whether chains can be ordered by Audsley's algorithm without loss: each chain is one
/// callback that is on no other chain, every callback is on a chain, no callback is in a group, and
/// none reads a variable.
bool is_independent(const Application& application) {
  if (!application.cause_effect_chains.empty()) {
    return false;
  }
  std::set<std::size_t> seen;
  for (const model::Chain& chain : application.chains) {
    if (chain.callbacks.size() != 1 || !seen.insert(chain.callbacks[0]).second) {
      return false;
    }
  }
  return seen.size() == application.callbacks.size() &&
         std::ranges::none_of(application.callbacks,
                              [](const auto& callback) { return callback.group.has_value(); });
}

}  // namespace

Quality quality(const Application& application, const model::ExecutorChoice& executor,
                const Overheads& overheads, Effort effort) {
  Quality result;
  const auto bounds = chain_bounds(application, executor, overheads, effort);
  std::size_t bounded = 0;
  const auto add = [&](Verdict verdict, const std::optional<Ticks>& bound, double share) {
    result.not_proved += holds(verdict) ? 0U : 1U;
    if (!bound) {
      ++result.not_bounded;
      return;
    }
    ++bounded;
    result.worst = std::max(result.worst, share);
    result.mean += share;
    result.mean_bound_ns += static_cast<double>(*bound);
  };
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (model::has_deadline(application, i)) {
      add(bounds[i].verdict, bounds[i].bound,
          share_of(bounds[i].bound, application.chains[i].deadline));
    }
  }
  const auto sampled = cause_effect_bounds(application, executor, overheads, bounds);
  for (std::size_t i = 0; i < sampled.size(); ++i) {
    const model::CauseEffectChain& chain = application.cause_effect_chains[i];
    add(sampled[i].verdict, sampled[i].reaction,
        std::max(share_of(sampled[i].reaction, chain.max_reaction),
                 share_of(sampled[i].age, chain.max_age)));
  }
  if (bounded > 0) {
    result.mean /= static_cast<double>(bounded);
    result.mean_bound_ns /= static_cast<double>(bounded);
  }
  return result;
}

bool better(const Quality& a, const Quality& b, Objective objective) {
  if (objective != Objective::kMinResponse) {
    return a < b;
  }
  return std::tie(a.not_proved, a.not_bounded, a.mean_bound_ns, a.worst) <
         std::tie(b.not_proved, b.not_bounded, b.mean_bound_ns, b.worst);
}

Assignment assign(const Application& application, const AssignOptions& options) {
  if (options.cpus.empty()) {
    throw std::invalid_argument("the options of assign() have no CPUs; expected at least one CPU");
  }
  Assignment result = LocalSearch(application, options).run();
  // The search begins with Audsley's algorithm. For independent chains, and threads that preempt by
  // priority, no order proves more deadlines than its order does, if it had enough evaluations to
  // reach the last chain.
  result.optimal = is_independent(application) && options.cpus.size() == 1 &&
                   options.method == AssignMethod::kSearch && traits(options.executor).has_levels &&
                   result.evaluations < options.evaluations;
  return result;
}

}  // namespace rclrt::analysis
