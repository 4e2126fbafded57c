// SPDX-License-Identifier: Apache-2.0
// Python: observations above a bound, and their cause.
#include "rclrt/analysis/observation.hpp"

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"

namespace rclrt::analysis {

namespace py = pybind11;

namespace {

using Rows = std::vector<py::object>;

/// Returns a row of chains.csv, as rclrt_py.runs.csv_reader reads it.
ObservedChain chain_of(const py::handle& row) {
  const auto status = row.attr("status").cast<std::string>();
  return {.chain = row.attr("chain").cast<std::string>(),
          .instance = row.attr("instance").cast<std::int64_t>(),
          .release = row.attr("release").cast<Ticks>(),
          .completion = row.attr("completion").cast<std::optional<Ticks>>(),
          .lost = status == "dropped" || status == "unmatched"};
}

/// Returns the rows of the run's CSV files, as rclrt_py.runs.csv_reader reads them.
ObservedRun run_of(const Rows& chains, const Rows& instances, const Rows& stalls, Ticks end) {
  ObservedRun run{.chains = {}, .instances = {}, .stalls = {}, .end = end};
  for (const py::object& row : chains) {
    run.chains.push_back(chain_of(row));
  }
  for (const py::object& row : instances) {
    run.instances.push_back({.callback = row.attr("callback").cast<std::string>(),
                             .priority = row.attr("priority").cast<int>(),
                             .ready = row.attr("ready").cast<Ticks>(),
                             .start = row.attr("start").cast<Ticks>(),
                             .end = row.attr("end").cast<Ticks>(),
                             .cpu = row.attr("cpu").cast<Ticks>(),
                             .tokens = row.attr("tokens").cast<std::string>()});
  }
  for (const py::object& row : stalls) {
    run.stalls.push_back({.cpu = row.attr("cpu").cast<int>(),
                          .start = row.attr("start").cast<Ticks>(),
                          .end = row.attr("end").cast<Ticks>(),
                          .waited = row.attr("waited").cast<Ticks>()});
  }
  return run;
}

void bind_limits(py::module_& module) {
  py::class_<ChainLimit>(module, "ChainLimit")
      .def(py::init([](std::string chain, std::optional<Ticks> bound, int level,
                       std::vector<int> cpus, std::vector<std::string> callbacks, bool meets_all,
                       const std::vector<std::string>& assumptions) {
             return ChainLimit{.chain = std::move(chain),
                               .bound = bound,
                               .level = level,
                               .cpus = std::move(cpus),
                               .callbacks = std::move(callbacks),
                               .meets_all = meets_all,
                               .of_one_cpu = needs_one_cpu(assumptions)};
           }),
           py::kw_only(), py::arg("chain"), py::arg("bound_ns"), py::arg("level"), py::arg("cpus"),
           py::arg("callbacks"), py::arg("meets_all"), py::arg("assumptions"))
      .def_readonly("bound_ns", &ChainLimit::bound)
      .def_readonly("level", &ChainLimit::level)
      .def_property_readonly("cpus",
                             [](const ChainLimit& self) { return py::tuple(py::cast(self.cpus)); })
      .def_property_readonly(
          "callbacks", [](const ChainLimit& self) { return py::tuple(py::cast(self.callbacks)); })
      .def_readonly("meets_all", &ChainLimit::meets_all);
  module.def("chain_limit", &chain_limit, py::arg("application"), py::arg("chain"),
             py::arg("bound"));
  module.def(
      "above_limits",
      [](const py::iterable& chains, const std::vector<ChainLimit>& limits, Ticks end) {
        py::list found;
        for (const py::handle row : chains) {
          const ObservedChain observed = chain_of(row);
          const auto limit = std::ranges::find(limits, observed.chain, &ChainLimit::chain);
          if (limit != limits.end() && is_above(observed, *limit, end)) {
            found.append(py::make_tuple(row, *limit->bound));
          }
        }
        return found;
      },
      py::arg("chains"), py::arg("limits"), py::arg("end_of_run"));
}

void bind_context(py::module_& module) {
  py::class_<Allowance>(module, "Allowance")
      .def(py::init([](std::map<std::string, Ticks> wcet, Ticks each, Ticks once, Ticks held_back,
                       std::map<std::string, Ticks> waits) {
             Allowance allowed;
             allowed.wcet = std::move(wcet);
             allowed.waits = std::move(waits);
             allowed.each = each;
             allowed.once = once;
             allowed.held_back = held_back;
             return allowed;
           }),
           py::kw_only(), py::arg("wcet"), py::arg("each") = 0, py::arg("once") = 0,
           py::arg("held_back") = 0, py::arg("waits") = std::map<std::string, Ticks>{});
  py::class_<ObservationContext>(module, "ObservationContext")
      .def(py::init([](const std::string& executor, Allowance allowed,
                       decltype(StalledBounds::bound) bound,
                       decltype(StalledBounds::may_drop) may_drop) {
             return ObservationContext{model::parse_executor(executor).kind,
                                       std::move(allowed),
                                       {std::move(bound), std::move(may_drop)},
                                       {}};
           }),
           py::arg("executor"), py::arg("allowed"), py::arg("bound"), py::arg("may_drop"))
      .def_readonly("levels", &ObservationContext::levels)
      .def("bound_ns", [](const ObservationContext& self, const std::string& chain,
                          Ticks stalled) { return self.bounds.bound(chain, stalled); })
      .def("may_drop", [](const ObservationContext& self, const std::string& chain, Ticks stalled) {
        return self.bounds.may_drop(chain, stalled);
      });
  module.def(
      "observation_context",
      [](const model::Application& application, const std::string& executor,
         const Machine& machine) {
        return observation_context(application, model::parse_executor(executor), machine,
                                   {.check_interrupt = check_signals});
      },
      py::arg("application"), py::arg("executor"), py::arg("machine"), py::keep_alive<0, 1>());
}

}  // namespace

void bind_observation(py::module_& module) {
  bind_limits(module);
  bind_context(module);
  py::class_<Excess>(module, "Excess")
      .def_readonly("chain", &Excess::chain)
      .def_readonly("instance", &Excess::instance)
      .def_readonly("release", &Excess::release)
      .def_readonly("response", &Excess::response)
      .def_readonly("bound", &Excess::bound)
      .def_readonly("busy_since", &Excess::busy_since)
      .def_readonly("lost", &Excess::lost)
      .def_readonly("stalled", &Excess::stalled)
      .def_readonly("stalled_bound", &Excess::stalled_bound)
      .def_property_readonly("cause", [](const Excess& self) { return to_string(self.cause); })
      .def_readonly("what", &Excess::what);
  module.def(
      "judge_observations",
      [](const Rows& chains, const Rows& instances, const Rows& stalls, Ticks end,
         const std::vector<ChainLimit>& limits, const ObservationContext& context) {
        return judge_observations(run_of(chains, instances, stalls, end), limits, context);
      },
      py::arg("chains"), py::arg("instances"), py::arg("stalls"), py::arg("end_of_run"),
      py::arg("limits"), py::arg("context"));
  module.def(
      "status_of",
      [](std::size_t above, std::size_t conditions, bool realtime) -> const char* {
        switch (status_of(above, conditions, realtime)) {
          case BoundStatus::kConditionBroken:
            return "condition broken";
          case BoundStatus::kContradicted:
            return "contradicted";
          case BoundStatus::kHolds:
            break;
        }
        return "holds";
      },
      py::arg("above"), py::arg("conditions"), py::arg("realtime"));
  module.def(
      "contradicts_proof",
      [](const std::string& verdict, std::optional<Ticks> bound_ns, std::uint64_t missed,
         std::optional<Ticks> worst_ns, Ticks stalled_ns) {
        const auto value = choice<Verdict>(verdict, "verdict",
                                           {{"proved", Verdict::kProved},
                                            {"conditional", Verdict::kConditional},
                                            {"refuted", Verdict::kRefuted},
                                            {"unknown", Verdict::kUnknown}});
        return contradicts_proof(value, bound_ns,
                                 {.missed = missed, .worst = worst_ns, .stalled = stalled_ns});
      },
      py::arg("verdict"), py::arg("bound_ns"), py::arg("missed"), py::arg("worst_ns"),
      py::arg("stalled_ns"));
}

}  // namespace rclrt::analysis
