// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/advice.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>

#include "bindings.hpp"

namespace py = pybind11;

namespace rclrt::analysis {

namespace {

const char* to_word(Advice::Kind kind) {
  switch (kind) {
    case Advice::Kind::kPeriod:
      return "period";
    case Advice::Kind::kOffset:
      return "offset";
    case Advice::Kind::kMessage:
      return "message";
    case Advice::Kind::kUrgent:
      return "urgent";
    case Advice::Kind::kPatient:
      break;
  }
  return "patient";
}

}  // namespace

void bind_advice(py::module_& module) {
  py::class_<Advice>(module, "Advice")
      .def_property_readonly("kind", [](const Advice& self) { return to_word(self.kind); })
      .def_readonly("segment", &Advice::segment)
      .def_readonly("callback", &Advice::callback)
      .def_readonly("time_ns", &Advice::time)
      .def_readonly("reaction_ns", &Advice::reaction)
      .def_readonly("age_ns", &Advice::age)
      .def_readonly("keeps_the_rest", &Advice::keeps_the_rest);
  py::class_<CauseEffectAdvice>(module, "CauseEffectAdvice")
      .def_readonly("reaction_ns", &CauseEffectAdvice::reaction)
      .def_readonly("age_ns", &CauseEffectAdvice::age)
      .def_readonly("changes", &CauseEffectAdvice::changes);
  module.def(
      "advise",
      [](const model::Application& application, const std::string& executor,
         const Machine& machine) {
        const model::ExecutorChoice value = model::parse_executor(executor);
        const py::gil_scoped_release release;
        return advise(application, value, machine,
                      {.steps = 5'000'000, .check_interrupt = check_signals});
      },
      py::arg("application"), py::arg("executor"), py::arg("machine"));
}

}  // namespace rclrt::analysis
