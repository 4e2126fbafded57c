// SPDX-License-Identifier: Apache-2.0
/// No bound is above what published analyses compute for the same application.
///
/// The figures are from these programs, run on 2026-11-29:
///  * kWaitSet: `ros2::bw` of the crate response-time-analysis 0.3.2 (Blass, Casini, Bozhko and
///    Brandenburg, RTSS 2021, theorem 3). All callbacks are of its type PolledUnknownPrio, because
///    a timer, too, waits for the next ready set here. Time is in ns. The assumed response is the
///    least one that the result does not exceed.
///  * kEvents: `fifo::dedicated_uniproc_rta` of the same crate (Bedarkar, Vardishvili, Bozhko,
///  Maida
///    and Brandenburg, RTSS 2022). One bound holds for all callbacks.
///  * kPreemptive: `SPPScheduler` of pyCPA 1.2 with its latency of paths (Diemer, Axer and Ernst,
///    "Compositional performance analysis in Python with pyCPA", WATERS 2012).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "application_builder.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis {
namespace {

struct PublishedChain {
  double period{};            // ms
  double jitter{};            // ms; above zero: an event, else a timer
  std::vector<double> wcets;  // ms, of the callbacks one after the other
  int priority{};
  std::int64_t published{};  // ns
};

struct PublishedCase {
  ExecutorKind executor{};
  std::vector<PublishedChain> chains;
};

const std::vector<PublishedCase>& published_cases() {
  using enum ExecutorKind;
  static const std::vector<PublishedCase> kCases{
      {kWaitSet, {{40, 0, {26.1}, 10, 41400000}, {100, 0, {15.3}, 11, 41400000}}},
      {kWaitSet, {{50, 0, {30.1}, 20, 66300000}, {200, 0, {36.2}, 11, 66300000}}},
      {kWaitSet, {{12, 0, {1, 1}, 20, 5600000}, {5, 0, {0.9, 0.9, 0.9, 0.9}, 31, 9200000}}},
      {kWaitSet,
       {{100, 0, {4.6}, 10, 11600000},
        {12, 0, {1.8, 1.8}, 21, 22000000},
        {8, 0, {1.7, 1.7}, 22, 22000000}}},
      {kWaitSet,
       {{20, 1.6, {1.8}, 30, 123499999},
        {5, 0.5, {1.4}, 21, 112200000},
        {100, 64.6, {50}, 22, 87200000}}},
      {kWaitSet, {{40, 29.7, {5.5}, 10, 8000000}, {10, 6.8, {2.5}, 21, 8000000}}},
      {kWaitSet, {{50, 1.5, {9.7, 9.7, 9.7}, 0, 134900000}, {200, 42.4, {47.6}, 11, 76700000}}},
      {kEvents,
       {{10, 0, {1}, 30, 10600000}, {10, 0, {2.9}, 1, 10600000}, {40, 0, {6.7}, 32, 10600000}}},
      {kEvents, {{5, 0, {2.9}, 10, 5400000}, {12, 5.5, {2.5}, 1, 5400000}}},
      {kEvents,
       {{5, 0, {0.9}, 0, 23100000},
        {100, 72.5, {18.1}, 11, 23100000},
        {5, 0, {1.5}, 22, 23100000}}},
      {kPreemptive, {{25, 0, {12.1}, 20, 12100000}, {200, 0, {23}, 1, 47200000}}},
      {kPreemptive,
       {{4, 0, {0.3, 0.3, 0.3}, 0, 9900000},
        {10, 0, {0.5, 0.5, 0.5}, 21, 4500000},
        {8, 0, {0.1, 0.1, 0.1}, 12, 5400000}}},
      {kPreemptive,
       {{12, 2.1, {2.5}, 30, 2500000}, {8, 0, {3.4}, 21, 5900000}, {25, 24.7, {2}, 2, 15500000}}},
  };
  return kCases;
}

model::Application application_of(const PublishedCase& published) {
  Builder builder;
  for (std::size_t k = 0; k < published.chains.size(); ++k) {
    const PublishedChain& chain = published.chains[k];
    std::vector<std::string> names;
    for (const double wcet : chain.wcets) {
      std::string name = "c" + std::to_string(k) + "_" + std::to_string(names.size());
      if (names.empty()) {
        builder.timer(name, chain.period, wcet);
      } else {
        builder.subscription(name, names.back(), wcet);
      }
      builder.priority(chain.priority);
      names.push_back(std::move(name));
    }
    builder.chain("chain" + std::to_string(k), names, chain.priority);
  }
  model::Application application = builder.done();
  for (std::size_t k = 0; k < published.chains.size(); ++k) {
    const PublishedChain& chain = published.chains[k];
    if (chain.jitter > 0) {
      application.callbacks[application.chains[k].callbacks.front()].trigger =
          model::Event{.min_interval = ms(chain.period - chain.jitter),
                       .max_interval = ms(chain.period + chain.jitter),
                       .depth = 10,
                       .seed = model::Event::kDensest,
                       .period = ms(chain.period),
                       .jitter = ms(chain.jitter)};
    }
  }
  return application;
}

TEST(PublishedBounds, AreNotBelowOurs) {
  for (const PublishedCase& published : published_cases()) {
    const model::Application application = application_of(published);
    const auto bounds = chain_bounds(application, published.executor);
    for (std::size_t k = 0; k < bounds.size(); ++k) {
      ASSERT_TRUE(bounds[k].bound.has_value());
      EXPECT_LE(*bounds[k].bound, published.chains[k].published)
          << "case " << &published - published_cases().data() << ", chain " << k;
    }
  }
}

TEST(PublishedBounds, HaveTermsThatSumUpToOurs) {
  for (const PublishedCase& published : published_cases()) {
    const model::Application application = application_of(published);
    for (const ChainBound& chain : chain_bounds(application, published.executor)) {
      Ticks total = -chain.waited;
      for (const Contribution& term : chain.why) {
        total += term.total;
      }
      EXPECT_EQ(total, chain.bound) << "case " << &published - published_cases().data();
    }
  }
}

TEST(PublishedBounds, HoldInSimulation) {
  for (const PublishedCase& published : published_cases()) {
    model::Application application = application_of(published);
    const auto bounds = chain_bounds(application, published.executor);
    for (int phase = 0; phase < 16; ++phase) {
      for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
        if (auto* timer = std::get_if<model::Timer>(&application.callbacks[i].trigger)) {
          timer->offset = timer->period * ((phase * (static_cast<int>(i) + 3)) % 16) / 16;
        }
      }
      const auto result = simulate(simulated_system(application, published.executor, {}),
                                   {.horizon_ns = 1'000'000'000, .seed = 1});
      for (std::size_t k = 0; k < bounds.size(); ++k) {
        EXPECT_LE(result.chains[k].response.worst_ns, *bounds[k].bound);
      }
    }
  }
}

}  // namespace
}  // namespace rclrt::analysis
