// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "rclrt/analysis/counter_example.hpp"
#include "rclrt/analysis/counter_example_file.hpp"

namespace py = pybind11;

namespace rclrt::analysis {
namespace {

using model::Application;

const char* to_word(Limit limit) {
  switch (limit) {
    case Limit::kReaction:
      return "reaction";
    case Limit::kAge:
      return "age";
    case Limit::kDeadline:
      break;
  }
  return "deadline";
}

SearchResult search(const Application& application, const std::string& executor,
                    const std::vector<bool>& wanted,
                    const std::vector<bool>& wanted_cause_effect_chains, const Overheads& overheads,
                    unsigned cpus, std::uint64_t instances) {
  const model::ExecutorChoice choice = model::parse_executor(executor);
  const py::gil_scoped_release release;
  return search_schedules(application,
                          {.chains = wanted, .cause_effect_chains = wanted_cause_effect_chains},
                          {.executor = choice,
                           .cpus = cpus,
                           .overheads = overheads,
                           .effort = {.instances = instances, .check_interrupt = check_signals}});
}

void bind_chains(py::module_& module) {
  py::class_<CounterExample>(module, "CounterExample")
      .def_property_readonly("executor",
                             [](const CounterExample& self) { return name_of(self.executor); })
      .def_readonly("offsets_ns", &CounterExample::offsets_ns)
      .def_readonly("priorities", &CounterExample::priorities)
      .def_readonly("seed", &CounterExample::seed)
      .def_readonly("execution_from_percent", &CounterExample::lowest_execution_percent)
      .def_readonly("extremes", &CounterExample::extremes)
      .def_readonly("delays_from_percent", &CounterExample::lowest_delay_percent)
      .def_readonly("begin_ns", &CounterExample::begin_ns)
      .def_readonly("warm_up_ns", &CounterExample::warm_up_ns)
      .def_readonly("horizon_ns", &CounterExample::horizon_ns)
      .def_property_readonly("limit",
                             [](const CounterExample& self) { return to_word(self.limit); })
      .def_readonly("chain", &CounterExample::chain)
      .def_readonly("instance", &CounterExample::instance)
      .def_readonly("release_ns", &CounterExample::release_ns)
      .def_readonly("response_ns", &CounterExample::response_ns)
      .def_readonly("never_runs", &CounterExample::never_runs);
  py::class_<SearchResult>(module, "SearchResult")
      .def_readonly("examples", &SearchResult::examples)
      .def_readonly("closest", &SearchResult::closest)
      .def_readonly("cause_effect_examples", &SearchResult::cause_effect_examples)
      .def_readonly("worst_reaction_ns", &SearchResult::worst_reaction_ns)
      .def_readonly("worst_age_ns", &SearchResult::worst_age_ns);
  module.def("search_schedules", &search, py::arg("application"), py::arg("executor"),
             py::arg("wanted"), py::kw_only(),
             py::arg("wanted_cause_effect_chains") = std::vector<bool>(),
             py::arg("overheads") = Overheads{}, py::arg("cpus") = 1,
             py::arg("instances") = SearchEffort{}.instances);
  module.def(
      "replay",
      [](const Application& application, const CounterExample& example) {
        const py::gil_scoped_release release;
        return replay(application, example, check_signals);
      },
      py::arg("application"), py::arg("counter_example"));
  module.def(
      "counter_example_text",
      [](const CounterExample& example, const Application& application) {
        return to_text(example, application);
      },
      py::arg("counter_example"), py::arg("application"));
  module.def("clock_text", &clock_text, py::arg("time_ns"));
  module.def("load_counter_example", &load_counter_example, py::arg("path"),
             py::arg("application"));
}

}  // namespace

void bind_counter_examples(py::module_& module) {
  bind_chains(module);
  py::class_<TaskCounterExample>(module, "TaskCounterExample")
      .def(py::init([](std::vector<Ticks> offsets, std::vector<Ticks> jitter, std::size_t task,
                       std::uint64_t job, Ticks arrival, Ticks response) {
             return TaskCounterExample{.offsets = std::move(offsets),
                                       .jitter = std::move(jitter),
                                       .task = task,
                                       .job = job,
                                       .arrival = arrival,
                                       .response = response};
           }),
           py::arg("offsets"), py::arg("jitter"), py::arg("task"), py::arg("job"),
           py::arg("arrival"), py::arg("response"))
      .def_readonly("offsets", &TaskCounterExample::offsets)
      .def_readonly("jitter", &TaskCounterExample::jitter)
      .def_readonly("task", &TaskCounterExample::task)
      .def_readonly("job", &TaskCounterExample::job)
      .def_readonly("arrival", &TaskCounterExample::arrival)
      .def_readonly("response", &TaskCounterExample::response);
  module.def(
      "find_task_counter_examples",
      [](const std::vector<Task>& tasks, const std::string& policy,
         const std::vector<bool>& wanted) {
        const Policy value = policy_of(policy);
        const py::gil_scoped_release release;
        return find_counter_examples(tasks, value, wanted, {.check_interrupt = check_signals});
      },
      py::arg("tasks"), py::arg("policy"), py::arg("wanted"));
  module.def(
      "replay_tasks",
      [](const std::vector<Task>& tasks, const std::string& policy,
         const TaskCounterExample& example) {
        const Policy value = policy_of(policy);
        const py::gil_scoped_release release;
        return replay(tasks, value, example, check_signals);
      },
      py::arg("tasks"), py::arg("policy"), py::arg("counter_example"));
}

}  // namespace rclrt::analysis
