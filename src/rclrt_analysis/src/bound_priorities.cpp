// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/bound_priorities.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <span>
#include <stdexcept>
#include <utility>

#include "audsley.hpp"
#include "bounds/chosen_chains.hpp"
#include "rclrt/analysis/time_distribution.hpp"

namespace rclrt::analysis {
namespace {

using model::Application;

constexpr std::int64_t kStepsPerEvaluation = 20'000'000;
constexpr std::size_t kFewEvaluations = 1;
constexpr std::size_t kManyEvaluations = 1'000'000;  // divided by the square of the callbacks
constexpr std::size_t kVainTrialsPerChain = 20;

/// The order of the chains, and the rule that makes priorities of callbacks from it.
struct Order {
  std::vector<int> level;  // of each chain
  bool by_picas = false;   // later callbacks of a chain are more urgent
};

class Chooser {
 public:
  Chooser(const Application& application, const BoundPrioritiesOptions& options)
      : stated_(application), options_(options), random_(options.seed) {
    for (model::Callback& callback : stated_.callbacks) {
      callback.priority.reset();
    }
  }

  BoundPriorities run() {
    result_.order_matters = why_order_matters(stated_, options_.executor, options_.overheads);
    limit_evaluations();
    if (!result_.order_matters.empty()) {
      try_sources();  // few evaluations, and often enough
    }
    if (result_.method.empty() || may_go_on()) {
      try_from_below();
    }
    if (may_go_on() && (options_.best_effort || !result_.optimal())) {
      try_sources();
      search();
    }
    return finished();
  }

 private:
  /// Each chain has its steps: the bounds of an executor's chains share them.
  Effort effort() const {
    const auto chains = static_cast<std::int64_t>(stated_.chains.size() + 1);
    return {.steps = kStepsPerEvaluation * chains, .check_interrupt = options_.check_interrupt};
  }

  std::vector<SynthesizedPriority> apply(const Order& order, Application& application) const {
    for (std::size_t i = 0; i < order.level.size(); ++i) {
      application.chains[i].priority = order.level[i];
    }
    auto values = synthesize_priorities(
        application, order.by_picas ? ChainPriorities::kPicas : ChainPriorities::kGiven);
    for (std::size_t i = 0; i < values.size(); ++i) {
      application.callbacks[i].priority = values[i].priority;
    }
    return values;
  }

  std::vector<bool> holds_at(const std::vector<int>& levels, std::span<const std::size_t> chains) {
    ++result_.evaluations;
    Application application = stated_;
    apply({.level = levels}, application);
    std::vector<bool> result;
    try {
      for (const ChainBound& bound :
           detail::bounds_of_chains(application, options_.executor, options_.overheads, effort(),
                                    chains, result_.gave_up)) {
        result.push_back(holds(bound.verdict));
      }
    } catch (const std::invalid_argument&) {  // an executor has fewer priorities than levels
      refused_ = std::current_exception();
      result_.gave_up = true;
      result.assign(chains.size(), false);
    }
    return result;
  }

  /// Returns whether the order is the best one so far.
  bool consider(Order order, const char* method) {
    ++result_.evaluations;
    Application application = stated_;
    apply(order, application);
    Quality found;
    try {
      found = quality(application, options_.executor, options_.overheads, effort());
    } catch (const std::invalid_argument&) {  // an executor has fewer priorities than levels
      refused_ = std::current_exception();
      result_.gave_up = true;
      return false;
    }
    if (!result_.method.empty() && !better(found, quality_, Objective::kMaxSlack)) {
      return false;
    }
    best_ = std::move(order);
    quality_ = found;
    result_.method = method;
    return true;
  }

  bool may_go_on() const {
    const bool has_more_to_prove = result_.method.empty() || quality_.not_proved > 0;
    return has_more_to_prove && result_.evaluations < most_;
  }

