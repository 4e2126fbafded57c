// SPDX-License-Identifier: Apache-2.0
// Random applications for tests of the bounds.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "application_builder.hpp"
#include "rclrt/analysis/synthesis.hpp"

namespace rclrt::analysis {

class RandomApplication {
 public:
  explicit RandomApplication(std::uint64_t seed) : random_(seed) {}

  /// Makes two to four timers, each with a chain of up to four callbacks. Chains share callbacks,
  /// fork, meet in syncs, change their priority along the path, have groups, and end before the
  /// work does.
  model::Application make() {
    subscriptions_.clear();
    Builder builder;
    const int timers = between(2, 4);
    Ways ways = add_timers(builder, timers);
    add_syncs(builder, ways);
    add_chains(builder, ways);
    model::Application application = builder.done();
    share_a_callback(builder, application, timers);
    if (chance(0.3)) {
      move_phases(application);
      for (model::Callback& callback : application.callbacks) {
        if (auto* timer = std::get_if<model::Timer>(&callback.trigger)) {
          timer->offset_stated = chance(0.8);
        }
      }
    }
    if (chance(0.5)) {
      const auto values = synthesize_priorities(application);
      for (std::size_t i = 0; i < values.size(); ++i) {
        application.callbacks[i].priority = values[i].priority;
      }
    }
    return application;
  }

  /// Spreads the nodes over two or three executors, each on a CPU of its own or, if allowed, on a
  /// shared one.
  void spread(model::Application& application, bool may_share) {
    const int executors = between(2, 3);
    application.executors.clear();
    application.nodes.clear();
    for (int i = 0; i < executors; ++i) {
      const std::string name = "e" + std::to_string(i);
      const int cpu = may_share && chance(0.3) ? 0 : i;
      application.executors.push_back({.name = name, .cpus = {cpu}});
      application.nodes.push_back(
          {.name = name, .name_space = "/", .executor = static_cast<std::size_t>(i)});
    }
    for (model::Callback& callback : application.callbacks) {
      callback.node = static_cast<std::size_t>(between(0, executors - 1));
      if (!callback.group && chance(0.2)) {
        callback.executor = static_cast<std::size_t>(between(0, executors - 1));
      }
    }
  }

  /// Adds deadlines for EDF.
  void add_deadlines(model::Application& application) {
    for (model::Callback& callback : application.callbacks) {
      if (chance(0.7)) {
        callback.deadline = ms(between(2, 60) * 0.5);
      }
    }
  }

  double uniform(double low, double high) {
    return std::uniform_real_distribution<>(low, high)(random_);
  }

  void move_phases(model::Application& application) {
    for (model::Callback& callback : application.callbacks) {
      if (auto* timer = std::get_if<model::Timer>(&callback.trigger)) {
        if (!timer->offset_stated) {
          timer->offset = timer->period * between(0, 63) / 64;
        }
      }
    }
  }

 protected:
  int between(int low, int high) { return std::uniform_int_distribution<>(low, high)(random_); }
  void shuffle(std::vector<int>& values) { std::ranges::shuffle(values, random_); }
  bool chance(double share) { return std::bernoulli_distribution(share)(random_); }
  double window() {
    constexpr std::array kWindows{0.0, 1.5, 3.0, 6.0, 9.0, 25.0, 1000.0};
    return kWindows.at(static_cast<std::size_t>(between(0, 6)));
  }
  double wcet() { return between(1, 24) * 0.05; }

 private:
  using Ways = std::vector<std::vector<std::string>>;  // the callbacks of each timer's chain

  Ways add_timers(Builder& builder, int timers) {
    const bool one_period = chance(0.5);
    const double period = period_of(between(0, 5));
    Ways ways;
    for (int k = 0; k < timers; ++k) {
      const std::string id = "t" + std::to_string(k);
      const double own = one_period ? period : period_of(between(0, 5));
      builder.timer(id, own, wcet());
      extras(builder);
      ways.push_back({id});
      const int length = between(0, 3);
      for (int i = 0; i < length; ++i) {
        const std::string next = id + "_" + std::to_string(i);
        builder.subscription(next, ways.back().back(), wcet());
        extras(builder);
        ways.back().push_back(next);
        subscriptions_.push_back(next);
      }
    }
    return ways;
  }

  void add_syncs(Builder& builder, Ways& ways) {
    if (!chance(0.5)) {
      return;
    }
    builder.sync("sync", ways[0].back(), ways[1].back(), wcet(), window());
    builder.subscription("after", "sync", wcet());
    extras(builder);
    ways[0].insert(ways[0].end(), {"sync", "after"});
    ways[1].emplace_back("sync");
    if (chance(0.5)) {
      ways[1].emplace_back("after");
    }
    if (ways.size() > 2 && chance(0.5)) {  // a sync behind a sync
      builder.sync("sync2", ways[2].back(), "after", wcet(), window());
      extras(builder);
      ways[2].emplace_back("sync2");
      if (chance(0.5)) {
        ways[0].emplace_back("sync2");
      }
    }
  }

