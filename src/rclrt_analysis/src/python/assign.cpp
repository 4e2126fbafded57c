// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/assign.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <utility>

#include "bindings.hpp"

namespace py = pybind11;

namespace rclrt::analysis {
namespace {

Quality quality_of(const model::Application& application, const std::string& executor,
                   const Overheads& overheads) {
  const model::ExecutorChoice choice = executor_with_bounds(executor);
  const py::gil_scoped_release release;
  return quality(application, choice, overheads, {.check_interrupt = check_signals});
}

}  // namespace

void bind_assign(py::module_& module) {
  py::class_<TaskAssignment>(module, "TaskAssignment")
      .def_readonly("priorities", &TaskAssignment::priorities)
      .def_readonly("schedulable", &TaskAssignment::schedulable)
      .def_readonly("optimal", &TaskAssignment::optimal);
  py::class_<Quality>(module, "Quality")
      .def_readonly("not_proved", &Quality::not_proved)
      .def_readonly("not_bounded", &Quality::not_bounded)
      .def_readonly("worst", &Quality::worst)
      .def_readonly("mean", &Quality::mean)
      .def_readonly("mean_bound_ns", &Quality::mean_bound_ns);
  module.def("quality", &quality_of, py::arg("application"), py::arg("executor") = "preemptive",
             py::kw_only(), py::arg("overheads") = Overheads{});
  py::class_<Assignment>(module, "Assignment")
      .def_readonly("application", &Assignment::application)
      .def_readonly("before", &Assignment::before)
      .def_readonly("after", &Assignment::after)
      .def_readonly("evaluations", &Assignment::evaluations)
      .def_readonly("optimal", &Assignment::optimal)
      .def_readonly("start", &Assignment::start);
  module.def(
      "assign_priorities",
      [](const std::vector<Task>& tasks, const std::string& policy) {
        const Policy value = policy_of(policy);
        const py::gil_scoped_release release;
        return assign_priorities(tasks, value,
                                 {.steps = 50'000'000, .check_interrupt = check_signals});
      },
      py::arg("tasks"), py::arg("policy") = "fp_preemptive");
  module.def(
      "assign",
      [](const model::Application& application, std::vector<int> cpus, const std::string& executor,
         const Overheads& overheads, const std::string& method, const std::string& objective,
         std::size_t evaluations) {
        AssignOptions options;
        options.cpus = std::move(cpus);
        options.executor = executor_kind_or_throw(executor);
        options.overheads = overheads;
        options.method = choice<AssignMethod>(
            method, "method", {{"search", AssignMethod::kSearch}, {"picas", AssignMethod::kPicas}});
        options.objective = choice<Objective>(objective, "objective",
                                              {{"feasible", Objective::kFeasible},
                                               {"max-slack", Objective::kMaxSlack},
                                               {"min-response", Objective::kMinResponse}});
        options.evaluations = evaluations;
        options.check_interrupt = check_signals;
        const py::gil_scoped_release release;
        return assign(application, options);
      },
      py::arg("application"), py::arg("cpus"), py::arg("executor") = "preemptive", py::kw_only(),
      py::arg("overheads") = Overheads{}, py::arg("method") = "search",
      py::arg("objective") = "max-slack", py::arg("evaluations") = AssignOptions{}.evaluations);
}

}  // namespace rclrt::analysis
