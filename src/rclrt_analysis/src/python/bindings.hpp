// SPDX-License-Identifier: Apache-2.0
// The parts of the Python module: one function per topic.
#pragma once

#include <pybind11/pybind11.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/task_set.hpp"
#include "rclrt/analysis/verdict.hpp"

namespace rclrt::analysis {

/// Returns the value with this name. Throws std::invalid_argument if there is none.
template <typename T>
T choice(const std::string& word, const char* what,
         const std::vector<std::pair<std::string_view, T>>& choices) {
  std::string known;
  for (const auto& [name, value] : choices) {
    if (word == name) {
      return value;
    }
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw std::invalid_argument(std::string(what) + " '" + word + "' is not known; expected one of " +
                              known);
}

/// "yes", "no" or "unknown".
pybind11::object to_python(Answer answer);
/// "proved", "conditional", "refuted" or "unknown".
pybind11::str to_python(Verdict verdict);

/// Return the value with this name. Throw std::invalid_argument if there is none.
Policy policy_of(const std::string& word);
/// Also throws if a callback may run at the same time as another one by an option of the executor.
ExecutorKind executor_kind_or_throw(const std::string& word);
/// Also throws if an option of the executor excludes bounds.
model::ExecutorChoice executor_with_bounds(const std::string& word);

/// Returns the executor of this name. Throws std::invalid_argument if it is only simulated.
model::ExecutorChoice executor_to_judge(const std::string& word);

/// Raises KeyboardInterrupt if one is pending; for long work that has released the lock.
void check_signals();

void bind_assign(pybind11::module_& module);
void bind_counter_examples(pybind11::module_& module);
void bind_advice(pybind11::module_& module);
void bind_chain_steps(pybind11::module_& module);
void bind_judge(pybind11::module_& module);
void bind_machine(pybind11::module_& module);
void bind_observation(pybind11::module_& module);
void bind_refute(pybind11::module_& module);
void bind_sensitivity(pybind11::module_& module);
void bind_simulation(pybind11::module_& module);
void bind_tasks(pybind11::module_& module);
void bind_application(pybind11::module_& module);

}  // namespace rclrt::analysis
