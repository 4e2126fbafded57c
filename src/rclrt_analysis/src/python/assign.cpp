// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/assign.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <stdexcept>
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

const char* name_of(Layout layout) {
  switch (layout) {
    case Layout::kStated:
      return "stated";
    case Layout::kPartitioned:
      return "partitioned";
    case Layout::kClustered:
      return "clusters";
    case Layout::kGlobal:
      return "global";
  }
  throw std::invalid_argument("the value is no enumerator of Layout");
}

/// Throws StopSearch at Ctrl-C, and other exceptions of signal handlers as they are.
void stop_at_interrupt() {
  const py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() == 0) {
    return;
  }
  if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0) {
    PyErr_Clear();
    throw StopSearch();
  }
  throw py::error_already_set();
}

Assignment assign_by_options(const model::Application& application, std::vector<int> cpus,
                             const std::string& executor, const Overheads& overheads,
                             const std::string& method, const std::string& objective,
                             std::size_t evaluations, const std::string& layout,
                             const std::string& unit, std::uint64_t seed, bool anytime,
                             const py::object& on_progress) {
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
  options.layout = choice<std::optional<Layout>>(layout, "layout",
                                                 {{"any", std::nullopt},
                                                  {"stated", Layout::kStated},
                                                  {"partitioned", Layout::kPartitioned},
                                                  {"clusters", Layout::kClustered},
                                                  {"global", Layout::kGlobal}});
  options.unit = choice<PlacedUnit>(unit, "unit",
                                    {{"group", PlacedUnit::kGroup},
                                     {"node", PlacedUnit::kNode},
                                     {"process", PlacedUnit::kProcess}});
  options.seed = seed;
  options.check_interrupt = anytime ? stop_at_interrupt : check_signals;
  if (!on_progress.is_none()) {
    options.on_progress = [&on_progress, anytime](const AssignProgress& progress) {
      const py::gil_scoped_acquire acquire;
      try {
        on_progress(progress);
      } catch (const py::error_already_set& error) {
        if (anytime && error.matches(PyExc_KeyboardInterrupt)) {
          throw StopSearch();
        }
        throw;
      }
    };
  }
  try {
    const py::gil_scoped_release release;
    return assign(application, options);
  } catch (const StopSearch&) {  // before there was a result
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw py::error_already_set();
  }
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
      .def_readonly("conditional", &Quality::conditional)
      .def_readonly("worst", &Quality::worst)
      .def_readonly("mean", &Quality::mean)
      .def_readonly("mean_bound_ns", &Quality::mean_bound_ns);
  module.def("quality", &quality_of, py::arg("application"), py::arg("executor") = "preemptive",
             py::kw_only(), py::arg("overheads") = Overheads{});
  py::class_<LayoutResult>(module, "LayoutResult")
      .def_property_readonly("layout",
                             [](const LayoutResult& result) { return name_of(result.layout); })
      .def_readonly("most_cpus", &LayoutResult::most_cpus)
      .def_readonly("quality", &LayoutResult::quality)
      .def_readonly("evaluations", &LayoutResult::evaluations)
      .def_readonly("chosen", &LayoutResult::chosen);
  py::class_<AssignProgress>(module, "AssignProgress")
      .def_readonly("evaluations", &AssignProgress::evaluations)
      .def_readonly("most_evaluations", &AssignProgress::most_evaluations)
      .def_readonly("best", &AssignProgress::best)
      .def_property_readonly(
          "layout", [](const AssignProgress& progress) { return name_of(progress.layout); });
  py::class_<Assignment>(module, "Assignment")
      .def_readonly("application", &Assignment::application)
      .def_readonly("before", &Assignment::before)
      .def_readonly("after", &Assignment::after)
      .def_readonly("evaluations", &Assignment::evaluations)
      .def_readonly("optimal", &Assignment::optimal)
      .def_readonly("start", &Assignment::start)
      .def_readonly("layouts", &Assignment::layouts)
      .def_readonly("not_tried", &Assignment::not_tried)
      .def_readonly("stopped", &Assignment::stopped);
  module.def(
      "assign_priorities",
      [](const std::vector<Task>& tasks, const std::string& policy) {
        const Policy value = policy_of(policy);
        const py::gil_scoped_release release;
        return assign_priorities(tasks, value,
                                 {.steps = 50'000'000, .check_interrupt = check_signals});
      },
      py::arg("tasks"), py::arg("policy") = "fp_preemptive");
  module.def("assign", &assign_by_options, py::arg("application"), py::arg("cpus"),
             py::arg("executor") = "preemptive", py::kw_only(), py::arg("overheads") = Overheads{},
             py::arg("method") = "search", py::arg("objective") = "max-slack",
             py::arg("evaluations") = AssignOptions{}.evaluations, py::arg("layout") = "any",
             py::arg("unit") = "group", py::arg("seed") = AssignOptions{}.seed,
             py::arg("anytime") = false, py::arg("on_progress") = py::none());
}

}  // namespace rclrt::analysis
