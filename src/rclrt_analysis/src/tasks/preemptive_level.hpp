// SPDX-License-Identifier: Apache-2.0
// Response times of tasks one after the other, from the most urgent one down.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "demand.hpp"
#include "load.hpp"

namespace rclrt::analysis::detail {

/// A task with its suspension converted to computation or jitter.
struct Job {
  Ticks wcet{};
  Ticks period{};
  Ticks jitter{};
  Ticks blocking{};
};

struct Response {
  std::optional<Ticks> value;  ///< absent: see note
  bool exact = false;
  bool unbounded = false;  ///< the load is more than the core
  bool missed =
      false;  ///< a job was found that ends after the deadline, although there is no value
  std::string note;
};

/// The load of all levels seen so far, and the response times of tasks below it.
class PreemptiveLevel {
 public:
  explicit PreemptiveLevel(std::int64_t steps_per_task) : steps_per_task_(steps_per_task) {}

  /// Returns the response time of `task`. `peers` are the other tasks of its priority; those of
  /// higher priorities have been given to add(). `deadline` is used only to set `missed` if the
  /// budget ends first.
  Response response(const Job& task, Ticks deadline, std::span<const Job> peers, Budget& total);

  /// Adds the task to the more urgent ones.
  void add(const Job& task);

 private:
  struct Sums {
    Load load;                // of C / T
    double late_work = 0;     // the sum of J U
    double partial_work = 0;  // the sum of C (1 - U)
    void add(const Job& task);
  };

  Response later_jobs(const Job& task, Ticks deadline, Ticks first, Demand& demand,
                      const Sums& sums, Budget& budget) const;
  static Response quick_bound(const Job& task, const Sums& sums, const std::string& why);

  std::int64_t steps_per_task_;
  Demand higher_{Count::kBefore};
  Demand scratch_{Count::kBefore};
  Sums sums_;
  Ticks reached_ = 0;        // `higher_` was evaluated up to here
  Ticks last_constant_ = 0;  // B + C of the task that gave reached_, less the C added since
};

}  // namespace rclrt::analysis::detail
