// SPDX-License-Identifier: Apache-2.0
// Python: the verdicts on an application on a machine.
#include "rclrt/analysis/judge.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "rclrt/analysis/machine.hpp"

namespace rclrt::analysis {

namespace py = pybind11;

void bind_judge(py::module_& module) {
  py::class_<Machine>(module, "Machine")
      .def(py::init([](const Overheads& overheads, double realtime_share,
                       std::vector<std::string> assumptions, std::vector<std::string> conditions) {
             return Machine{overheads, realtime_share, std::move(assumptions),
                            std::move(conditions)};
           }),
           py::kw_only(), py::arg("overheads") = Overheads{}, py::arg("realtime_share") = 1.0,
           py::arg("assumptions") = std::vector<std::string>{},
           py::arg("conditions") = std::vector<std::string>{})
      .def_static("unmeasured", &Machine::unmeasured)
      .def_property_readonly("is_limited", &Machine::is_limited)
      .def_property_readonly(
          "conditions", [](const Machine& self) { return py::tuple(py::cast(self.conditions)); });
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
        const ExecutorKind value = executor_kind_or_throw(executor);
        const py::gil_scoped_release release;
        return judge(application, value, machine, {.check_interrupt = check_signals});
      },
      py::arg("application"), py::arg("executor"), py::arg("machine"));
  module.def("mean_load", &mean_load, py::arg("application"), py::arg("machine"));
}

}  // namespace rclrt::analysis
