// SPDX-License-Identifier: Apache-2.0
// The work that may delay a path on several CPUs, see docs/explanation/several-cpus.md.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "bounds/global_offsets.hpp"
#include "bounds/global_system.hpp"

namespace rclrt::analysis::detail {

/// Where the time begins within which a path has to end.
enum class WindowStart {
  kReady,  ///< when its first callback is ready: every flow may have work that was released before
  kBusy,   ///< before that, since when all CPUs have interfering work: few flows have such work
};

/// Times for which a value is the same; at first, all.
struct SameTimes {
  Ticks first{};
  Ticks last{kHorizon};

  bool contains(Ticks x) const { return first <= x && x <= last; }
  void narrow(Ticks from, Ticks to) {
    first = std::max(first, from);
    last = std::min(last, to);
  }
};
inline constexpr SameTimes kNoTimes{1, 0};

/// The long-run loads of callbacks, as numbers of CPUs.
struct LongRun {
  double whole{};   ///< the path, and what it may have to wait for while a CPU is idle
  double shared{};  ///< other work at least as urgent
  double work{};    ///< all of it, without the overheads of runs
  double left{};    ///< what `shared` leaves of one CPU, if it uses all CPUs at the same times
  double most{};    ///< of one callback or flow
  std::size_t largest{};  ///< that callback, or the first one of that flow
};

/// The work in a time x up to the end of a path. Keeps references.
class GlobalWindow {
 public:
  GlobalWindow(const GlobalSystem& all, const GlobalPath& path);

  /// Sets where the time begins; WindowStart::kReady before.
  void begin_when(WindowStart start) { start_ = start; }

  /// Sets what is known of the releases of each source after the nominal one that brings the path,
  /// or the first one of set_instances(); nullptr, as before: nothing. Keeps the pointer. It counts
  /// with WindowStart::kReady.
  void set_phases(const std::vector<std::optional<GlobalPhase>>* phases) { phases_ = phases; }

  /// Returns whether instances of the path become ready in the order of their stamps, and one
  /// after the other, each once.
  bool has_order() const;

  /// Sets which instances of the path are in the time: this number of them, of which each but the
  /// first one is ready before those before it have ended. Before their first one, all have ended.
  /// 0, as at first: one, and earlier ones may be under way when it is ready. Requires has_order().
  void set_instances(Ticks count) { instances_ = count; }

  /// Finds which flows have no work that was released before with WindowStart::kBusy, unless one of
  /// their callbacks runs then. Returns whether there are more of them than may do so. Requires a
  /// call before WindowStart::kBusy.
  bool limits_carry_in();

  std::size_t size() const { return units_.size() + jobs_.size() + 1; }
  /// Returns the path's own part of the time.
  Ticks own() const { return sum(product(std::max<Ticks>(1, instances_), own_), all_.tail(path_)); }

  /// Sets the elements of the sources with responses that end() depends on.
  void mark_sources(std::vector<bool>& sources) const;

  /// Returns the shortest time in which the path has ended, if nothing that comes after x counts.
  Ticks end(Ticks x);

  /// Returns the loads: there is a bound, however long, if `whole` is less than `left`.
  LongRun long_run() const;

  /// Returns the terms of the last end(x). The path's own work has the rest.
  std::vector<Contribution> explain(Ticks x);

 private:
  static constexpr Ticks kMostRunsInWait = 3;  // of a timer; others run once less

  /// A value that depends on x.
  struct Known {
    Ticks value{};
    SameTimes same{kNoTimes};  ///< x with this value
  };

