// SPDX-License-Identifier: Apache-2.0
// Executors that state no CPUs: on which CPUs their threads may run.
#pragma once

#include <optional>
#include <vector>

#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/model/application.hpp"
#include "rclrt/model/executor_choice.hpp"

namespace rclrt::analysis::detail {

/// A condition of bounds for a machine with an unknown number of CPUs, if time is lost on them.
inline constexpr const char* kLostOnFewCpus =
    "interrupts and the host take time from no more CPUs than the application states, or two "
    "(machine: {cpus: n} in the file of overheads states how many there are)";

/// The end of the note of a chain without a bound, if executors state no CPUs.
inline constexpr const char* kStateCpus =
    "; executors that state no CPUs may have a bound on several of them: state them (cpus: [...]), "
    "or how many the machine has (machine: {cpus: n} in the file of overheads)";

/// An application in which each executor states its CPUs.
struct Placement {
  model::Application application;
  bool has_more{};  ///< executors that stated none may have more CPUs than it states
};

/// Returns applications of which the bounds together hold for an application with executors that
/// state no CPUs: on a machine with any number of CPUs, or with `overheads.cpus` of them. Such an
/// executor may use all CPUs of the machine. Bounds of several CPUs hold for more of them, too
/// (docs/explanation/several-cpus.md), so there is one application with as many CPUs as are stated,
/// or one, and another one with one more: executors that state none then have CPUs that others have
/// not, however many there are. An `edf` executor takes one CPU, which all `edf` executors of a
/// process have in common: there is an application for each CPU that this may be.
///
/// Returns none if each executor states its CPUs, or if there is only one, and it runs one callback
/// at a time: it does not matter where.
std::vector<Placement> placements(const model::Application& application,
                                  const model::ExecutorChoice& executor,
                                  const Overheads& overheads);

/// Adds the conditions of a bound for a placement that has more CPUs than its application states.
void assume_more_cpus(const Placement& placement, const Overheads& overheads, ChainBound& bound);

/// Returns the larger one; std::nullopt if one of them is.
std::optional<Ticks> larger(const std::optional<Ticks>& one, const std::optional<Ticks>& other);

/// Returns the bound that holds for all of these placements of one chain: the largest one. There is
/// at least one. The verdict and the conditions are those of all of them.
ChainBound largest_of(const model::Chain& chain, std::vector<ChainBound> by_placement);

}  // namespace rclrt::analysis::detail
