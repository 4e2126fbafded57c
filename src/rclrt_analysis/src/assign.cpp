// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/assign.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "assign_layouts.hpp"
#include "assign_moves.hpp"
#include "audsley.hpp"
#include "bounds/chosen_chains.hpp"
#include "quality.hpp"
#include "rclrt/analysis/synthesis.hpp"

namespace rclrt::analysis {
namespace {

using detail::AssignCandidate;
using detail::AssignLayout;
using model::Application;

// Steps of an evaluation. A bound that has none takes all of them, so the search has few.
constexpr std::int64_t kStepsOfFile = 20'000'000;
constexpr std::int64_t kStepsOfResult = 400'000'000;
constexpr std::int64_t kStepsOfCandidate = 2'000'000;
constexpr std::int64_t kStepsIfOverloaded = 200'000;
constexpr std::size_t kVainMovesPerItem = 20;  // per chain, and per unit of callbacks
constexpr std::size_t kFirstSlice = 16;  // part of the evaluations that a layout's first climb has

constexpr const char* kFileAsItIs = "the file as it is";

/// The best assignment of one layout.
struct Family {
  AssignLayout layout;
  std::optional<AssignCandidate> best{};
  Quality quality{};
  std::vector<ChainBound> bounds{};
  std::string start{};
  std::size_t evaluations{};
  std::size_t vain{};  // moves since the last improvement
  std::set<AssignCandidate> seen{};
};

class AssignSearch {
 public:
  AssignSearch(const Application& application, const AssignOptions& options)
      : stated_(application),
        options_(options),
        random_(options.seed),
        units_(detail::placement_units(application, options.unit)),
        moves_(application, units_, random_) {}

  Assignment run() {
    const auto bounds =
        chain_bounds(stated_, options_.executor, options_.overheads, effort(kStepsOfFile));
    result_.before = detail::quality_of(stated_, options_.executor, options_.overheads, bounds);
    ++result_.evaluations;
    for (AssignLayout& layout : detail::assign_layouts(stated_, units_, options_)) {
      families_.push_back({.layout = std::move(layout)});
    }
    for (Family& family : families_) {
      if (family.layout.kind == Layout::kStated) {  // its quality is known
        family.best = AssignCandidate{};
        family.seen.insert(*family.best);
        family.quality = result_.before;
        family.bounds = bounds;
        family.start = kFileAsItIs;
      }
    }
    try {
      search();
      evaluate_result();
    } catch (const StopSearch&) {
      if (best() == nullptr) {
        throw;
      }
      result_.stopped = true;
    }
    return finished();
  }

 private:
  void search() {
    if (options_.method == AssignMethod::kPicas) {
      for (Family& family : families_) {
        consider(family, start_of(family, 0, {ChainPriorities::kGiven, true}), "picas");
      }
      return;
    }
    try_starts();
    for (std::size_t i = 0; i < families_.size(); ++i) {
      try_from_below(families_[i], families_.size() - i);
    }
    climb_all();
  }

  /// Evaluates the file and the best assignment with more steps, by which some bounds may be lower.
  void evaluate_result() {
    const auto evaluate = [this](const Application& application) {
      return quality(application, options_.executor, options_.overheads, effort(kStepsOfResult));
    };
    if (result_.before.not_proved > 0) {
      const Quality found = evaluate(stated_);
      if (better(found, result_.before, options_.objective)) {
        result_.before = found;
        keep_file_if_better();
      }
    }
    if (Family* const chosen = best()) {
      const Quality found = evaluate(made(*chosen->best));
      if (better(found, chosen->quality, options_.objective)) {
        chosen->quality = found;
      }
    }
  }

  void keep_file_if_better() {
    for (Family& family : families_) {
      if (family.layout.kind == Layout::kStated &&
          better(result_.before, family.quality, options_.objective)) {
        family.best = AssignCandidate{};
        family.quality = result_.before;
        family.start = kFileAsItIs;
      }
    }
  }

  struct Source {
    std::optional<ChainPriorities> chains;  // nullopt: all priorities as in the file
    bool by_picas{};
  };

  AssignCandidate start_of(const Family& family, std::size_t placement, Source source) const {
    AssignCandidate result{.clusters = family.layout.clusters,
                           .place = family.layout.placements.at(placement),
                           .level = {},
                           .by_picas = source.by_picas};
    if (source.chains) {
      result.level = detail::ordered_chains(stated_, *source.chains);
    }
    return result;
  }

