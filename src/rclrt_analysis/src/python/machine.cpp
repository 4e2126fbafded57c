// SPDX-License-Identifier: Apache-2.0
// Python: the machine that runs an application, and the file of its overheads.
#include "rclrt/analysis/machine.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <optional>
#include <string>

#include "bindings.hpp"
#include "rclrt/analysis/overheads_file.hpp"

namespace rclrt::analysis {

namespace py = pybind11;

namespace {

Statistic statistic_of(const std::string& word) {
  return choice<Statistic>(word, "statistic",
                           {{"max", Statistic::kMax},
                            {"max_undisturbed", Statistic::kMaxUndisturbed},
                            {"p99", Statistic::kP99},
                            {"p50", Statistic::kP50}});
}

std::optional<HopKind> hops_of_word(const std::optional<std::string>& word) {
  if (!word) {
    return std::nullopt;
  }
  return choice<HopKind>(
      *word, "kind of hops",
      {{"intra_process", HopKind::kIntraProcess}, {"same_host", HopKind::kSameHost}});
}

void bind_overheads_file(py::module_& module) {
  py::class_<StatedOverheads>(module, "StatedOverheads")
      .def(py::init([](std::optional<Ticks> dispatch, std::optional<Ticks> timer_jitter,
                       std::optional<Ticks> scheduler, std::optional<Ticks> hop) {
             return StatedOverheads{dispatch, timer_jitter, scheduler, hop};
           }),
           py::kw_only(), py::arg("dispatch_ns") = py::none(),
           py::arg("timer_jitter_ns") = py::none(), py::arg("scheduler_ns") = py::none(),
           py::arg("hop_ns") = py::none())
      .def("machine", [](const StatedOverheads& self) { return machine_of(self); });
  py::class_<OverheadsFile>(module, "OverheadsFile")
      .def_readonly("rmw", &OverheadsFile::rmw)
      .def_property_readonly(
          "rmw_place",
          [](const OverheadsFile& self) { return std::pair(self.rmw_at.line, self.rmw_at.column); })
      .def(
          "machine",
          [](const OverheadsFile& self, const model::Application& application,
             const std::string& executor, const std::string& statistic,
             const std::optional<std::string>& hops, const StatedOverheads& stated) {
            return machine_of(self, application, model::parse_executor(executor).kind,
                              {.statistic = statistic_of(statistic),
                               .hops = hops_of_word(hops),
                               .stated = stated});
          },
          py::arg("application"), py::arg("executor"), py::kw_only(), py::arg("statistic") = "max",
          py::arg("hops") = py::none(), py::arg("stated") = StatedOverheads{});
  module.def("load_overheads", &load_overheads, py::arg("path"));
  module.def("parse_microseconds", &parse_microseconds, py::arg("text"));
  module.attr("MICROSECONDS") = kMicroseconds;
}

}  // namespace

void bind_machine(py::module_& module) {
  py::class_<Machine>(module, "Machine")
      .def(py::init([](const Overheads& overheads) { return Machine{.overheads = overheads}; }),
           py::kw_only(), py::arg("overheads") = Overheads{})
      .def_static("unmeasured", &Machine::unmeasured)
      .def_readonly("overheads", &Machine::overheads);
  bind_overheads_file(module);
}

}  // namespace rclrt::analysis
