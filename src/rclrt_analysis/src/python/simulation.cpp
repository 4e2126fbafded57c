// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/simulation.hpp"
#include "rclrt/analysis/simulated_outputs.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "bindings.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/model/cause_effect_times.hpp"
#include "rclrt/model/event_times.hpp"
#include "rclrt/model/sync_fates.hpp"

namespace py = pybind11;

namespace rclrt::analysis {
namespace {

using model::Application;

/// The responses of a chain up to the horizon.
struct ChainOutcome {
  std::uint64_t released = 0;
  std::uint64_t completed = 0;
  std::uint64_t missed = 0;     ///< deadline up to the horizon, and not ended by it
  std::uint64_t unmatched = 0;  ///< left over by a synchroniser: not missed
  std::int64_t best_ns = 0;
  std::int64_t worst_ns = 0;
  double mean_ns = 0;
  /// Response times from the start of the chain's first callback.
  std::int64_t from_start_best_ns = 0;
  std::int64_t from_start_worst_ns = 0;
};

/// The times of all outputs of a cause-effect chain.
struct CauseEffectOutcome {
  std::vector<std::int64_t> reactions_ns;
  std::vector<std::int64_t> ages_ns;
};

/// Callback, ready, start and end of an instance that ran.
using Ran = std::tuple<std::size_t, std::int64_t, std::int64_t, std::int64_t>;

/// Counts each release of each chain once.
class ChainObserver final : public SimulationObserver {
 public:
  ChainObserver(const Application& application, const SimulatedSystem& system,
                std::int64_t horizon_ns, bool keep)
      : system_(system), horizon_ns_(horizon_ns), keep_(keep), fates_(application) {
    for (const SimulatedChain& chain : system.chains) {
      releases_ns_.push_back(releases_of(system.callbacks[chain.callbacks.front()].trigger));
      seen_.emplace_back(releases_ns_.back().size());
      outcomes_.push_back({.released = releases_ns_.back().size()});
    }
  }

  void ended(const SimulatedInstance& instance) override {
    if (instance.outcome != SimulatedOutcome::kEmpty && fates_.is_sync(instance.callback)) {
      add_to_sync(instance);
    }
    if (instance.outcome != SimulatedOutcome::kRan) {
      return;
    }
    if (keep_) {
      ran_.emplace_back(instance.callback, instance.ready_ns, instance.start_ns, instance.end_ns);
    }
    for (const SimulatedToken& token : instance.tokens) {
      const SimulatedChain& chain = system_.chains[token.chain];
      auto& seen = seen_[token.chain];
      if (token.instance >= seen.size()) {
        continue;
      }
      Seen& own = seen[token.instance];
      if (chain.callbacks.front() == instance.callback) {
        own.start_ns = instance.start_ns;
      }
      if (chain.callbacks.back() == instance.callback && !own.end_ns) {
        own.end_ns = instance.end_ns;
        own.release_ns = token.release_ns;
      }
    }
  }

  std::vector<ChainOutcome> outcomes() {
    fates_.finish(horizon_ns_);
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      const std::int64_t deadline_ns = system_.chains[i].deadline_ns;
      ChainOutcome& own = outcomes_[i];
      double total_ns = 0;
      for (std::size_t n = 0; n < seen_[i].size(); ++n) {
        const Seen& seen = seen_[i][n];
        bool late = false;
        if (seen.end_ns) {
          const std::int64_t response_ns = *seen.end_ns - seen.release_ns;
          late = response_ns > deadline_ns;
          add(own, response_ns, *seen.end_ns - seen.start_ns);
          total_ns += static_cast<double>(response_ns);
        } else {
          const model::SyncFate fate = fates_.of(i, n);
          own.unmatched += fate == model::SyncFate::kUnmatched ? 1 : 0;
          late = fate != model::SyncFate::kUnmatched && fate != model::SyncFate::kWaiting &&
                 releases_ns_[i][n] + deadline_ns <= horizon_ns_;
        }
        own.missed += deadline_ns > 0 && late ? 1 : 0;
      }
      own.mean_ns = own.completed == 0 ? 0 : total_ns / static_cast<double>(own.completed);
    }
    return outcomes_;
  }

  std::vector<Ran>& instances() { return ran_; }

 private:
  struct Seen {
    std::int64_t start_ns = 0;  // of the first callback
    std::int64_t release_ns = 0;
    std::optional<std::int64_t> end_ns{};  // of the last one
  };

  void add_to_sync(const SimulatedInstance& instance) {
    const model::SyncFates::Arrival message{.callback = instance.callback,
                                            .input = instance.input,
                                            .stamp_ns = instance.stamp_ns,
                                            .time_ns = instance.start_ns};
    fates_.add(message);
    for (const SimulatedToken& token : instance.tokens) {
      if (instance.outcome == SimulatedOutcome::kRan) {
        fates_.in_set(message, token.chain, token.instance);
      } else {
        fates_.kept(message, token.chain, token.instance);
      }
    }
  }

  static void add(ChainOutcome& own, std::int64_t response_ns, std::int64_t from_start_ns) {
    const bool first = own.completed++ == 0;
    own.best_ns = first ? response_ns : std::min(own.best_ns, response_ns);
    own.worst_ns = std::max(own.worst_ns, response_ns);
    own.from_start_best_ns =
        first ? from_start_ns : std::min(own.from_start_best_ns, from_start_ns);
    own.from_start_worst_ns = std::max(own.from_start_worst_ns, from_start_ns);
  }

