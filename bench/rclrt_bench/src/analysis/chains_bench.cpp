// SPDX-License-Identifier: Apache-2.0
/// Synthesis and bounds of applications of chains of four callbacks.
#include <benchmark/benchmark.h>

#include <chrono>
#include <string>

#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/synthesis.hpp"

namespace rclrt::analysis {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

model::Application chains_of_four(std::size_t chains) {
  model::Application application;
  application.executors = {{.name = "main", .cpus = {0}}};
  application.nodes = {{.name = "node", .name_space = "/", .executor = 0}};
  for (std::size_t k = 0; k < chains; ++k) {
    model::Chain chain;
    chain.id = "chain" + std::to_string(k);
    chain.priority = static_cast<int>(k % 90);
    chain.deadline = milliseconds(100);
    for (int i = 0; i < 4; ++i) {
      model::Callback callback;
      callback.id = chain.id + "_" + std::to_string(i);
      callback.wcet = microseconds(50);
      callback.publishes = {callback.id};
      if (i == 0) {
        callback.trigger = model::Timer{.period = milliseconds(1000 + k)};
      } else {
        callback.trigger =
            model::Subscription{.topics = {application.callbacks.back().id}, .depth = 10};
      }
      chain.callbacks.push_back(application.callbacks.size());
      application.callbacks.push_back(callback);
    }
    application.chains.push_back(chain);
  }
  return application;
}

/// Target: under 100 ms.
void synthesis_of_ten_thousand_callbacks(benchmark::State& state) {
  const auto application = chains_of_four(2500);
  for (auto _ : state) {
    benchmark::DoNotOptimize(synthesize_priorities(application));
  }
}
BENCHMARK(synthesis_of_ten_thousand_callbacks)->Unit(benchmark::kMillisecond);

void bounds_of_thousand_callbacks(benchmark::State& state) {
  const auto application = chains_of_four(250);
  for (auto _ : state) {
    benchmark::DoNotOptimize(chain_bounds(application));
  }
}
BENCHMARK(bounds_of_thousand_callbacks)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rclrt::analysis
