// SPDX-License-Identifier: Apache-2.0
// Python: the verdicts after a search for counter-examples.
#include "rclrt/analysis/refute.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <utility>

#include "bindings.hpp"
#include "rclrt/analysis/machine.hpp"

namespace rclrt::analysis {

namespace py = pybind11;

void bind_refute(py::module_& module) {
  py::class_<Refutation>(module, "Refutation")
      .def_readonly("judgement", &Refutation::judgement)
      .def_readonly("examples", &Refutation::examples)
      .def_readonly("cause_effect_examples", &Refutation::cause_effect_examples)
      .def_readonly("not_searched", &Refutation::not_searched)
      .def_readonly("left_out", &Refutation::left_out);
  module.def(
      "refute",
      [](const model::Application& application, Judgement judgement, const std::string& executor,
         const Machine& machine) {
        const Search search{.executor = model::parse_executor(executor),
                            .overheads = machine.overheads,
                            .effort = {.check_interrupt = check_signals}};
        const py::gil_scoped_release release;
        return refute(application, std::move(judgement), search);
      },
      py::arg("application"), py::arg("judgement"), py::arg("executor"), py::arg("machine"));
  py::class_<TaskRefutation>(module, "TaskRefutation")
      .def_readonly("result", &TaskRefutation::result)
      .def_readonly("examples", &TaskRefutation::examples);
  module.def(
      "refute_tasks",
      [](const std::vector<Task>& tasks, const std::string& policy, TaskSetResult result) {
        const Policy value = policy_of(policy);
        const py::gil_scoped_release release;
        return refute(tasks, value, std::move(result), {.check_interrupt = check_signals});
      },
      py::arg("tasks"), py::arg("policy"), py::arg("result"));
}

}  // namespace rclrt::analysis