  void try_sources() {
    const auto levels = [this](ChainPriorities source) {
      return chain_priorities(stated_, source);
    };
    const std::array sources{
        std::pair("deadline monotonic priorities",
                  Order{levels(ChainPriorities::kDeadlineMonotonic), false}),
        std::pair("the priorities of the file", Order{levels(ChainPriorities::kGiven), false}),
        std::pair("rate monotonic priorities",
                  Order{levels(ChainPriorities::kRateMonotonic), false}),
        std::pair("PiCAS's rules", Order{levels(ChainPriorities::kGiven), true}),
        std::pair("PiCAS's rules by deadline",
                  Order{levels(ChainPriorities::kDeadlineMonotonic), true}),
    };
    if (std::exchange(tried_sources_, true)) {
      return;
    }
    for (const auto& [method, order] : sources) {
      if (result_.method.empty() || may_go_on()) {
        consider(order, method);
      }
    }
  }

  /// Limits the evaluations for a result that is only of use if it is feasible: of a large
  /// application, an evaluation takes long.
  void limit_evaluations() {
    most_ = options_.evaluations;
    if (!options_.best_effort) {
      const std::size_t callbacks = stated_.callbacks.size();
      most_ = std::min(most_, kFewEvaluations + (kManyEvaluations / (callbacks * callbacks + 1)));
    }
  }

  void try_from_below() {
    const auto hold = [this](const std::vector<int>& levels, std::span<const std::size_t> chains) {
      return holds_at(levels, chains);
    };
    const auto within_limit = [this] { return result_.evaluations < most_; };
    from_below_ = detail::audsley(stated_, hold, within_limit);
    result_.gave_up = result_.gave_up || !within_limit();
    consider({.level = from_below_.level}, "Audsley's algorithm");
    // All hold one by one: together they had too few steps.
    result_.gave_up = result_.gave_up || (from_below_.complete && quality_.not_proved > 0);
  }

  /// Moves chains to other places, as long as that improves the result.
  void search() {
    const std::size_t patience = kVainTrialsPerChain * (stated_.chains.size() + 1);
    for (std::size_t vain = 0; vain < patience && may_go_on() && !result_.method.empty(); ++vain) {
      if (consider(neighbour(best_), "a search")) {
        vain = 0;
      }
    }
  }

  /// Returns the order with one chain at another place: at the priority of others, or between two.
  Order neighbour(Order order) {
    std::vector<int> sorted = order.level;
    std::ranges::sort(sorted);
    const auto [first, last] = std::ranges::unique(sorted);
    sorted.erase(first, last);
    for (int& level : order.level) {
      const auto place = std::ranges::lower_bound(sorted, level) - sorted.begin();
      level = static_cast<int>(2 * place) + 1;  // the even ones are between them
    }
    if (random_.uniform(0, 7) == 0) {
      order.by_picas = !order.by_picas;
      return order;
    }
    const auto places = static_cast<std::int64_t>(2 * sorted.size());
    order.level[random_.next() % order.level.size()] = static_cast<int>(random_.uniform(0, places));
    return order;
  }

  BoundPriorities finished() {
    if (result_.method.empty()) {
      std::rethrow_exception(refused_);  // no order of the chains is possible
    }
    Application application = stated_;
    result_.callbacks = apply(best_, application);
    result_.feasible = quality_.not_proved == 0;
    const bool from_below = best_.level == from_below_.level && !best_.by_picas;
    const auto bounds = chain_bounds(application, options_.executor, options_.overheads, effort());
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      result_.chains.push_back({.priority = best_.level[i],
                                .by = from_below ? from_below_.by[i] : PlacedBy::kMethod,
                                .bound = bounds[i].bound,
                                .verdict = bounds[i].verdict});
    }
    return std::move(result_);
  }

  Application stated_;  // without the priorities of callbacks
  const BoundPrioritiesOptions& options_;
  SimulationRandom random_;
  BoundPriorities result_;
  std::size_t most_{};  // evaluations
  bool tried_sources_ = false;
  std::exception_ptr refused_;  // the last order that is not possible
  detail::ChainLevels from_below_;
  Order best_;
  Quality quality_;
};

}  // namespace

BoundPriorities bound_priorities(const Application& application,
                                 const BoundPrioritiesOptions& options) {
  return Chooser(application, options).run();
}

}  // namespace rclrt::analysis
