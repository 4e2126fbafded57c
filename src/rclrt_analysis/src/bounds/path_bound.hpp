// SPDX-License-Identifier: Apache-2.0
// The response time of a path that starts at a timer and does not wait for another timer.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bounds/level_work.hpp"
#include "bounds/path_terms.hpp"
#include "demand.hpp"
#include "load.hpp"

namespace rclrt::analysis::detail {

/// A timer that was released before the path's own timer, by at most `lag`. All work of that
/// release was done when the busy period began.
struct EarlierRelease {
  std::size_t timer{};  ///< index into Workload::timers
  Ticks lag{};
};

/// A path of callbacks: the work before the end of its last callback.
struct Path {
  std::size_t timer{};  ///< index into Workload::timers
  std::size_t last{};   ///< the bound is up to the end of this callback
  int level{};          ///< the lowest on the path
  std::optional<EarlierRelease> done{};
  bool
      before_successors{};  ///< the bound is up to the end of its own work, before what it releases
};

struct PathBound {
  std::optional<Ticks> response;
  bool overloaded{};  ///< no bound exists: the load is more than the core
  std::string note;
  Ticks waited{};  ///< release of the worst job, from the start of the busy period, less its jitter
  std::vector<Contribution> why;
};

/// Work of which each set runs that of one release of a timer at most: see path_ready_sets.cpp.
struct OncePerSet {
  Ticks work{};
  /// In so many of the sets that follow, the work of a release at or after that of the path cannot
  /// run before the path's last callback.
  Ticks without{};
};

/// The limits that ready sets put on the delay of a path: see path_ready_sets.cpp.
struct ReadySets {
  const std::vector<std::vector<OncePerSet>>& limited;  ///< for each timer
  Ticks count{};  ///< the sets that may follow the current one until the last callback starts
  Ticks end_of_arrivals{};  ///< releases of the path's timer from here on need not be examined
  Ticks limit{};            ///< a bound that is not below it is of no use
};

/// The turns that delay a path: see path_turns.cpp.
struct Turns {
  Ticks count{};  ///< callbacks of a flow, one after another
  Ticks busy{};   ///< the longest busy period
  Ticks limit{};  ///< a bound that is not below it is of no use
};

/// The search by sets and turns is for applications with no more callbacks than this.
inline constexpr std::size_t kMostInOrder = 500;

class PathBounds {
 public:
  /// `timers` are indices into Workload::timers; the releases of these timers share the core.
  PathBounds(const Workload& workload, std::vector<std::size_t> timers, Ticks jitter,
             Effort effort);

  PathBound bound(const Path& path);

  /// Returns whether a search has ended with its steps, so that some bound may be too high or
  /// missing.
  bool gave_up() const { return gave_up_; }

  /// Returns the most instances of one input of the callback that are released and have not ended;
  /// kHorizon: no bound. Each of them was triggered by a release that is no longer ago than the
  /// bound of the path from that timer to the callback.
  Ticks most_pending(std::size_t callback);