  /// Returns the nominal releases of a timer or an event before the horizon.
  std::vector<std::int64_t> releases_of(const decltype(SimulatedCallback::trigger)& trigger) const {
    std::vector<std::int64_t> result;
    if (const auto* event = std::get_if<EventTrigger>(&trigger)) {
      model::EventTimes times(event->event, event->id);
      for (auto at = times.next(); at.count() < horizon_ns_; at = times.next()) {
        result.push_back(at.count());
      }
      return result;
    }
    const auto& timer = std::get<TimerTrigger>(trigger);
    for (std::int64_t at = timer.offset_ns; at < horizon_ns_; at += timer.period_ns) {
      result.push_back(at);
    }
    return result;
  }

  const SimulatedSystem& system_;
  std::int64_t horizon_ns_;
  bool keep_;
  std::vector<std::vector<std::int64_t>> releases_ns_;  // of each chain
  std::vector<std::vector<Seen>> seen_;
  std::vector<ChainOutcome> outcomes_;
  model::SyncFates fates_;
  std::vector<Ran> ran_;
};

/// Passes all runs to model::CauseEffectTimes.
class OutputObserver final : public SimulationObserver {
 public:
  explicit OutputObserver(const Application& application) : times_(application) {}

  void ended(const SimulatedInstance& instance) override { add_runs(instance, times_); }

  std::vector<CauseEffectOutcome> outcomes() const {
    std::vector<CauseEffectOutcome> result;
    for (const model::CauseEffectOutputs& chain : times_.outputs()) {
      CauseEffectOutcome& own = result.emplace_back();
      for (const model::CauseEffectOutput& output : chain.outputs) {
        if (output.reaction) {
          own.reactions_ns.push_back(output.reaction->count());
        }
        own.ages_ns.push_back(output.age().count());
      }
    }
    return result;
  }

 private:
  model::CauseEffectTimes times_;
};

SimulatedTimes times_of(const Overheads& machine, double lowest_execution) {
  const auto within = [](const Hop& hop) { return TimeDistribution::uniform(hop.min, hop.max); };
  return {.lowest_execution = lowest_execution,
          .dispatch_ns = machine.dispatch,
          .scheduler_ns = machine.scheduler,
          .polling_ns = machine.polling,
          .lateness = within({0, machine.timer_jitter}),
          .hop = within(machine.near),
          .far_hop = within(machine.far)};
}

/// Returns the system to simulate. Throws std::invalid_argument.
SimulatedSystem system_of(const Application& application, const std::string& executor,
                          std::int64_t horizon_ns, double lowest_execution,
                          const Overheads& overheads, unsigned cpus) {
  const model::ExecutorChoice choice = model::parse_executor(executor);
  if (!(lowest_execution >= 0 && lowest_execution <= 1)) {
    throw std::invalid_argument("lowest_execution is a share of the WCET, from 0 to 1");
  }
  require_valid_horizon(horizon_ns);
  return simulated_system(application, choice, times_of(overheads, lowest_execution), cpus);
}

std::pair<std::vector<ChainOutcome>, std::vector<Ran>> simulate_application(
    const Application& application, const std::string& executor, std::int64_t horizon_ns,
    std::uint64_t seed, double lowest_execution, const Overheads& overheads, unsigned cpus,
    bool keep) {
  const py::gil_scoped_release release;
  const SimulatedSystem system =
      system_of(application, executor, horizon_ns, lowest_execution, overheads, cpus);
  ChainObserver observer(application, system, horizon_ns, keep);
  simulate(system, {.horizon_ns = horizon_ns, .seed = seed, .check_interrupt = check_signals},
           &observer);
  return {observer.outcomes(), std::move(observer.instances())};
}

std::vector<CauseEffectOutcome> simulate_outputs(const Application& application,
                                                 const std::string& executor,
                                                 std::int64_t horizon_ns, std::uint64_t seed,
                                                 double lowest_execution,
                                                 const Overheads& overheads, unsigned cpus) {
  const py::gil_scoped_release release;
  const SimulatedSystem system =
      system_of(application, executor, horizon_ns, lowest_execution, overheads, cpus);
  OutputObserver observer(application);
  simulate(system, {.horizon_ns = horizon_ns, .seed = seed, .check_interrupt = check_signals},
           &observer);
  return observer.outcomes();
}

}  // namespace

void bind_simulation(py::module_& module) {
  py::class_<ChainOutcome>(module, "ChainOutcome")
      .def_readonly("released", &ChainOutcome::released)
      .def_readonly("completed", &ChainOutcome::completed)
      .def_readonly("missed", &ChainOutcome::missed)
      .def_readonly("unmatched", &ChainOutcome::unmatched)
      .def_readonly("best_ns", &ChainOutcome::best_ns)
      .def_readonly("mean_ns", &ChainOutcome::mean_ns)
      .def_readonly("worst_ns", &ChainOutcome::worst_ns)
      .def_readonly("from_start_best_ns", &ChainOutcome::from_start_best_ns)
      .def_readonly("from_start_worst_ns", &ChainOutcome::from_start_worst_ns);
  py::class_<CauseEffectOutcome>(module, "CauseEffectOutcome")
      .def_readonly("reactions_ns", &CauseEffectOutcome::reactions_ns)
      .def_readonly("ages_ns", &CauseEffectOutcome::ages_ns);
  module.def("simulate_outputs", &simulate_outputs, py::arg("application"), py::arg("executor"),
             py::arg("horizon_ns"), py::kw_only(), py::arg("seed") = 0,
             py::arg("lowest_execution") = 1.0, py::arg("overheads") = Overheads{},
             py::arg("cpus") = 1);
  module.def("simulate", &simulate_application, py::arg("application"), py::arg("executor"),
             py::arg("horizon_ns"), py::kw_only(), py::arg("seed") = 0,
             py::arg("lowest_execution") = 1.0, py::arg("overheads") = Overheads{},
             py::arg("cpus") = 1, py::arg("keep_instances") = false);
}

}  // namespace rclrt::analysis
