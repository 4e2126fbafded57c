// SPDX-License-Identifier: Apache-2.0
// Python: the verdicts on an application on a machine.
#include "rclrt/analysis/judge.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>

#include "bindings.hpp"
#include "rclrt/analysis/machine.hpp"

namespace rclrt::analysis {

namespace py = pybind11;

void bind_judge(py::module_& module) {
  py::class_<Judgement>(module, "Judgement")
      .def_property_readonly("chains",
                             [](const Judgement& self) { return py::tuple(py::cast(self.chains)); })
      .def_property_readonly(
          "assumptions",
          [](const Judgement& self) { return py::tuple(py::cast(self.assumptions)); })
      .def_readonly("feasible", &Judgement::feasible);
  module.def(
      "judge",
      [](const model::Application& application, const std::string& executor,
         const Machine& machine) {
        const model::ExecutorChoice value = executor_to_judge(executor);
        const py::gil_scoped_release release;
        return judge(application, value, machine, {.check_interrupt = check_signals});
      },
      py::arg("application"), py::arg("executor"), py::arg("machine"));
}

}  // namespace rclrt::analysis
