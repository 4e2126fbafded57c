// SPDX-License-Identifier: Apache-2.0
// The times at which single instances of callbacks may be under way: see
// docs/explanation/back-and-forth.md, which has the terms and the proof.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "bounds/cores.hpp"
#include "bounds/level_work.hpp"

namespace rclrt::analysis::detail {

struct KindBounds;

/// The releases of a timer: `first` + n periods, plus at most `late`.
struct KnownReleases {
  std::size_t timer{};  ///< as a callback
  Ticks first{};
  Ticks late{};
  Ticks period{};
  Ticks number{};  ///< of them in a hyperperiod
};

/// The instances of the callbacks of one component in a hyperperiod, for known phases. Each has a
/// latest end. raise() raises all of them until none changes; then they bound the ends.
class InstanceWindows {
 public:
  /// `callbacks`: of the component, publishers before subscribers; each has one publisher, or is
  /// one of the timers.
  InstanceWindows(const Workload& workload, const Cores& cores, const KindBounds& kind,
                  const Overheads& overheads, const std::vector<std::size_t>& callbacks);

  /// Starts anew with these releases: each instance ends when the work of its path is done.
  void start(const std::vector<KnownReleases>& releases);

  enum class Result { kRaised, kUnchanged, kNoBound };

  /// Computes each latest end again. kNoBound: one is more than `limit` after its release, or the
  /// budget ended.
  Result raise(Ticks limit, Budget& budget);

  /// Returns the number of the callback's instances in a hyperperiod.
  Ticks number(std::size_t callback) const { return releases_of(callback).number; }

  /// Returns the longest time from the earliest release of instance n to the latest end of the
  /// callback.
  Ticks end_after_release(std::size_t callback, Ticks n) const {
    return steps_[callback].ends[static_cast<std::size_t>(n)];
  }

  const std::vector<std::size_t>& path(std::size_t callback) const { return steps_[callback].path; }

 private:
  /// A callback, with what holds for each of its instances.
  struct Step {
    std::vector<std::size_t> path;  // from the timer to the callback
    std::size_t timer{};            // index into releases_
    std::size_t core{};
    std::size_t executor{};
    int priority{};
    int ceiling{};
    Ticks work{};        // with the dispatch
    Ticks hop{};         // the most that the message to it takes
    Ticks least{};       // from the release until it is ready
    bool begins_part{};  // not ready at once when the callback before it has ended
    bool in_group{};
    std::vector<bool> follows;  // of each callback: what the end of this one releases
    std::vector<Ticks> ends;    // of each instance, from the earliest release
    Ticks latest{};             // the largest of `ends`
  };

  /// One instance of a callback.
  struct Instance {
    std::size_t callback{};
    Ticks n{};
    bool operator==(const Instance&) const = default;
  };

  /// The callbacks of a part of a path on one CPU.
  struct Visit {
    std::size_t core{};
    int lowest{};
    std::size_t last{};  // the last one of them
    Ticks from{};        // the path is there no earlier
    Ticks left{};        // the latest time at which it leaves
    bool in_order{};     // callbacks of the lowest priority run in order of arrival
    std::size_t executor{};
  };

  /// An instance that may delay a part of a path.
  struct Delaying {
    Instance instance;
    std::size_t visit{};
    Ticks earliest{};  // arrival
    Ticks latest{};    // arrival
    Ticks end{};       // the latest
    Ticks work{};      // 0: only queueing it counts
    bool ordered{};    // it counts only if it arrives no later than the path's last callback there
  };

  /// A part of a path: from the callback `first` to `last`, indices into Step::path.
  struct Part {
    Instance instance;  // of the last callback
    std::size_t first{};
    Ticks earliest{};  // arrival at the first callback
    Ticks arrival{};   // the latest
    Ticks own{};       // work and messages
    Ticks once{};      // other time that counts once
    std::vector<Visit> visits{};
    bool single{};  // there is one callback
  };

  /// A busy period begins after `after` and no later than `latest`.
  struct Begin {
    Ticks after{};
    Ticks latest{};
  };

  /// The delays of a part at one of its visits, in a busy period.
  struct Delays {
    /// Work of an instance.
    struct Work {
      Ticks earliest{};  // arrival
      Ticks work{};
      Ticks most{};                          // with all those before
      Ticks most_unordered{};                // the same of those that are not in order
      std::optional<std::size_t> release{};  // in order: an index of `releases`
    };
    std::vector<Work> works{};    // those with the earliest latest end first
    std::vector<Ticks> queued{};  // arrivals of instances of which only queueing counts
    /// The part waits there only for what arrives before it: it has waited for this time.
    std::optional<Ticks> in_order{};
    std::vector<Instance> releases{};  // the first one is the part's own
    std::vector<Ticks> waiting{};      // of delay(): the longest callback of each of `releases`
  };

  const KnownReleases& releases_of(std::size_t callback) const {
    return releases_[steps_[callback].timer];
  }
  Ticks release(const Instance& instance) const {
    const KnownReleases& known = releases_of(instance.callback);
    return known.first + (instance.n * known.period);
  }
  Ticks earliest(const Instance& instance) const {
    return release(instance) + steps_[instance.callback].least;
  }
  Ticks end(const Instance& instance) const;
  Ticks arrival(const Instance& instance) const;
  Ticks longest_busy(std::size_t core, Budget& budget) const;
  std::optional<Ticks> end_of(const Instance& instance, Budget& budget) const;
  std::optional<Ticks> end_of_part(const Part& part, Budget& budget) const;
  std::optional<Ticks> end_from(const Part& part, const std::vector<Delaying>& others,
                                const Begin& begin, std::vector<Delays>& delays,
                                Budget& budget) const;
  bool reaches(const Part& part, const std::vector<Delaying>& first, const Begin& begin) const;
  Part part_of(const Instance& instance, std::size_t first) const;
  void add_started(Part& part) const;
  std::vector<Delaying> collect(const Part& part, Ticks until) const;
  void add_instances(const Part& part, std::size_t visit, std::size_t callback, Ticks until,
                     std::vector<Delaying>& result) const;
  bool delays(const Part& part, const Instance& other) const;
  void find_delays(const Part& part, std::size_t visit, const std::vector<Delaying>& others,
                   const Begin& begin, Delays& result) const;
  std::size_t place_of_release(const Instance& instance, Delays& delays) const;
  Ticks delay(Delays& delays, Ticks until) const;
  Ticks lost(const Part& part, Ticks time) const;

  const Workload& workload_;
  const Cores& cores_;
  const KindBounds& kind_;
  Overheads overheads_;
  std::vector<std::size_t> callbacks_;
  std::vector<Step> steps_;  // of each callback of the application
  std::vector<bool> forks_;  // of each of releases_: some callback releases several
  std::vector<KnownReleases> releases_;
  std::vector<Ticks> busy_;  // of each core: the longest busy period
  Ticks limit_{};            // an instance that takes longer has no bound
};

}  // namespace rclrt::analysis::detail