  void add_chains(Builder& builder, const Ways& ways) {
    for (std::size_t k = 0; k < ways.size(); ++k) {
      const auto& way = ways[k];
      builder.chain("chain" + std::to_string(k), way, between(0, 4));
      if (way.size() > 1 && chance(0.6)) {  // a chain that ends before the work does
        const int length = between(1, static_cast<int>(way.size()) - 1);
        builder.chain("part" + std::to_string(k), {way.begin(), way.begin() + length},
                      between(0, 4));
      }
    }
  }

  /// Adds a callback that also takes another chain's topic: it runs for the messages of both.
  void share_a_callback(Builder& builder, model::Application& application, int timers) {
    if (subscriptions_.empty() || !chance(0.4)) {
      return;
    }
    const auto shared = builder.index(subscriptions_[random_() % subscriptions_.size()]);
    auto& trigger = std::get<model::Subscription>(application.callbacks[shared].trigger);
    auto& topics = application.callbacks[builder.index("t" + std::to_string(timers - 1))].publishes;
    if (std::ranges::find(topics, trigger.topics.front()) == topics.end()) {
      topics.push_back(trigger.topics.front());
    }
    try {
      synthesize_priorities(application);
    } catch (const std::invalid_argument&) {  // a cycle
      application = builder.done();
    }
  }

  double period_of(int index) {
    constexpr std::array kPeriods{4.0, 5.0, 8.0, 10.0, 12.0, 20.0};
    return kPeriods.at(static_cast<std::size_t>(index));
  }
  void extras(Builder& builder) {
    if (chance(0.3)) {
      builder.priority(between(0, 4));
    }
    if (chance(0.2)) {
      builder.group("group");
    }
  }

  std::mt19937_64 random_;
  std::vector<std::string> subscriptions_;  // of the current application
};

/// Returns the application in a few lines, for a message of a test.
inline std::string describe(const model::Application& application) {
  std::string text;
  for (const model::Callback& callback : application.callbacks) {
    text += callback.id + " C " + std::to_string(callback.wcet.count() / 1000) + " us";
    if (callback.priority) {
      text += " priority " + std::to_string(*callback.priority);
    }
    if (callback.group) {
      text += " group " + *callback.group;
    }
    if (callback.deadline) {
      text += " D " + std::to_string(callback.deadline->count() / 1000);
    }
    text += " on " +
            std::to_string(callback.executor.value_or(application.nodes[callback.node].executor));
    if (const auto* timer = std::get_if<model::Timer>(&callback.trigger)) {
      text += " T " + std::to_string(timer->period.count() / 1000) + " offset " +
              std::to_string(timer->offset.count() / 1000) +
              (timer->offset_stated ? " stated" : "");
    }
    if (const auto* event = std::get_if<model::Event>(&callback.trigger)) {
      text += " events " + std::to_string(event->min_interval.count() / 1000) + " to " +
              std::to_string(event->max_interval.count() / 1000) + " offset " +
              std::to_string(event->offset.value_or(ms(0)).count() / 1000);
    }
    if (const auto* sync = std::get_if<model::Sync>(&callback.trigger)) {
      text += " window " + std::to_string(sync->window.count() / 1000);
    }
    for (const std::string& topic : model::inputs(callback)) {
      text += " <- " + topic;
    }
    for (std::size_t output = 0; output < callback.publishes.size(); ++output) {
      text += " -> " + callback.publishes[output];
      for (std::size_t input = 0; input < callback.routes.size(); ++input) {
        text += callback.sends(input, output) ? " (for " + std::to_string(input) + ")" : "";
      }
    }
    text += "\n";
  }
  for (const model::Chain& chain : application.chains) {
    text += chain.id + " priority " + std::to_string(chain.priority) + ":";
    for (const std::size_t i : chain.callbacks) {
      text += " " + application.callbacks[i].id;
    }
    text += "\n";
  }
  return text;
}

/// Prints the application, as it is at the end of the scope, if the test has failed by then. A
/// description in a SCOPED_TRACE would be made in each trial.
class DescribedOnFailure {
 public:
  explicit DescribedOnFailure(const model::Application& application) : application_(application) {}
  ~DescribedOnFailure() {
    if (testing::Test::HasFailure()) {
      std::printf("%s", describe(application_).c_str());
    }
  }
  DescribedOnFailure(const DescribedOnFailure&) = delete;
  DescribedOnFailure& operator=(const DescribedOnFailure&) = delete;

 private:
  const model::Application& application_;
};

}  // namespace rclrt::analysis