  /// Work that runs on one CPU at a time, `parallel` times at most.
  struct Unit {
    std::size_t source{};
    bool own{};  ///< of the path's own source
    bool in_sequence{};
    Ticks work{};      ///< of one instance
    Ticks once{};      ///< work beside the path, of its own instance
    Ticks before{};    ///< work of the path's own instance before the path is ready
    Ticks response{};  ///< of its last callback; kHorizon: none
    Ticks parallel{1};
    bool waits_whole{};  ///< the path may wait for all of it
    /// What does not count whole has turns with other units (GlobalSystem::turn_of), as an index of
    /// `turns_`.
    std::optional<std::size_t> turn{};
    std::optional<std::size_t> place{};  ///< the only CPUs that it uses, as an index of `places_`
    bool in_sets{};  ///< ready sets limit what does not count whole, at any load
    /// If it has work from before WindowStart::kBusy, one of the callbacks with the same index runs
    /// on a CPU then; that of one CPU at least is unlike all of these.
    std::optional<std::size_t> at_start{};  ///< an index of `carried_in_`
    Ticks in_wait{};  ///< with `in_sets`: the most work during one wait of the path
    std::vector<const GlobalNode*> whole{};  ///< callbacks of the unit that the path may wait for
    std::size_t callback{};                  ///< or the first of several
    const GlobalNode* node{};                ///< absent for several callbacks
    std::vector<const GlobalNode*> parts{};  ///< of several: those with a short response first
    bool on_path{};
    bool is_last{};              ///< on the path
    bool is_flow{};              ///< it has all callbacks of its source that interfere
    Ticks low{};                 ///< counts whole, as a less urgent member
    Ticks total{};               ///< as of the last end(x), also below
    Ticks blocks{};              ///< counts whole
    SameTimes same{kNoTimes};    ///< x with this `total` and `blocks`, if it is not own
    std::vector<Known> known{};  ///< of which `total` and `blocks` are made, in order of their use
    Ticks rest{};                ///< of `total` without what counts whole
    Ticks begun{};               ///< of `rest`: the most without work from before
    Ticks in_turn{};             ///< of `rest` or `begun`: what its turn leaves of it
    Ticks shared{};              ///< of this: counts by its share of the CPUs
    Ticks carried_in{};          ///< what it may do besides in WindowStart::kBusy
  };

  /// The long-run load of a unit, as numbers of CPUs.
  struct LoadOf {
    double whole{};
    double shared{};
  };

  /// Runs that cost something besides their work.
  struct Jobs {
    std::size_t source{};
    const GlobalNode* node{};
    bool on_path{};
    Ticks response{};
    Ticks cost{};
    Ticks in_wait{};  ///< the most runs during one wait of the path; 0: no limit
  };

  /// Runs that keep a callback of the path out of ready sets.
  struct Busy {
    std::size_t source{};
    const GlobalNode* node{};
    Ticks once{};  ///< beside the path, of its own instance
  };

  /// The longest less urgent member of a group.
  struct Low {
    std::size_t callback{};
    Ticks work{};
    std::size_t members{};  ///< less urgent ones
  };

  /// The work constant + slope y in a time y.
  struct Line {
    Ticks constant{};
    Ticks slope{};
    bool bends{};  ///< it may be another line at y - 1

    /// Adds a line, of which no more than `most` CPUs do the work at y.
    void add(const Line& line, Ticks y, Ticks most) {
      const Ticks work = sum(line.constant, product(line.slope, y));
      const Ticks limit = product(y, most);
      const bool is_more = work > limit || line.slope > most || line.constant >= kHorizon;
      // At y - 1, the limit is lower by `most`, and may be lower than the work.
      bends = bends || line.bends || (!is_more && limit - work < most);
      if (is_more) {
        slope += most;
      } else {
        constant = sum(constant, line.constant);
        slope += line.slope;
      }
    }
  };

