// SPDX-License-Identifier: Apache-2.0
// Bounds of an application in the form in which its executors are analysed.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "bounds/application_bounds.hpp"
#include "bounds/placements.hpp"
#include "bounds/preemptive_form.hpp"
#include "input_callbacks.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/model/executor_choice.hpp"

namespace rclrt::analysis::detail {

/// Throws std::invalid_argument if the chain does not start at a timer or an event.
void check_start(const model::Application& application, const model::Chain& chain);

/// The bounds of an application in one form.
class FormBounds {
 public:
  /// `form` and `kind`: the application and the kind of which the formulas are used, see
  /// PreemptiveForm. `chosen`: the executor. Keeps a reference to the application.
  FormBounds(const model::Application& form, ExecutorKind kind, const model::ExecutorChoice& chosen,
             const Overheads& overheads, Effort effort);

  /// Returns the bounds of these chains, given by their indices. Sets `gave_up` if a search for a
  /// bound of an executor that runs alone has ended with its steps.
  std::vector<ChainBound> chains(std::span<const std::size_t> chains, bool& gave_up);

  /// Returns the bound of each callback's queue.
  std::vector<QueueBound> queues();

 private:
  InputCallbacks parts_;
  ApplicationBounds bounds_;
  Effort effort_;
};

/// The bounds of an application without hosts, wherever its executors may run. Several results take
/// one analysis of several CPUs, and are the same as those of one object each.
class PlacedBounds {
 public:
  /// Keeps references to the first three. Throws as chain_bounds() does.
  PlacedBounds(const model::Application& application, const model::ExecutorChoice& executor,
               const Overheads& overheads, Effort effort);

  /// Returns the same as bounds_of_chains().
  std::vector<ChainBound> chains(std::span<const std::size_t> chains, bool& gave_up);
  /// Returns the same as chain_bounds().
  std::vector<ChainBound> chains();
  /// Returns the same as queue_bounds().
  std::vector<QueueBound> queues();

 private:
  /// An application and the executor, with all that its bounds depend on.
  struct Analysed {
    ExecutorKind kind;  ///< of which the formulas are used
    const model::ExecutorChoice& executor;
    const Overheads& overheads;
    Effort effort;
  };

  /// The bounds of an application in which executors run on the CPUs that it states.
  class OnCpus {
   public:
    OnCpus(const model::Application& form, const Analysed& with);
    std::vector<ChainBound> chains(std::span<const std::size_t> chains, bool& gave_up);
    std::vector<QueueBound> queues();

   private:
    const Overheads& overheads_;
    FormBounds own_;
    std::optional<model::Application> apart_;  // with separate lanes
    std::optional<FormBounds> of_apart_;
  };

  std::vector<ChainBound> chains_anywhere(std::span<const std::size_t> chains, bool& gave_up);
  OnCpus& as_stated();
  OnCpus& placed(std::size_t placement);

  PreemptiveForm form_;
  Analysed with_;
  std::vector<Placement> placements_;
  std::optional<OnCpus> as_stated_;
  std::deque<OnCpus> placed_;  // the first ones of placements_
};

}  // namespace rclrt::analysis::detail
