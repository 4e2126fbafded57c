// SPDX-License-Identifier: Apache-2.0
// Random applications of any shape: every callback takes topics of earlier ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "random_application.hpp"

namespace rclrt::analysis {

/// Adds to RandomApplication: syncs anywhere and of any two to four topics, subscriptions of
/// several topics with and without routes, several groups, callbacks without work or in no chain,
/// several publishers of a topic, short queues, policies of overload and overrun, loads close to 1,
/// offsets above the period, and coarse times that coincide.
class RandomGraph : public RandomApplication {
 public:
  using RandomApplication::RandomApplication;

  model::Application make_graph() {
    coarse_ = chance(0.4);
    heavy_ = chance(0.3);
    application_ = {};
    application_.name = "graph";
    application_.executors = {{.name = "main", .cpus = {0}}};
    application_.nodes = {{.name = "one", .name_space = "/", .executor = 0},
                          {.name = "two", .name_space = "/", .executor = 0}};
    timers_ = between(1, 4);
    add_timers();
    for (int i = between(0, 7); i > 0; --i) {
      add_reader(i);
    }
    if (chance(0.4)) {
      add_publisher();
    }
    if (chance(0.3)) {
      add_publisher();
    }
    for (int i = between(1, 5); i > 0; --i) {
      add_chain(i);
    }
    return std::move(application_);
  }

  /// Moves the offsets that the file does not state: anywhere in the period, or on a grid of half a
  /// millisecond.
  void move_offsets(model::Application& application) {
    move_phases(application);
    for (model::Callback& callback : application.callbacks) {
      if (auto* event = std::get_if<model::Event>(&callback.trigger)) {
        move_event(*event);
      }
      auto* timer = std::get_if<model::Timer>(&callback.trigger);
      if (timer == nullptr || timer->offset_stated) {
        continue;
      }
      if (coarse_) {
        timer->offset = ms(between(0, 11) * 0.5);
      }
      if (chance(0.2)) {
        timer->offset += model::Nanoseconds(1);
      }
      timer->offset = std::min(timer->offset, timer->period - model::Nanoseconds(1));
    }
  }

 private:
  /// Draws intervals up to the longest stated one, or only the shortest; the first release is
  /// anywhere.
  void move_event(model::Event& event) {
    event.seed = static_cast<std::uint64_t>(between(1, 1'000'000));
    if (event.period > model::Nanoseconds::zero()) {
      event.offset = coarse_ ? ms(between(0, 11) * 0.5) : event.period * between(0, 999) / 1000;
      if (chance(0.5)) {
        event.seed = model::Event::kDensest;
      }
      return;
    }
    event.offset = coarse_ ? ms(between(0, 11) * 0.5) : event.min_interval * between(0, 999) / 1000;
    event.max_interval = chance(0.3) ? event.min_interval : event.min_interval * between(2, 6) / 2;
  }

  /// Returns an event with jitter of less than its period, or bursts.
  model::Event jittered(model::Nanoseconds period) {
    const model::Nanoseconds jitter = period * (chance(0.7) ? between(1, 7) : between(8, 24)) / 8;
    const bool states = jitter >= period || chance(0.3);
    const auto distance =
        std::max(states ? period * between(1, 8) / 8 : period - jitter, period - jitter);
    return {.min_interval = distance,
            .max_interval = period + jitter,
            .depth = 10,
            .period = period,
            .jitter = jitter};
  }

  double period() {
    constexpr std::array kAny{2.0, 4.0, 5.0, 8.0, 10.0, 12.0, 20.0, 40.0};
    constexpr std::array kCoarse{4.0, 6.0, 8.0, 12.0, 16.0};
    return coarse_ ? kCoarse.at(static_cast<std::size_t>(between(0, 4)))
                   : kAny.at(static_cast<std::size_t>(between(0, 7)));
  }
  double work() {
    if (chance(0.1)) {
      return 0;
    }
    return coarse_ ? between(1, 3) * 0.5 : (heavy_ ? 2 : 1) * wcet();
  }

  template <typename Trigger>
  void add(const std::string& id, Trigger trigger) {
    model::Callback callback;
    callback.id = id;
    callback.node = static_cast<std::size_t>(between(0, 1));
    callback.trigger = std::move(trigger);
    callback.wcet = ms(work());
    callback.publishes = {id};
    if (chance(0.4)) {
      callback.priority = between(0, 5);
    }
    if (chance(0.3)) {
      callback.group = chance(0.5) ? "group" : "other";
    }
    if (chance(0.1)) {
      callback.publishes.push_back(id + "_too");
    }
    application_.callbacks.push_back(std::move(callback));
  }

