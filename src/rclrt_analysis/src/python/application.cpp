// SPDX-License-Identifier: Apache-2.0
/// Python: the analyses of an application that rclrt_model has loaded.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "rclrt/analysis/bound_priorities.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/compress_levels.hpp"
#include "rclrt/analysis/picas_bounds.hpp"
#include "rclrt/analysis/synthesis.hpp"
#include "rclrt/analysis/thesis.hpp"

namespace py = pybind11;

namespace rclrt::analysis {
namespace {

using model::Application;

const char* to_word(Contribution::Kind kind) {
  switch (kind) {
    case Contribution::Kind::kOwn:
      return "own";
    case Contribution::Kind::kInterference:
      return "interference";
    case Contribution::Kind::kSets:
      return "sets";
    case Contribution::Kind::kStarted:
      return "started";
    case Contribution::Kind::kCallback:
      return "callback";
    case Contribution::Kind::kHop:
      return "hop";
    case Contribution::Kind::kLink:
      return "link";
    case Contribution::Kind::kLate:
      return "late";
    case Contribution::Kind::kSegment:
      return "segment";
    case Contribution::Kind::kReadySets:
      return "ready_sets";
    case Contribution::Kind::kBackground:
      return "background";
    case Contribution::Kind::kStall:
      return "stall";
    case Contribution::Kind::kRest:
      return "rest";
    case Contribution::Kind::kWaits:
      return "waits";
    case Contribution::Kind::kOtherInput:
      break;
  }
  return "other_input";
}

py::tuple synthesize(const Application& application, const std::string& source) {
  const auto values = synthesize_priorities(
      application, choice<ChainPriorities>(source, "source of the chain priorities",
                                           {{"given", ChainPriorities::kGiven},
                                            {"rate", ChainPriorities::kRateMonotonic},
                                            {"deadline", ChainPriorities::kDeadlineMonotonic},
                                            {"picas", ChainPriorities::kPicas}}));
  py::list result;
  for (const SynthesizedPriority& value : values) {
    result.append(py::make_tuple(value.priority, reason(application, value)));
  }
  return py::tuple(result);
}

const char* to_word(PlacedBy by) {
  switch (by) {
    case PlacedBy::kAlone:
      return "alone";
    case PlacedBy::kTogether:
      return "together";
    case PlacedBy::kNoDeadline:
      return "no_deadline";
    case PlacedBy::kMethod:
      break;
  }
  return "method";
}

/// The priorities of callbacks, with their reasons and their chains.
struct ReasonedPriorities {
  BoundPriorities found;
  std::vector<std::string> reasons;
};

ReasonedPriorities by_bounds(const Application& application, const std::string& executor,
                             const Overheads& overheads, std::size_t evaluations,
                             bool best_effort) {
  const BoundPrioritiesOptions options{.executor = executor_kind_or_throw(executor),
                                       .overheads = overheads,
                                       .evaluations = evaluations,
                                       .best_effort = best_effort,
                                       .check_interrupt = check_signals};
  const py::gil_scoped_release release;
  ReasonedPriorities result{bound_priorities(application, options), {}};
  for (const SynthesizedPriority& value : result.found.callbacks) {
    result.reasons.push_back(reason(application, value));
  }
  return result;
}

py::tuple callbacks_of(const ReasonedPriorities& self) {
  py::list result;
  for (std::size_t i = 0; i < self.reasons.size(); ++i) {
    const SynthesizedPriority& value = self.found.callbacks[i];
    const auto chain = value.sync ? std::nullopt : value.chain;
    result.append(py::make_tuple(value.priority, self.reasons[i], chain));
  }
  return py::tuple(result);
}

void bind_bound_priorities(py::module_& module) {
  py::class_<ChainPlace>(module, "ChainPlace")
      .def_readonly("priority", &ChainPlace::priority)
      .def_property_readonly("by", [](const ChainPlace& self) { return to_word(self.by); })
      .def_readonly("bound_ns", &ChainPlace::bound)
      .def_property_readonly("verdict",
                             [](const ChainPlace& self) { return to_python(self.verdict); });
  using Found = ReasonedPriorities;
  py::class_<Found>(module, "BoundPriorities")
      .def_property_readonly("callbacks", &callbacks_of)
      .def_property_readonly(
          "chains", [](const Found& self) { return py::tuple(py::cast(self.found.chains)); })
      .def_property_readonly("method", [](const Found& self) { return self.found.method; })
      .def_property_readonly("feasible", [](const Found& self) { return self.found.feasible; })
      .def_property_readonly(
          "order_matters",
          [](const Found& self) { return py::tuple(py::cast(self.found.order_matters)); })
      .def_property_readonly("optimal", [](const Found& self) { return self.found.optimal(); })
      .def_property_readonly("evaluations",
                             [](const Found& self) { return self.found.evaluations; });
  module.def("bound_priorities", &by_bounds, py::arg("application"),
             py::arg("executor") = "preemptive", py::kw_only(), py::arg("overheads") = Overheads{},
             py::arg("evaluations") = BoundPrioritiesOptions{}.evaluations,
             py::arg("best_effort") = true);
}

void bind_thesis(py::module_& module) {
  py::class_<ThesisChain>(module, "ThesisChain")
      .def_readonly("workload_ns", &ThesisChain::workload)
      .def_readonly("response_ns", &ThesisChain::response)
      .def_readonly("deadline_ns", &ThesisChain::deadline)
      .def_readonly("holds", &ThesisChain::holds);
  py::class_<ThesisResult>(module, "ThesisResult")
      .def_readonly("applies", &ThesisResult::applies)
      .def_readonly("why_not", &ThesisResult::why_not)
      .def_readonly("holds", &ThesisResult::holds)
      .def_property_readonly(
          "chains", [](const ThesisResult& self) { return py::tuple(py::cast(self.chains)); })
      .def_property_readonly("assumptions", [](const ThesisResult& self) {
        return py::tuple(py::cast(self.assumptions));
      });
  py::class_<ThesisJudgement>(module, "ThesisJudgement")
      .def_readonly("feasibility", &ThesisJudgement::feasibility)
      .def_readonly("harmonic", &ThesisJudgement::harmonic)
      .def_property_readonly("verdicts",
                             [](const ThesisJudgement& self) {
                               py::list verdicts;
                               for (const Verdict verdict : self.verdicts) {
                                 verdicts.append(to_python(verdict));
                               }
                               return py::tuple(verdicts);
                             })
      .def_readonly("feasible", &ThesisJudgement::feasible);
  module.def("judge_by_thesis", &judge_by_thesis, py::arg("application"));
}

void bind_picas(py::module_& module) {
  py::class_<PicasBound>(module, "PicasBound")
      .def_readonly("bound_ns", &PicasBound::bound)
      .def_property_readonly("verdict",
                             [](const PicasBound& self) { return to_python(self.verdict); })
      .def_property_readonly("holds", [](const PicasBound& self) { return holds(self.verdict); })
      .def_readonly("note", &PicasBound::note)
      .def_property_readonly(
          "unsafe", [](const PicasBound& self) { return py::tuple(py::cast(self.unsafe)); });
  module.def(
      "picas_bounds",
      [](const Application& application) {
        const py::gil_scoped_release release;
        return picas_bounds(application, {.check_interrupt = check_signals});
      },
      py::arg("application"));
}

void bind_overheads(py::module_& module) {
  const auto hop = [](std::pair<Ticks, Ticks> times) { return Hop{times.first, times.second}; };
  py::class_<Overheads>(module, "Overheads")
      .def(py::init([hop](Ticks dispatch, Ticks timer_jitter, Ticks scheduler, Ticks polling,
                          Ticks background, Ticks stall, std::pair<Ticks, Ticks> near,
                          std::pair<Ticks, Ticks> far, Ticks handover, int cpus) {
             return Overheads{.dispatch = dispatch,
                              .timer_jitter = timer_jitter,
                              .scheduler = scheduler,
                              .polling = polling,
                              .background = background,
                              .stall = stall,
                              .near = hop(near),
                              .far = hop(far),
                              .handover = handover,
                              .cpus = cpus};
           }),
           py::kw_only(), py::arg("dispatch_ns") = 0, py::arg("timer_jitter_ns") = 0,
           py::arg("scheduler_ns") = 0, py::arg("polling_ns") = 0, py::arg("background_ns") = 0,
           py::arg("stall_ns") = 0, py::arg("near_hop_ns") = std::pair<Ticks, Ticks>{},
           py::arg("far_hop_ns") = std::pair<Ticks, Ticks>{}, py::arg("handover_ns") = 0,
           py::arg("cpus") = 0)
      .def_readonly("dispatch_ns", &Overheads::dispatch)
      .def_readonly("timer_jitter_ns", &Overheads::timer_jitter)
      .def_readonly("scheduler_ns", &Overheads::scheduler)
      .def_readonly("polling_ns", &Overheads::polling)
      .def_readonly("background_ns", &Overheads::background)
      .def_readonly("stall_ns", &Overheads::stall)
      .def_readonly("handover_ns", &Overheads::handover)
      .def_readonly("cpus", &Overheads::cpus)
      .def_property_readonly("far_hop_ns", [](const Overheads& self) {
        return std::pair(self.far.min, self.far.max);
      });
}

void bind_chain_bound(py::module_& module) {
  py::class_<Contribution>(module, "Contribution")
      .def_property_readonly("kind", [](const Contribution& self) { return to_word(self.kind); })
      .def_readonly("callback", &Contribution::callback)
      .def_readonly("releases", &Contribution::releases)
      .def_readonly("total_ns", &Contribution::total)
      .def_readonly("whole_ns", &Contribution::whole)
      .def_readonly("before_ns", &Contribution::before);
  py::class_<ChainBound>(module, "ChainBound")
      .def_readonly("bound_ns", &ChainBound::bound)
      .def_property_readonly("verdict",
                             [](const ChainBound& self) { return to_python(self.verdict); })
      .def_property_readonly("holds", [](const ChainBound& self) { return holds(self.verdict); })
      .def_readonly("level", &ChainBound::level)
      .def_readonly("reaction_ns", &ChainBound::reaction)
      .def_readonly("data_age_ns", &ChainBound::data_age)
      .def_readonly("waited_ns", &ChainBound::waited)
      .def_readonly("stamp_error_ns", &ChainBound::stamp_error)
      .def_readonly("note", &ChainBound::note)
      .def_property_readonly(
          "assumptions",
          [](const ChainBound& self) { return py::tuple(py::cast(self.assumptions)); })
      .def_property_readonly("why",
                             [](const ChainBound& self) { return py::tuple(py::cast(self.why)); });
}

void bind_bounds(py::module_& module) {
  bind_overheads(module);
  bind_chain_bound(module);
  module.def(
      "chain_bounds",
      [](const Application& application, const std::string& executor, const Overheads& overheads) {
        const model::ExecutorChoice value = executor_with_bounds(executor);
        const py::gil_scoped_release release;
        return chain_bounds(application, value, overheads, {.check_interrupt = check_signals});
      },
      py::arg("application"), py::arg("executor") = "preemptive",
      py::arg("overheads") = Overheads{});
  py::class_<QueueBound>(module, "QueueBound")
      .def_readonly("pending", &QueueBound::pending)
      .def_readonly("depth", &QueueBound::depth)
      .def_property_readonly("holds", &QueueBound::holds);
  module.def(
      "queue_bounds",
      [](const Application& application, const std::string& executor, const Overheads& overheads) {
        const model::ExecutorChoice value = executor_with_bounds(executor);
        const py::gil_scoped_release release;
        return queue_bounds(application, value, overheads, {.check_interrupt = check_signals});
      },
      py::arg("application"), py::arg("executor") = "preemptive",
      py::arg("overheads") = Overheads{});
  module.def(
      "thread_levels",
      [](const Application& application, const std::string& executor) {
        return model::thread_levels(application, model::parse_executor(executor).kind);
      },
      py::arg("application"), py::arg("executor"));
  module.def(
      "why_no_bounds",
      [](const std::string& executor) { return why_no_bounds(model::parse_executor(executor)); },
      py::arg("executor"));
  module.def(
      "chain_assumptions",
      [](const std::string& executor, const Overheads& overheads) {
        return chain_assumptions(executor_with_bounds(executor), overheads);
      },
      py::arg("executor") = "preemptive", py::arg("overheads") = Overheads{});
}

Application with_priorities(Application application, const std::vector<int>& priorities) {
  if (priorities.size() != application.callbacks.size()) {
    throw std::invalid_argument("expected one priority per callback");
  }
  for (std::size_t i = 0; i < priorities.size(); ++i) {
    application.callbacks[i].priority = priorities[i];
  }
  return application;
}

void bind_levels(py::module_& module) {
  module.attr("MAPPABLE_LEVELS") = kMappableLevels;
  module.def("with_priorities", &with_priorities, py::arg("application"), py::arg("priorities"));
  module.def(
      "compress_levels",
      [](const Application& application, const std::vector<int>& priorities, std::size_t most) {
        const CompressedLevels found = compress_levels(application, priorities, most);
        py::list merged;
        for (const LevelMerge& merge : found.merged) {
          merged.append(py::make_tuple(merge.executor, merge.from, merge.into));
        }
        return py::make_tuple(py::tuple(py::cast(found.priorities)), py::tuple(merged));
      },
      py::arg("application"), py::arg("priorities"), py::arg("most"));
}

}  // namespace

model::ExecutorChoice executor_to_judge(const std::string& word) {
  model::ExecutorChoice choice = model::parse_executor(word);
  if (traits(choice).simulated_only) {
    throw std::invalid_argument("executor '" + word + "' has no bounds for applications");
  }
  return choice;
}

model::ExecutorChoice executor_with_bounds(const std::string& word) {
  model::ExecutorChoice choice = executor_to_judge(word);
  if (const auto reason = why_no_bounds(choice)) {
    throw std::invalid_argument("executor '" + word + "': " + *reason);
  }
  return choice;
}

ExecutorKind executor_kind_or_throw(const std::string& word) {
  const model::ExecutorChoice choice = executor_with_bounds(word);
  if (choice.max_threads() > 1) {
    throw std::invalid_argument("executor '" + word + "' has several threads; expected '" +
                                name_of(choice.kind) + "'");
  }
  return choice.kind;
}

void bind_application(py::module_& module) {
  py::class_<Assumption>(module, "Assumption")
      .def_readonly("id", &Assumption::id)
      .def_readonly("text", &Assumption::text)
      .def_readonly("relevant", &Assumption::relevant);
  bind_levels(module);
  module.def("synthesize_priorities", &synthesize, py::arg("application"),
             py::arg("source") = "given");
  bind_thesis(module);
  bind_picas(module);
  bind_bounds(module);
  bind_bound_priorities(module);
}

}  // namespace rclrt::analysis
