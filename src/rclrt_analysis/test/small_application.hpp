// SPDX-License-Identifier: Apache-2.0
// Random applications that are small enough to try all priorities of their callbacks.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "application_builder.hpp"

namespace rclrt::analysis {

/// Calls `visit` with all weak orders of so many callbacks, as priorities from 1 up.
inline void for_each_weak_order(std::size_t callbacks,
                                const std::function<bool(const std::vector<int>&)>& visit) {
  std::vector<int> priorities(callbacks, 1);
  while (true) {
    const int most = std::ranges::max(priorities);
    bool is_dense = true;  // otherwise another one has the same order
    for (int level = 1; level <= most && is_dense; ++level) {
      is_dense = std::ranges::find(priorities, level) != priorities.end();
    }
    if (is_dense && visit(priorities)) {
      return;
    }
    std::size_t at = 0;
    while (at < callbacks && priorities[at] == static_cast<int>(callbacks)) {
      priorities[at++] = 1;
    }
    if (at == callbacks) {
      return;
    }
    ++priorities[at];
  }
}

/// Makes two to four chains of at most five callbacks in all.
class SmallApplication {
 public:
  explicit SmallApplication(std::uint64_t seed) : random_(seed) {}

  model::Application make() {
    Builder builder;
    const int chains = between(2, 4);
    const double load = between(70, 99) * 0.01 / chains;
    int left = 5 - chains;
    std::vector<std::vector<std::string>> ways;
    for (int k = 0; k < chains; ++k) {
      constexpr std::array kPeriods{4.0, 5.0, 8.0, 10.0, 20.0};
      const double period = kPeriods.at(static_cast<std::size_t>(between(0, 4)));
      const int longer = std::min(left, between(0, 2));
      left -= longer;
      std::vector<std::string> way;
      for (int i = 0; i <= longer; ++i) {
        const std::string id = "c" + std::to_string(k) + "_" + std::to_string(i);
        const double share = period * load / (longer + 1) * between(50, 150) * 0.01;
        const double wcet = std::max(1.0, std::round(share / 0.05)) * 0.05;
        i == 0 ? builder.timer(id, period, wcet) : builder.subscription(id, way.back(), wcet);
        if (between(0, 3) == 0) {
          builder.group("g" + std::to_string(between(0, 1)));
        }
        way.push_back(id);
      }
      builder.chain("chain" + std::to_string(k), way, 0, period * between(5, 20) * 0.1);
    }
    model::Application application = builder.done();
    for (model::Callback& callback : application.callbacks) {
      const auto* const timer = std::get_if<model::Timer>(&callback.trigger);
      if (timer != nullptr && between(0, 3) == 0) {
        const model::Nanoseconds jitter = timer->period * between(1, 6) / 8;
        callback.trigger = model::Event{.min_interval = timer->period - jitter,
                                        .max_interval = timer->period + jitter,
                                        .depth = 10,
                                        .seed = 1,
                                        .period = timer->period,
                                        .jitter = jitter};
      }
    }
    return application;
  }

 private:
  int between(int low, int high) { return std::uniform_int_distribution<>(low, high)(random_); }
  std::mt19937_64 random_;
};

}  // namespace rclrt::analysis