  void add_timers() {
    const double common = period();
    const bool one_period = chance(0.4);
    const bool states = chance(0.4);
    for (int i = 0; i < timers_; ++i) {
      model::Timer timer{.period = ms(one_period ? common : period())};
      timer.offset_stated = states && chance(0.8);
      if (timer.offset_stated && chance(0.5)) {
        timer.offset = timer.period * between(0, 7) / 8;
      }
      if (timer.offset_stated && chance(0.3)) {
        timer.offset += timer.period * between(1, 9);
      }
      if (chance(0.15)) {
        timer.overrun = chance(0.5) ? model::OverrunPolicy::kSkip : model::OverrunPolicy::kRebase;
      }
      if (chance(0.15)) {
        add("t" + std::to_string(i),
            model::Event{
                .min_interval = timer.period, .max_interval = timer.period * 3, .depth = 10});
      } else if (chance(0.2)) {
        add("t" + std::to_string(i), jittered(timer.period));
      } else {
        add("t" + std::to_string(i), timer);
      }
    }
  }

  std::string some_topic() {
    const auto last = static_cast<int>(application_.callbacks.size()) - 1;
    const auto& topics =
        application_.callbacks[static_cast<std::size_t>(between(0, last))].publishes;
    return topics[static_cast<std::size_t>(between(0, static_cast<int>(topics.size()) - 1))];
  }

  /// Returns different topics, at most `most`.
  std::vector<std::string> some_topics(int most) {
    std::vector<std::string> topics{some_topic()};
    while (static_cast<int>(topics.size()) < most) {
      const std::string topic = some_topic();
      if (std::ranges::find(topics, topic) != topics.end()) {
        break;
      }
      topics.push_back(topic);
    }
    return topics;
  }

  void add_reader(int number) {
    const std::string id = "c" + std::to_string(number);
    const auto depth = static_cast<std::size_t>(chance(0.7) ? 10 : between(1, 4));
    if (chance(0.4)) {
      const auto topics = some_topics(chance(0.5) ? 2 : between(3, 4));
      if (topics.size() > 1) {
        add(id, model::Sync{.topics = topics, .window = ms(window()), .depth = depth});
        if (chance(0.3)) {
          add_routes(application_.callbacks.back(), topics.size());
        }
        return;
      }
    }
    const auto topics = some_topics(chance(0.6) ? 1 : between(2, 3));
    add(id, model::Subscription{.topics = topics, .depth = depth});
    if (topics.size() > 1 && chance(0.7)) {
      add_routes(application_.callbacks.back(), topics.size());
    }
    if (chance(0.1)) {
      application_.callbacks.back().overload =
          chance(0.5) ? model::Overload::kKeepLast : model::Overload::kSkipIfRunning;
    }
  }

  /// Adds one or two topics as routes; each answers at least one input.
  void add_routes(model::Callback& callback, std::size_t inputs) {
    for (int i = between(0, 2); i > 0; --i) {
      callback.publishes.push_back(callback.id + "_" + std::to_string(i));
    }
    callback.routes.resize(inputs);
    for (std::size_t output = 0; output < callback.publishes.size(); ++output) {
      add_to_routes(callback, output);
    }
  }
  void add_to_routes(model::Callback& callback, std::size_t output) {
    const auto one =
        static_cast<std::size_t>(between(0, static_cast<int>(callback.routes.size()) - 1));
    for (std::size_t input = 0; input < callback.routes.size(); ++input) {
      if (input == one || chance(0.2)) {
        callback.routes[input].push_back(output);
      }
    }
  }

  /// Adds a publisher of a topic that is read, before all callbacks that read it.
  void add_publisher() {
    const std::string topic = some_topic();
    auto& callbacks = application_.callbacks;
    const auto reads = [&](const model::Callback& callback) {
      const auto inputs = model::inputs(callback);
      return std::ranges::find(inputs, topic) != inputs.end();
    };
    const auto reader = std::ranges::find_if(callbacks, reads);
    if (reader == callbacks.begin() || reader == callbacks.end()) {
      return;
    }
    const auto before = static_cast<int>(reader - callbacks.begin()) - 1;
    auto& publisher = callbacks[static_cast<std::size_t>(between(0, before))];
    auto& publishes = publisher.publishes;
    if (std::ranges::find(publishes, topic) != publishes.end()) {
      return;
    }
    if (!publisher.routes.empty()) {
      publishes.push_back(topic);
      add_to_routes(publisher, publishes.size() - 1);
      return;
    }
    publishes.insert(chance(0.5) ? publishes.begin() : publishes.end(), topic);
  }

  void add_chain(int number) {
    model::Chain chain{.id = "chain" + std::to_string(number), .callbacks = {}};
    chain.callbacks.push_back(static_cast<std::size_t>(between(0, timers_ - 1)));
    while (chance(0.8)) {
      auto next = application_.successors(chain.callbacks.back());
      std::erase_if(next, [&](std::size_t callback) {  // to which the routes do not lead
        model::Chain longer = chain;
        longer.callbacks.push_back(callback);
        return application_.entries(longer).back().empty();
      });
      if (next.empty()) {
        break;
      }
      chain.callbacks.push_back(
          next[static_cast<std::size_t>(between(0, static_cast<int>(next.size()) - 1))]);
    }
    chain.priority = between(0, 5);
    chain.deadline = std::chrono::hours(1);  // only the bound is of interest
    application_.chains.push_back(std::move(chain));
  }

  model::Application application_;
  int timers_ = 0;
  bool coarse_ = false;
  bool heavy_ = false;
};

}  // namespace rclrt::analysis
