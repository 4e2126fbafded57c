// SPDX-License-Identifier: Apache-2.0
// Random applications of executors on several CPUs, for tests of the bounds.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "random_application.hpp"

namespace rclrt::analysis {

class RandomSeveralCpus : public RandomApplication {
 public:
  using RandomApplication::RandomApplication;

  /// Makes an application that loads this number of CPUs. A `plain` one has chains only: they share
  /// nothing, and each has one priority. `most_load`: of all these CPUs.
  model::Application make(int cpus, bool plain, double most_load = 0.9) {
    Builder builder;
    const bool crowded = !plain && chance(0.4);  // few chains, most of them in groups
    group_share_ = crowded ? 0.8 : 0.25;
    const int flows = crowded ? cpus + 1 : between(cpus + 1, std::min(3 * cpus + 1, kMostFlows));
    const double load = uniform(0.2, most_load) * cpus / flows;
    std::vector<std::vector<std::string>> ways;
    for (int k = 0; k < flows; ++k) {
      ways.push_back(add_flow(builder, k, load * uniform(0.3, 1.7), plain));
    }
    if (!plain && chance(0.4)) {
      add_fork(builder, ways);
    }
    if (!plain && chance(0.4)) {
      add_two_publishers(builder, ways);
    }
    if (!plain && chance(0.3)) {
      builder.sync("sync", ways[0].back(), ways[1].back(), wcet(), window());
      builder.subscription("after", "sync", wcet());
      extras(builder, false);
      ways[0].insert(ways[0].end(), {"sync", "after"});
      ways[1].emplace_back("sync");
    }
    if (!plain && chance(0.3)) {
      builder.shared("server", {ways[0][0], ways[1][0]}, wcet());
      builder.subscription("client", "server/" + ways[1][0], wcet());
      builder.chain("service", {ways[1][0], "server", "client"}, between(0, 4));
    }
    for (std::size_t k = 0; k < ways.size(); ++k) {
      const std::string id = std::to_string(k);
      builder.chain("chain" + id, ways[k], plain ? static_cast<int>(k) : between(0, 5));
      if (!plain && ways[k].size() > 1 && chance(0.3)) {
        builder.chain("part" + id, {ways[k].begin(), ways[k].end() - 1}, between(0, 5));
      }
    }
    model::Application application = builder.done();
    for (const auto& [publisher, topic] : std::exchange(publishers_, {})) {
      application.callbacks[builder.index(publisher)].publishes.push_back(topic);
    }
    for (int cpu = 1; cpu < cpus; ++cpu) {
      application.executors[0].cpus.push_back(cpu);
    }
    if (!plain) {
      vary(application, builder, ways);
    }
    for (model::Chain& chain : application.chains) {
      chain.deadline = application.period(chain) * between(1, 3);
    }
    return application;
  }

  /// Spreads the callbacks over two or three executors. Each has some of these CPUs, which may be
  /// those of another one, too.
  void spread_over(model::Application& application, int cpus) {
    const int executors = between(2, 3);
    std::vector<std::vector<int>> sets;
    for (int i = 0; i < executors; ++i) {
      const int first = between(0, cpus - 1);
      sets.push_back(cpus_from(first, between(first, cpus - 1)));
    }
    spread(application, sets, cpus);
  }

  /// Spreads the callbacks over three to five executors with nested sets of these CPUs: all, half
  /// of them, a quarter, and so on.
  void nest(model::Application& application, int cpus) {
    const int executors = between(3, 5);
    std::vector<std::vector<int>> sets;
    for (int i = 0; i < executors; ++i) {
      sets.push_back(cpus_from(0, std::max(1, cpus >> i) - 1));
    }
    spread(application, sets, cpus);
  }

  /// Spreads the callbacks over three executors, each with half of these CPUs: the second one has a
  /// quarter of them in common with each of the others.
  void overlap(model::Application& application, int cpus) {
    std::vector<std::vector<int>> sets;
    for (int i = 0; i < 3; ++i) {
      const int first = i * cpus / 4;
      sets.push_back(cpus_from(first, first + cpus / 2 - 1));
    }
    spread(application, sets, cpus);
  }

