// SPDX-License-Identifier: Apache-2.0
// Python: the verdicts on an application on a machine.
#include "rclrt/analysis/judge.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <optional>
#include <string>

#include "bindings.hpp"
#include "rclrt/analysis/machine.hpp"

namespace rclrt::analysis {

namespace py = pybind11;

namespace {

const char* to_word(CauseEffectTerm::Kind kind) {
  switch (kind) {
    case CauseEffectTerm::Kind::kSource:
      return "source";
    case CauseEffectTerm::Kind::kResponse:
      return "response";
    case CauseEffectTerm::Kind::kLogical:
      return "logical";
    case CauseEffectTerm::Kind::kSampling:
      break;
  }
  return "sampling";
}

void bind_cause_effect(py::module_& module) {
  py::class_<CauseEffectTerm>(module, "CauseEffectTerm")
      .def_property_readonly("kind", [](const CauseEffectTerm& self) { return to_word(self.kind); })
      .def_readonly("segment", &CauseEffectTerm::segment)
      .def_readonly("reaction_ns", &CauseEffectTerm::reaction)
      .def_readonly("age_ns", &CauseEffectTerm::age);
  py::class_<CauseEffectBound>(module, "CauseEffectBound")
      .def_readonly("reaction_ns", &CauseEffectBound::reaction)
      .def_readonly("age_ns", &CauseEffectBound::age)
      .def_property_readonly("verdict",
                             [](const CauseEffectBound& self) { return to_python(self.verdict); })
      .def_readonly("note", &CauseEffectBound::note)
      .def_property_readonly(
          "assumptions",
          [](const CauseEffectBound& self) { return py::tuple(py::cast(self.assumptions)); })
      .def_property_readonly(
          "why", [](const CauseEffectBound& self) { return py::tuple(py::cast(self.why)); });
}

void bind_links(py::module_& module) {
  py::class_<LinkBound>(module, "LinkBound")
      .def_property_readonly("link", [](const LinkBound& self) { return self.way.link; })
      .def_property_readonly("from_", [](const LinkBound& self) { return self.way.from; })
      .def_property_readonly("to", [](const LinkBound& self) { return self.way.to; })
      .def_readonly("load", &LinkBound::load)
      .def_readonly("delay_ns", &LinkBound::delay)
      .def_readonly("backlog_bytes", &LinkBound::backlog_bytes)
      .def_readonly("note", &LinkBound::note);
  module.def(
      "link_bounds",
      [](const model::Application& application, const std::string& executor,
         const Overheads& overheads) {
        const model::ExecutorChoice value = executor_with_bounds(executor);
        const py::gil_scoped_release release;
        return link_bounds(application, value, overheads, {.check_interrupt = check_signals});
      },
      py::arg("application"), py::arg("executor") = "preemptive",
      py::arg("overheads") = Overheads{});
}

}  // namespace

void bind_judge(py::module_& module) {
  bind_cause_effect(module);
  bind_links(module);
  py::class_<Judgement>(module, "Judgement")
      .def_property_readonly("chains",
                             [](const Judgement& self) { return py::tuple(py::cast(self.chains)); })
      .def_property_readonly(
          "cause_effect_chains",
          [](const Judgement& self) { return py::tuple(py::cast(self.cause_effect_chains)); })
      .def_property_readonly("queues",
                             [](const Judgement& self) { return py::tuple(py::cast(self.queues)); })
      .def_property_readonly("links",
                             [](const Judgement& self) { return py::tuple(py::cast(self.links)); })
      .def_property_readonly(
          "assumptions",
          [](const Judgement& self) { return py::tuple(py::cast(self.assumptions)); })
      .def_readonly("feasible", &Judgement::feasible);
  module.def(
      "judge",
      [](const model::Application& application, const std::string& executor, const Machine& machine,
         std::optional<std::size_t> all_terms_of, bool with_queues) {
        const model::ExecutorChoice value = executor_to_judge(executor);
        const Effort effort{.check_interrupt = check_signals, .all_terms_of = all_terms_of};
        const py::gil_scoped_release release;
        return with_queues ? judge_with_queues(application, value, machine, effort)
                           : judge(application, value, machine, effort);
      },
      py::arg("application"), py::arg("executor"), py::arg("machine"), py::kw_only(),
      py::arg("all_terms_of") = std::nullopt, py::arg("with_queues") = false);
}

}  // namespace rclrt::analysis
