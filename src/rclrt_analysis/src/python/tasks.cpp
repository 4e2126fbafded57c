// SPDX-License-Identifier: Apache-2.0
#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <rclrt/text/duration.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "rclrt/analysis/analyse_tasks.hpp"
#include "rclrt/analysis/edf.hpp"
#include "rclrt/analysis/read_task_set.hpp"
#include "rclrt/analysis/utilisation.hpp"
#include "rclrt/yaml/file.hpp"

namespace py = pybind11;

namespace rclrt::analysis {
namespace {

Task make_task(Ticks wcet, Ticks period, std::optional<Ticks> deadline, Ticks jitter,
               Ticks blocking, Ticks suspension, Ticks region, int priority, std::string id) {
  return {.id = std::move(id),
          .wcet = wcet,
          .period = period,
          .deadline = deadline.value_or(period),
          .jitter = jitter,
          .blocking = blocking,
          .suspension = suspension,
          .region = region,
          .priority = priority};
}

TaskFile parse_or_throw(const std::string& text, const std::string& name) {
  TaskFileResult result = parse_task_set(text);
  if (!result.file) {
    throw yaml::FileError(name, result.diagnostics);
  }
  return std::move(*result.file);
}

}  // namespace

Policy policy_of(const std::string& word) {
  for (const Policy policy :
       {Policy::kFpPreemptive, Policy::kFpNonpreemptive, Policy::kFpLimitedPreemptive, Policy::kEdf,
        Policy::kEdfNonpreemptive}) {
    if (word == to_string(policy)) {
      return policy;
    }
  }
  throw std::invalid_argument("policy '" + word +
                              "' is not known; expected fp_preemptive, fp_nonpreemptive, "
                              "fp_limited_preemptive, edf or edf_nonpreemptive");
}

py::object to_python(Answer answer) {
  switch (answer) {
    case Answer::kYes:
      return py::str("yes");
    case Answer::kNo:
      return py::str("no");
    case Answer::kUnknown:
      break;
  }
  return py::str("unknown");
}

py::str to_python(Verdict verdict) { return std::string(to_string(verdict)); }

void bind_task_results(py::module_& module) {
  py::class_<TaskResult>(module, "TaskResult")
      .def_readonly("response", &TaskResult::response)
      .def_property_readonly("schedulable",
                             [](const TaskResult& self) { return to_python(self.schedulable); })
      .def_property_readonly(
          "verdict", [](const TaskResult& self) { return to_python(verdict_of(self.schedulable)); })
      .def_readonly("exact", &TaskResult::exact)
      .def_readonly("note", &TaskResult::note);
  py::class_<TaskSetResult>(module, "TaskSetResult")
      .def_property_readonly(
          "tasks", [](const TaskSetResult& self) { return py::tuple(py::cast(self.tasks)); })
      .def_property_readonly("schedulable",
                             [](const TaskSetResult& self) { return to_python(self.schedulable); })
      .def_property_readonly("verdict", [](const TaskSetResult& self) {
        return to_python(verdict_of(self.schedulable));
      });
  py::class_<TaskFile>(module, "TaskFile")
      .def_property_readonly("tasks",
                             [](const TaskFile& self) { return py::tuple(py::cast(self.tasks)); })
      .def_property_readonly(
          "policy", [](const TaskFile& self) { return std::string(to_string(self.policy)); })
      .def_readonly("decimals", &TaskFile::decimals)
      .def_readonly("rounded", &TaskFile::rounded)
      .def_readonly("priorities_by_place", &TaskFile::priorities_by_place);
}

void bind_tasks(py::module_& module) {
  // FileError is the Python exception that rclrt_model has registered for the C++ type
  // yaml::FileError. A second one for the same type is not possible.
  module.attr("FileError") = py::module_::import("rclrt_model").attr("ModelError");
  py::class_<Task>(module, "Task")
      .def(py::init(&make_task), py::arg("wcet"), py::arg("period"),
           py::arg("deadline") = py::none(), py::kw_only(), py::arg("jitter") = 0,
           py::arg("blocking") = 0, py::arg("suspension") = 0, py::arg("region") = 0,
           py::arg("priority") = 0, py::arg("id") = "")
      .def_readonly("id", &Task::id)
      .def_readonly("wcet", &Task::wcet)
      .def_readonly("period", &Task::period)
      .def_readonly("deadline", &Task::deadline)
      .def_readonly("jitter", &Task::jitter)
      .def_readonly("blocking", &Task::blocking)
      .def_readonly("suspension", &Task::suspension)
      .def_readonly("region", &Task::region)
      .def_readonly("priority", &Task::priority)
      .def(py::self == py::self)  // NOLINT(misc-redundant-expression): pybind11's notation
      .def("__repr__", [](const Task& t) {
        return py::str(
                   "Task({}, {}, {}, jitter={}, blocking={}, suspension={}, region={}, "
                   "priority={}, id={!r})")
            .format(t.wcet, t.period, t.deadline, t.jitter, t.blocking, t.suspension, t.region,
                    t.priority, t.id);
      });
  bind_task_results(module);
  module.def("load_task_set", &load_task_set, py::arg("path"));
  module.def("parse_task_set", &parse_or_throw, py::arg("text"), py::arg("name"));
  module.def("in_units", &in_units, py::arg("ticks"), py::arg("decimals"));
  module.def("duration_text", &text::duration_text, py::arg("time_ns"), py::arg("significant") = 0);
  module.def(
      "analyse_tasks",
      [](const std::vector<Task>& tasks, const std::string& policy) {
        const Policy value = policy_of(policy);
        const py::gil_scoped_release release;
        return analyse_tasks(tasks, value, {.check_interrupt = check_signals});
      },
      py::arg("tasks"), py::arg("policy") = "fp_preemptive");
  module.def("edf_demand_test",
             [](const std::vector<Task>& tasks) { return to_python(edf_demand_test(tasks)); });
  module.def("utilisation", [](const std::vector<Task>& tasks) { return utilisation(tasks); });
  module.def("liu_layland_bound", &liu_layland_bound, py::arg("tasks"));
  module.def("passes_liu_layland",
             [](const std::vector<Task>& tasks) { return passes_liu_layland(tasks); });
  module.def("passes_hyperbolic_bound",
             [](const std::vector<Task>& tasks) { return passes_hyperbolic_bound(tasks); });
  module.def("is_plain_rate_monotonic",
             [](const std::vector<Task>& tasks) { return is_plain_rate_monotonic(tasks); });
}

}  // namespace rclrt::analysis
