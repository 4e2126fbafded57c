// SPDX-License-Identifier: Apache-2.0
// Random applications in which chains meet in synchronisers of several inputs, one behind another.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "application_builder.hpp"
#include "random_graph.hpp"

namespace rclrt::analysis {

/// Makes chains that meet in up to three synchronisers of two to four inputs. Most windows are
/// longer than all periods, so that sets take messages that have waited. The periods are equal or
/// not, the offsets stated or not, the depths short or not, and some callbacks are slow, so that
/// messages arrive late and several at a time.
class RandomSyncs : public RandomGraph {
 public:
  using RandomGraph::RandomGraph;

  model::Application make_syncs() {
    Builder builder;
    ways_.clear();
    load_ = uniform(0.1, 0.9);
    add_sources(builder);
    for (int i = 0; i < between(1, 3); ++i) {
      meet(builder, "sync" + std::to_string(i));
    }
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      builder.chain("chain" + std::to_string(i), ways_[i], between(0, 4));
    }
    model::Application application = builder.done();
    for (model::Callback& callback : application.callbacks) {
      change(callback);
    }
    for (model::Chain& chain : application.chains) {
      chain.deadline = std::chrono::hours(1);  // only the bound is of interest
    }
    return application;
  }

 private:
  void add_sources(Builder& builder) {
    constexpr std::array kPeriods{4.0, 5.0, 8.0, 10.0, 12.0, 20.0, 40.0};
    const auto draw = [&] { return kPeriods.at(static_cast<std::size_t>(between(0, 6))); };
    const double common = draw();
    const bool one_period = chance(0.5);
    const int sources = between(2, 5);
    states_ = chance(0.4);
    has_events_ = chance(0.3);
    for (int i = 0; i < sources; ++i) {
      const double period = one_period ? common : draw();
      const double work = uniform(0, 2) * period * load_ / sources;
      const int length = between(0, 2);
      std::string last = "t" + std::to_string(i);
      builder.timer(last, period, work / (length + 1));
      more(builder);
      ways_.push_back({last});
      for (int n = 0; n < length; ++n) {
        const std::string next = last + "_";
        builder.subscription(next, last, work / (length + 1));
        more(builder);
        ways_.back().push_back(next);
        last = next;
      }
    }
  }

  /// Adds a synchroniser of the ends of some chains, which all go on behind it.
  void meet(Builder& builder, const std::string& id) {
    std::vector<std::size_t> chosen;
    std::vector<std::string> topics;
    const int inputs = between(2, 4);
    for (int tries = 0; tries < 8 && static_cast<int>(topics.size()) < inputs; ++tries) {
      const auto way = static_cast<std::size_t>(between(0, static_cast<int>(ways_.size()) - 1));
      const std::string& topic = ways_[way].back();
      if (std::ranges::find(topics, topic) == topics.end()) {
        topics.push_back(topic);
      }
    }
    if (topics.size() < 2) {
      return;
    }
    constexpr std::array kWindows{3.0, 12.0, 45.0, 1000.0, 1000.0, 1000.0};
    builder.sync(id, topics, chance(0.3) ? 0 : 0.1,
                 kWindows.at(static_cast<std::size_t>(between(0, 5))));
    more(builder);
    const bool goes_on = chance(0.5);
    if (goes_on) {
      builder.subscription(id + "_", id, 0.1);
      more(builder);
    }
    for (auto& way : ways_) {
      if (std::ranges::find(topics, way.back()) != topics.end()) {
        way.push_back(id);
        if (goes_on) {
          way.push_back(id + "_");
        }
      }
    }
  }

  void more(Builder& builder) {
    if (chance(0.3)) {
      builder.priority(between(0, 5));
    }
    if (chance(0.1)) {
      builder.group("group");
    }
  }

  /// States an offset of a timer, makes it an event, or draws the depth of a synchroniser.
  void change(model::Callback& callback) {
    if (auto* sync = std::get_if<model::Sync>(&callback.trigger)) {
      sync->depth = static_cast<std::size_t>(chance(0.5) ? 10 : between(1, 4));
    }
    auto* timer = std::get_if<model::Timer>(&callback.trigger);
    if (timer == nullptr) {
      return;
    }
    timer->offset_stated = states_ && chance(0.9);
    if (timer->offset_stated) {
      timer->offset = timer->period * between(0, 15) / 16;
    } else if (has_events_ && chance(0.5)) {
      callback.trigger = model::Event{
          .min_interval = timer->period, .max_interval = timer->period * 3, .depth = 10};
    }
  }

  std::vector<std::vector<std::string>> ways_;  // the callbacks of each chain
  double load_ = 0;
  bool states_ = false;
  bool has_events_ = false;
};

}  // namespace rclrt::analysis
