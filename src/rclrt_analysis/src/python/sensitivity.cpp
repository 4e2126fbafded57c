// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/sensitivity.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>

#include "bindings.hpp"

namespace py = pybind11;

namespace rclrt::analysis {

void bind_sensitivity(py::module_& module) {
  py::class_<Margin>(module, "Margin")
      .def_readonly("limit", &Margin::limit)
      .def_readonly("unlimited", &Margin::unlimited)
      .def_readonly("conditional", &Margin::conditional)
      .def_readonly("monotone", &Margin::monotone);
  py::class_<Sensitivity>(module, "Sensitivity")
      .def_readonly("factor", &Sensitivity::factor)
      .def_readonly("wcets", &Sensitivity::wcets)
      .def_readonly("periods", &Sensitivity::periods);
  module.def(
      "sensitivity",
      [](const model::Application& application, const std::string& executor,
         const Machine& machine) {
        const model::ExecutorChoice value = executor_with_bounds(executor);
        const py::gil_scoped_release release;
        return sensitivity(application, value, machine,
                           {.steps = 5'000'000, .check_interrupt = check_signals});
      },
      py::arg("application"), py::arg("executor") = "preemptive", py::arg("machine") = Machine{});
  module.def(
      "task_sensitivity",
      [](const std::vector<Task>& tasks, const std::string& policy) {
        const Policy value = policy_of(policy);
        const py::gil_scoped_release release;
        return sensitivity(tasks, value, {.steps = 5'000'000, .check_interrupt = check_signals});
      },
      py::arg("tasks"), py::arg("policy") = "fp_preemptive");
}

}  // namespace rclrt::analysis