  /// Considers each allocation of each layout with each source of priorities. The sources come
  /// first in order, so that the layouts advance together.
  void try_starts() {
    const std::array sources{
        std::pair("given", Source{{}, false}),
        std::pair("deadline", Source{ChainPriorities::kDeadlineMonotonic, false}),
        std::pair("picas by deadline", Source{ChainPriorities::kDeadlineMonotonic, true}),
        std::pair("chain priorities", Source{ChainPriorities::kGiven, false}),
        std::pair("rate", Source{ChainPriorities::kRateMonotonic, false}),
        std::pair("picas", Source{ChainPriorities::kGiven, true}),
    };
    for (const auto& [name, source] : sources) {
      for (Family& family : families_) {
        for (std::size_t i = 0; i < family.layout.placements.size(); ++i) {
          consider(family, start_of(family, i, source), name);
        }
      }
    }
  }

  /// Considers the priorities of Audsley's algorithm over the chains for the layout's best places,
  /// if no start proves all deadlines. `shares`: how many layouts share the evaluations that are
  /// left.
  void try_from_below(Family& family, std::size_t shares) {
    if (!family.best || family.quality.not_proved == 0 || !may_go_on()) {
      return;
    }
    const std::size_t left = options_.evaluations - result_.evaluations;
    const std::size_t most =
        shares > 1 ? result_.evaluations + (left / (2 * shares)) : options_.evaluations;
    const auto within_limit = [&] { return result_.evaluations < most; };
    const auto hold = [&](const std::vector<int>& levels, std::span<const std::size_t> chains) {
      return holds_at(family, levels, chains);
    };
    AssignCandidate candidate = *family.best;
    candidate.by_picas = false;
    candidate.level = detail::audsley(stated_, hold, within_limit).level;
    gave_up_ = gave_up_ || !within_limit();
    detail::normalise(candidate);
    consider(family, std::move(candidate), "Audsley's algorithm over the chains");
  }

  std::vector<bool> holds_at(Family& family, const std::vector<int>& levels,
                             std::span<const std::size_t> chains) {
    count_evaluation(family);
    AssignCandidate candidate = *family.best;
    candidate.by_picas = false;
    candidate.level = levels;
    std::vector<bool> result;
    try {
      for (const ChainBound& bound :
           detail::bounds_of_chains(made(candidate), options_.executor, options_.overheads,
                                    effort(kStepsOfCandidate), chains, gave_up_)) {
        result.push_back(holds(bound.verdict));
      }
    } catch (const std::invalid_argument&) {  // an executor has fewer priorities than levels
      refused_ = std::current_exception();
      gave_up_ = true;
      result.assign(chains.size(), false);
    }
    return result;
  }

  /// Improves the layouts by turns. After each turn the worse half of them drops out, and the
  /// others get more evaluations.
  void climb_all() {
    std::vector<Family*> open;
    for (Family& family : families_) {
      if (family.best) {
        open.push_back(&family);
      }
    }
    std::size_t slice = (options_.evaluations / kFirstSlice) + 1;
    while (!open.empty() && may_go_on()) {
      for (Family* const family : open) {
        climb(*family, open.size() > 1 ? slice : options_.evaluations);
      }
      std::ranges::stable_sort(open, [&](const Family* a, const Family* b) {
        return better(a->quality, b->quality, options_.objective);
      });
      open.resize((open.size() + 1) / 2);
      std::erase_if(open, [&](const Family* each) { return each->vain >= patience(); });
      slice *= 2;
    }
  }

  void climb(Family& family, std::size_t evaluations) {
    const std::size_t most = result_.evaluations + evaluations;
    while (family.vain < patience() && result_.evaluations < most && may_go_on()) {
      ++family.vain;
      const bool resize = family.layout.kind == Layout::kClustered;
      if (consider(family, moves_.neighbour(*family.best, family.bounds, resize), "")) {
        family.vain = 0;
      }
    }
  }

  std::size_t patience() const {
    return kVainMovesPerItem * (stated_.chains.size() + units_.size());
  }

