// SPDX-License-Identifier: Apache-2.0
// All measurements, in the order of their turns.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "measurement.hpp"
#include "rclrt/context.hpp"

namespace rclrt::bench {

struct PlanOptions {
  std::vector<std::vector<int>> cpu_sets;  ///< one CPU, two CPUs
  std::vector<std::string> executors;      ///< "bare" is always included
  std::vector<std::string> cases;
  std::vector<int> sizes = {10, 100, 1000, 10'000};  ///< for the case `entities`
  std::vector<int> levels = {1, 10, 30, 90};
  bool quick_growth = false;  ///< `entities` and `levels` on one CPU only
  bool realtime = false;
  std::size_t warm_up = 0;
  std::size_t samples = 0;  ///< per row and round
};

/// Returns the names of all cases, in the order of the table.
const std::vector<std::string>& case_names();

/// One measurement, which adds to its rows.
struct Turn {
  bool counts_system_calls = false;  ///< it is also run under a tracer
  std::vector<Row*> rows;
  std::function<void(const std::shared_ptr<Context>&)> run;
};

/// Returns the measurements of one round, in the order in which they run: for each case first the
/// floors (the same work without an executor), then one executor after the other. Adds a row for
/// each result to `rows`, the same rows in each plan with the same options. `rows` must outlive the
/// result.
std::vector<Turn> make_plan(const PlanOptions& options, Rows& rows);

/// Returns the median of the floor that belongs to `row`, in microseconds. NaN if the row has no
/// floor, or if the floor was not measured.
double floor_us(const Rows& rows, const Row& row);

}  // namespace rclrt::bench