  int cpus_between(int fewest, int most) { return between(fewest, most); }

  /// Removes the CPUs of one executor or more.
  void remove_cpus(model::Application& application) {
    const int always = between(0, static_cast<int>(application.executors.size()) - 1);
    for (int i = 0; i < static_cast<int>(application.executors.size()); ++i) {
      model::Executor& executor = application.executors[static_cast<std::size_t>(i)];
      if (i == always || chance(0.7)) {
        executor.cpus.clear();
      }
    }
  }

  /// Puts each callback into one of these groups.
  void join_groups(model::Application& application, int groups) {
    for (model::Callback& callback : application.callbacks) {
      callback.node = 0;
      callback.group = "g" + std::to_string(between(0, groups - 1));
    }
  }

  /// Lets most timers state their offsets.
  void state_offsets(model::Application& application) {
    for (model::Callback& callback : application.callbacks) {
      auto* const timer = std::get_if<model::Timer>(&callback.trigger);
      if (timer != nullptr && chance(0.8)) {
        timer->offset = timer->period * between(0, 63) / 64;
        timer->offset_stated = true;
      }
    }
  }

  /// Moves the first release of one timer or event.
  void move_one(model::Application& application) {
    const auto index =
        static_cast<std::size_t>(between(0, static_cast<int>(application.callbacks.size()) - 1));
    move(application.callbacks[index], between(0, 63));
  }
  void move_all(model::Application& application) {
    const bool together = chance(0.2);
    for (model::Callback& callback : application.callbacks) {
      move(callback, together ? 0 : between(0, 63));
    }
  }

 private:
  static std::vector<int> cpus_from(int first, int last) {
    std::vector<int> result;
    for (int cpu = first; cpu <= last; ++cpu) {
      result.push_back(cpu);
    }
    return result;
  }

  /// Spreads the callbacks over executors with these sets of `cpus` CPUs.
  void spread(model::Application& application, const std::vector<std::vector<int>>& sets,
              int cpus) {
    application.executors.clear();
    application.nodes.clear();
    for (const std::vector<int>& set : sets) {
      model::Executor executor{.name = "e" + std::to_string(application.executors.size()),
                               .cpus = set};
      shuffle(executor.cpus);
      if (chance(0.3)) {
        executor.scheduler_cpus = {between(0, cpus)};
      }
      if (chance(0.2)) {
        executor.top_priority = between(60, 90);
      }
      application.nodes.push_back(
          {.name = executor.name, .name_space = "/", .executor = application.executors.size()});
      application.executors.push_back(std::move(executor));
    }
    const bool few_hops = chance(0.5);
    const int executors = static_cast<int>(sets.size());
    std::size_t node = 0;
    for (model::Callback& callback : application.callbacks) {
      const bool is_timer = std::holds_alternative<model::Timer>(callback.trigger);
      if (is_timer || !few_hops || chance(0.3)) {
        node = static_cast<std::size_t>(between(0, executors - 1));
      }
      callback.node = node;
    }
  }

  static void move(model::Callback& callback, int part) {
    if (auto* timer = std::get_if<model::Timer>(&callback.trigger);
        timer != nullptr && !timer->offset_stated) {
      timer->offset = timer->period * part / 64;
    } else if (auto* event = std::get_if<model::Event>(&callback.trigger)) {
      event->offset = model::period(callback) * part / 64;
    }
  }

  std::vector<std::string> add_flow(Builder& builder, int number, double load, bool plain) {
    constexpr std::array kPeriods{4.0, 5.0, 8.0, 10.0, 12.0, 20.0, 40.0};
    const double period = kPeriods.at(static_cast<std::size_t>(between(0, 6)));
    const int length = between(1, 4);
    const double work = period * std::min(load, plain ? 0.95 : 1.5);
    std::vector<std::string> way;
    for (int i = 0; i < length; ++i) {
      const double time =
          std::max(1.0, std::floor(work / length * uniform(0.5, 1.5) / 0.01)) * 0.01;
      const std::string id = "c" + std::to_string(number) + "_" + std::to_string(i);
      if (i == 0) {
        builder.timer(id, period, time);
      } else {
        builder.subscription(id, way.back(), time);
      }
      way.push_back(id);
      extras(builder, plain);
    }
    return way;
  }