 private:
  const LevelWork& work(int level);
  Ticks pending_by(std::size_t callback, const std::vector<std::size_t>& publishers);
  PathBound bound(const Path& path, std::optional<Ticks> age);
  PathBound bound(const Path& path, std::optional<Ticks> age, const BeforePath& before);
  PathBound bound_by_offsets(const Path& path, std::optional<Ticks> age, const BeforePath& before,
                             PathBound any_offsets);
  void lower_by_sets(const Path& path, std::optional<Ticks> age, const BeforePath& start,
                     Budget& budget, PathBound& found);
  std::vector<std::size_t> timers_in_phase(const Path& path);
  Ticks hyperperiod_of(std::size_t timer, const std::vector<std::size_t>& others, Ticks most) const;
  std::vector<BeforePath> befores_of(const Path& path, bool with_sets);
  PathTerms terms_of(const Path& path, std::optional<Ticks> age, const BeforePath& before);
  void add_releases(const Path& path, std::size_t timer, Ticks work, const Releases& releases,
                    bool by_release, PathTerms& terms) const;
  static void add_demand(PathTerms& terms);
  void add_background(PathTerms& terms) const;
  void add_sets(const LevelWork& level, std::optional<Ticks> age, PathTerms& terms) const;
  std::optional<Ticks> age_of_started(int level);
  std::optional<Ticks> age_of(std::size_t callback, bool before_successors);
  Ticks jitter_of(std::size_t timer) const;
  Releases releases_of(std::size_t timer, const Path& path, const BeforePath& before) const;
  std::optional<PathBound> worst_in_busy_period(const Path& path, PathTerms& terms,
                                                Budget& budget) const;
  std::optional<PathBound> worst_in_order(const Path& path, PathTerms& terms, Budget& budget) const;
  std::int64_t steps_by_sets() const;
  bool has_own_queues(const Path& path) const;
  std::vector<std::vector<OncePerSet>> limited_by_sets(const Path& path) const;
  bool is_seen_at_once(const Path& path) const;
  Ticks released_by(const Releases& releases, const Path& path, Ticks arrival) const;
  Ticks next_arrival(const Path& path, const PathTerms& terms, const ReadySets& sets,
                     Ticks arrival) const;
  std::optional<PathBound> lowest_by_order(const Path& path, PathTerms& terms, Ticks limit,
                                           Budget& budget);
  std::optional<PathBound> lowest_by_sets(const Path& path, const PathTerms& terms,
                                          const std::vector<std::vector<OncePerSet>>& limited,
                                          Ticks end_of_all, Ticks limit, Budget& budget) const;
  std::optional<PathBound> worst_in_phase(const Path& path, const PathTerms& terms,
                                          const ReadySets& sets, Budget& budget) const;
  std::optional<PathBound> worst_by_sets(const Path& path, const PathTerms& terms,
                                         const ReadySets& sets, Budget& budget) const;
  std::optional<Ticks> start_by_sets(const Path& path, const PathTerms& terms,
                                     const ReadySets& sets, Ticks arrival, Ticks least,
                                     Budget& budget) const;
  bool is_line(const Path& path) const;
  Ticks length_of(const Path& path) const;
  std::optional<PathBound> with_pending(
      const Path& path, const std::function<std::optional<PathBound>(Ticks)>& bound_of) const;
  bool runs_by_release() const;
  const std::vector<Ticks>& flows(Ticks turns, std::optional<int> least_in_last);
  std::optional<PathBound> lowest_by_turns(const Path& path, const PathTerms& terms, Ticks busy,
                                           Ticks limit, Budget& budget);
  std::optional<PathBound> by_turns(const Path& path, const PathTerms& terms, const Turns& turns,
                                    Budget& budget);
  std::optional<Ticks> end_of_arrivals(const Path& path, PathTerms& terms, Budget& budget) const;
  std::optional<Ticks> end_of_last(const Path& path, Ticks start, Budget& budget) const;
  Ticks background_before(Ticks time) const;
  PathBound explain_sets(const Path& path, const PathTerms& terms, const ReadySets& sets,
                         Ticks arrival, Ticks start, Ticks end) const;
  Releases in_phase_with(const Path& path, Ticks nominal, const PathTerms::Timer& timer,
                         const BeforePath& before) const;
  Ticks earlier_than(Ticks arrival, const Path& path, const PathTerms& terms) const;
  Ticks release_of(Ticks q, const Path& path, const PathTerms& terms) const;
  Ticks started_work(const PathTerms& terms) const;
  Ticks jobs_to_follow(const Path& path, const PathTerms& terms) const;
  PathBound explain(const Path& path, const PathTerms& terms, Ticks q, Ticks end,
                    Ticks arrival) const;

  const Workload& workload_;
  std::vector<std::size_t> timers_;
  Ticks jitter_;
  Budget budget_;
  bool gave_up_ = false;
  std::vector<std::size_t> positions_;  // of each callback in CallbackGraph::order
  std::vector<bool> here_;              // of each callback: a release of `timers_` leads to it
  std::map<int, LevelWork> levels_;
  std::map<std::pair<std::size_t, bool>, std::optional<Ticks>> ages_;  // see age_of()
  bool in_age_ = false;                                                // age_of() is under way
  bool by_release_ = false;                                            // see runs_by_release()
  Started longest_;  // the longest callback, with order of release
  std::map<std::pair<Ticks, std::optional<int>>, std::vector<Ticks>> flows_;  // see flows()
};

}  // namespace rclrt::analysis::detail