  const GlobalNode& node(std::size_t index) const {
    return all_.sources[path_.source].nodes[index];
  }
  /// Returns whether callbacks of this one's executor may run on a CPU of the path's executor.
  bool shares_cpus(std::size_t callback) const {
    return own_executor_.callbacks_of[all_.executor_of[callback]];
  }
  /// Returns whether each run of the callback delays the path: it shares CPUs with the path, and no
  /// callback of the path is more urgent. Where an executor has a single thread, callbacks of the
  /// path's executor delay it only by what counts whole.
  bool interferes(std::size_t callback) const {
    if (all_.pool.kind == Pool::kSingle && all_.executor_of[callback] == path_.executor) {
      return whole_[callback];
    }
    return shares_cpus(callback) && all_.ceiling[callback] >= path_.priority;
  }
  bool runs_while_pending(std::size_t index) const;
  Ticks begun_work(const Unit& unit, Ticks x) const;
  void keep_count(const Releases& releases, Ticks x, Ticks later);
  void keep_instances(std::size_t index, Ticks x, Ticks later, Ticks response);
  template <typename Compute>
  Ticks known(Ticks x, Compute compute);
  Ticks queued_runs(const GlobalSource& source, const GlobalNode& node, Ticks x);
  Ticks work_at_any_phase(std::size_t index, Ticks x, Ticks response, Ticks work, bool in_sequence);
  Ticks work_of(std::size_t index, Ticks x, Ticks response, Ticks work, bool in_sequence);
  Ticks work_of_part(std::size_t index, const GlobalNode& node, Ticks x);
  Ticks work_by_queues(const Unit& unit, Ticks x);
  /// Returns whether a response is so long that its queues may say more of the work.
  static bool is_long(const GlobalSource& source, Ticks response) {
    return response < kHorizon && response > source.shortest_period();
  }
  Ticks runs_in_wait(const GlobalNode& node) const;
  Ticks waits(Ticks x) const;
  Ticks cost_of_run(const GlobalSource& source, const GlobalNode& node) const;
  bool is_before_path(std::size_t index) const;
  Ticks runs_beside_path(std::size_t index) const;
  void find_shared();
  void find_less_urgent();
  void add(const GlobalNodes& here);
  void add_jobs(std::size_t index);
  void attribute(const Low& low);
  bool runs(const Unit& unit, std::size_t callback) const;
  void find_limits();
  template <typename Of>
  std::optional<std::size_t> only_one(const Unit& unit, Of of) const;
  bool is_on_path(std::size_t index) const;
  bool keeps_order() const;
  LoadOf load_of_unit(const Unit& unit) const;
  double shared_load(double y) const;
  Ticks others(Ticks x, Ticks response) const;
  Ticks others_on_path(Ticks x, Ticks response) const;
  Ticks others_after_ready(Ticks x, Ticks response) const;
  Ticks earlier(Ticks response) const;
  bool runs_in_order(std::size_t callback) const;
  Ticks instances_beside_path(std::size_t source, Ticks x, Ticks response) const;
  const GlobalPhase* phase_of(std::size_t source) const;
  Ticks work_in_phase(std::size_t source, Ticks x, Ticks response, Ticks work,
                      bool in_sequence) const;
  Ticks runs_of(const Jobs& jobs, Ticks x) const;
  void measure_own(Unit& unit, Ticks x) const;
  Ticks milliseconds(Ticks x) const { return ceil_div(sum(x, kMillisecond), kMillisecond); }
  Ticks background(Ticks x) const;
  Ticks first_idle_between(Ticks low, Ticks high);
  Ticks first_idle(Ticks Unit::* work, Ticks near);
  Line tangent(Ticks y, Ticks Unit::* work);
  Ticks share(Ticks y);
  Ticks most_carried_in(Ticks y);
  void measure(Unit& unit, Ticks x);
  void measure_other(Unit& unit, Ticks x);
  Ticks wait(Ticks x);

  const GlobalSystem& all_;
  const GlobalPath& path_;
  const GlobalExecutor& own_executor_;
  WindowStart start_ = WindowStart::kReady;
  const std::vector<std::optional<GlobalPhase>>* phases_ = nullptr;
  std::vector<bool> whole_;  // for each callback: all of its work may have to be waited for
  std::vector<Low> lows_;    // for each callback of the path
  std::vector<Unit> units_;
  std::vector<Jobs> jobs_;
  std::vector<Busy> busy_;
  std::vector<Known>* known_ = nullptr;  // of measure_other(): of its unit
  std::size_t used_ = 0;                 // of these
  SameTimes same_;                       // x for which the values used so far are the same
  Ticks instances_ = 0;
  std::vector<Ticks> turns_;       // of share(): how long each turn may still run
  std::vector<Ticks> places_;      // of share(): the same of each set of CPUs
  std::vector<Line> turn_lines_;   // of tangent()
  std::vector<Line> place_lines_;  // of tangent()
  std::vector<std::optional<std::size_t>> place_of_turn_;
  std::vector<Ticks> place_cpus_;
  std::optional<std::size_t> starts_;  // how many different Unit::at_start there are
  std::vector<Ticks> carried_in_;      // of most_carried_in()
  std::vector<std::pair<Ticks, std::size_t>> most_carried_in_;  // the same, and the index of each
  Ticks own_ = 0;                                               // of each instance
  Ticks idle_ = 0;  // as of the last end(x): the least y without work for all CPUs
};

}  // namespace rclrt::analysis::detail