  void add_fork(Builder& builder, std::vector<std::vector<std::string>>& ways) {
    const int forks = between(1, 4);
    for (int i = 0; i < forks; ++i) {
      const std::string id = "fork" + std::to_string(i);
      const auto& way = ways[static_cast<std::size_t>(between(0, 1))];
      const std::string from =
          way[static_cast<std::size_t>(between(0, static_cast<int>(way.size()) - 1))];
      builder.subscription(id, from, wcet());
      extras(builder, false);
    }
  }

  /// Adds a callback that takes a topic of a timer and of a callback behind the timer, whichever of
  /// these two callbacks is first in the file.
  void add_two_publishers(Builder& builder, const std::vector<std::vector<std::string>>& ways) {
    const std::string id = std::to_string(between(0, static_cast<int>(ways.size()) - 1));
    const std::string timer = "c" + id + "_0";
    const auto add_last = [&] {
      builder.subscription("last" + id, "both" + id, wcet());
      extras(builder, false);
    };
    const bool last_first = chance(0.5);
    if (last_first) {
      add_last();
    }
    builder.subscription("between" + id, timer, wcet()).publishes("both" + id);
    extras(builder, false);
    if (!last_first) {
      add_last();
    }
    publishers_.emplace_back(timer, "both" + id);
    builder.chain("short" + id, {timer, "last" + id}, between(0, 5));
    builder.chain("long" + id, {timer, "between" + id, "last" + id}, between(0, 5));
  }

  void extras(Builder& builder, bool plain) {
    if (!plain && chance(0.2)) {
      builder.priority(between(0, 5));
    }
    if (!plain && chance(group_share_)) {
      builder.group("group" + std::to_string(between(0, 2)));
    }
  }

  /// Lets a callback take another chain's topic, and changes triggers and policies.
  void vary(model::Application& application, const Builder& builder,
            const std::vector<std::vector<std::string>>& ways) {
    const std::string& second = ways[0][ways[0].size() > 1 ? 1 : 0];
    const auto* const subscription =
        std::get_if<model::Subscription>(&application.callbacks[builder.index(second)].trigger);
    if (chance(0.3) && subscription != nullptr) {
      auto& topics = application.callbacks[builder.index(ways.back()[0])].publishes;
      topics.push_back(subscription->topics.front());
    }
    for (model::Callback& callback : application.callbacks) {
      auto* timer = std::get_if<model::Timer>(&callback.trigger);
      if (timer != nullptr && chance(0.15)) {
        callback.trigger = model::Event{.min_interval = timer->period,
                                        .max_interval = timer->period * 2,
                                        .depth = 10,
                                        .seed = static_cast<std::uint64_t>(between(0, 99))};
      } else if (timer != nullptr && chance(0.15)) {
        const model::Nanoseconds jitter = timer->period * between(1, 15) / 8;
        callback.trigger =
            model::Event{.min_interval = std::max(timer->period / 2, timer->period - jitter),
                         .max_interval = timer->period + jitter,
                         .depth = 10,
                         .seed = chance(0.5) ? model::Event::kDensest : 1,
                         .period = timer->period,
                         .jitter = jitter};
      } else if (timer != nullptr && chance(0.1)) {
        timer->offset = timer->period * between(0, 63) / 64;
        timer->offset_stated = true;
      }
      if (chance(0.05)) {
        callback.overload =
            chance(0.5) ? model::Overload::kKeepLast : model::Overload::kSkipIfRunning;
      }
    }
  }

  static constexpr int kMostFlows = 25;

  double group_share_ = 0;
  std::vector<std::pair<std::string, std::string>> publishers_;  // of more topics
};

}  // namespace rclrt::analysis
