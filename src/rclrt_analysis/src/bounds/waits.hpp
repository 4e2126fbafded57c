// SPDX-License-Identifier: Apache-2.0
// Callbacks that wait without using the CPU, and what that changes in the bounds.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bounds/cores.hpp"
#include "bounds/level_work.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis::detail {

/// The callbacks that wait while other callbacks run on their CPU. A callback of a single thread
/// that has its CPU to itself is none of them: while it waits, nothing else may run, and a wait is
/// like execution.
class Waits {
 public:
  /// `single_thread`: each executor has one thread.
  Waits(const model::Application& application, const Cores& cores, bool single_thread);

  /// Returns whether any callback of the application waits.
  bool any() const { return any_; }

  /// Returns these callbacks of all executors.
  const std::vector<std::size_t>& callbacks() const { return callbacks_; }

  /// Returns the first one in this executor's component; std::nullopt if there is none.
  std::optional<std::size_t> first_with(std::size_t executor) const;

  /// Returns that the executor's only thread is never free, as a sentence; std::nullopt if it is,
  /// or if no callback of the executor waits. The time for which it waits counts besides the work.
  std::optional<std::string> never_free(const model::Application& application,
                                        std::size_t executor) const;

  /// Moves the time for which callbacks of the chain wait from the term of its own work to terms of
  /// their own.
  void name_terms(const model::Application& application, const model::Chain& chain,
                  std::vector<Contribution>& why) const;

  /// Adds to the note of a chain that less urgent callbacks delay it because dispatching takes
  /// time. `workload`: with its levels joined by mix_levels().
  void explain_levels(const model::Application& application, const Workload& workload,
                      const model::Chain& chain, std::string& note) const;

  /// Returns the reason why the executor's component has no bounds, although its callbacks wait;
  /// std::nullopt if it may have some, or if none of its callbacks waits. `polls_by_thread`: see
  /// KindBounds.
  std::optional<std::string> why_no_bounds(const model::Application& application,
                                           std::size_t executor, const Overheads& overheads,
                                           bool polls_by_thread) const;

  /// Joins the levels that waits mix, of each executor by itself.
  void mix_levels(const model::Application& application, Workload& workload) const;

 private:
  const Cores& cores_;
  bool single_thread_;
  std::vector<std::size_t> callbacks_;
  bool any_ = false;
};

}  // namespace rclrt::analysis::detail