  /// Returns whether the candidate is the best one of its layout so far.
  bool consider(Family& family, AssignCandidate candidate, const char* start) {
    if (options_.check_interrupt != nullptr) {
      options_.check_interrupt();
    }
    const double load = highest_load(candidate);
    const bool is_worse = load > 1 && family.best && load > highest_load(*family.best);
    if (is_worse || !family.seen.insert(candidate).second || (best() != nullptr && !may_go_on())) {
      return false;
    }
    count_evaluation(family);
    std::vector<ChainBound> bounds;
    Quality found;
    try {
      const Application application = made(candidate);
      bounds = chain_bounds(application, options_.executor, options_.overheads,
                            effort(load > 1 ? kStepsIfOverloaded : kStepsOfCandidate));
      found = detail::quality_of(application, options_.executor, options_.overheads, bounds);
    } catch (const std::invalid_argument&) {  // an executor has fewer priorities than levels
      refused_ = std::current_exception();
      return false;
    }
    const bool improves = !family.best || better(found, family.quality, options_.objective);
    if (improves) {
      family.best = std::move(candidate);
      family.quality = found;
      family.bounds = std::move(bounds);
      family.start = *start == '\0' ? family.start : start;
    }
    return improves;
  }

  /// Returns the highest load per CPU of an executor; 0 for the executors of the file.
  double highest_load(const AssignCandidate& candidate) const {
    return detail::highest_load(units_, candidate.clusters, candidate.place);
  }

  Application made(const AssignCandidate& candidate) const {
    return detail::apply(candidate, stated_, units_, options_.executor);
  }

  Effort effort(std::int64_t steps) const {
    return {.steps = steps, .check_interrupt = options_.check_interrupt};
  }

  void count_evaluation(Family& family) {
    ++result_.evaluations;
    ++family.evaluations;
    report_progress();
  }

  /// Returns the best layout so far; nullptr: none has an assignment.
  Family* best() {
    Family* result = nullptr;
    for (Family& family : families_) {
      const bool wins = family.best && (result == nullptr || better(family.quality, result->quality,
                                                                    options_.objective));
      result = wins ? &family : result;
    }
    return result;
  }

  bool may_go_on() {
    const Family* const leader = best();
    const bool done = options_.objective == Objective::kFeasible && leader != nullptr &&
                      leader->quality.not_proved == 0;
    return !done && result_.evaluations < options_.evaluations;
  }

  void report_progress() {
    const Family* const leader = best();
    if (options_.on_progress && leader != nullptr) {
      options_.on_progress({.evaluations = result_.evaluations,
                            .most_evaluations = options_.evaluations,
                            .best = leader->quality,
                            .layout = leader->layout.kind});
    }
  }

  Assignment finished() {
    const Family* const chosen = best();
    if (chosen == nullptr) {
      std::rethrow_exception(refused_);
    }
    result_.application = made(*chosen->best);
    result_.after = chosen->quality;
    result_.start = chosen->start;
    for (const Family& family : families_) {
      if (!family.best) {
        continue;
      }
      std::size_t most = 0;
      for (const model::Executor& executor : made(*family.best).executors) {
        most = std::max(most, executor.cpus.size());
      }
      result_.layouts.push_back({.layout = family.layout.kind,
                                 .most_cpus = most,
                                 .quality = family.quality,
                                 .evaluations = family.evaluations,
                                 .chosen = &family == chosen});
    }
    result_.not_tried = detail::why_no_more_layouts(stated_, options_);
    result_.optimal = !gave_up_ && result_.evaluations < options_.evaluations;
    return std::move(result_);
  }

  const Application& stated_;
  const AssignOptions& options_;
  SimulationRandom random_;
  std::vector<detail::PlacementUnit> units_;
  detail::AssignMoves moves_;
  Assignment result_;
  std::vector<Family> families_;
  std::exception_ptr refused_;  // the last candidate that is not possible
  bool gave_up_ = false;        // Audsley's algorithm had too few evaluations or steps
};

/// Returns whether chains can be ordered by Audsley's algorithm without loss: there is one
/// executor, each chain is one callback that is on no other chain, every callback is on a chain, no
/// callback is in a group, and none reads a variable.
bool is_independent(const Application& application) {
  if (application.executors.size() != 1 || !application.cause_effect_chains.empty()) {
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

Assignment assign(const Application& application, const AssignOptions& options) {
  if (options.cpus.empty() || !application.hosts.empty()) {
    throw std::invalid_argument("assign() needs a CPU, and an application without hosts");
  }
  Assignment result = AssignSearch(application, options).run();
  // For independent chains, and threads that preempt by priority, no order proves more deadlines
  // than that of Audsley's algorithm, if it reached the last chain.
  result.optimal &= is_independent(result.application) && options.cpus.size() == 1 &&
                    options.method == AssignMethod::kSearch && traits(options.executor).has_levels;
  return result;
}

}  // namespace rclrt::analysis
