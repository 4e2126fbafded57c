// SPDX-License-Identifier: Apache-2.0
// Builds small applications in the tests that use them. Times are in milliseconds.
#pragma once

#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rclrt/model/application.hpp"
#include "rclrt/model/parse.hpp"

namespace rclrt::analysis {

inline std::chrono::nanoseconds ms(double time) {
  return std::chrono::nanoseconds(std::llround(time * 1e6));
}

/// One node on one executor with one CPU; each callback publishes the topic of its own name.
class Builder {
 public:
  Builder() {
    application_.name = "test";
    application_.executors = {{.name = "main", .cpus = {0}}};
    application_.nodes = {{.name = "node", .name_space = "/", .executor = 0}};
  }
  Builder& timer(const std::string& id, double period, double wcet) {
    return add(id, model::Timer{.period = ms(period)}, wcet);
  }
  Builder& subscription(const std::string& id, const std::string& topic, double wcet) {
    return add(id, model::Subscription{.topics = {topic}, .depth = 10}, wcet);
  }
  Builder& sync(const std::string& id, const std::string& a, const std::string& b, double wcet,
                double window = 1000) {
    return sync(id, {a, b}, wcet, window);
  }
  Builder& sync(const std::string& id, const std::vector<std::string>& topics, double wcet,
                double window = 1000) {
    return add(id, model::Sync{.topics = topics, .window = ms(window), .depth = 10}, wcet);
  }
  /// Adds a subscription of several topics that answers each on the topic "id/topic".
  Builder& shared(const std::string& id, const std::vector<std::string>& topics, double wcet) {
    add(id, model::Subscription{.topics = topics, .depth = 10}, wcet);
    model::Callback& callback = application_.callbacks.back();
    callback.publishes.clear();
    for (const std::string& topic : topics) {
      callback.routes.push_back({callback.publishes.size()});
      callback.publishes.push_back(id + "/" + topic);
    }
    return *this;
  }
  /// Makes the last callback also publish this topic.
  Builder& publishes(const std::string& topic) {
    application_.callbacks.back().publishes.push_back(topic);
    return *this;
  }
  Builder& group(const std::string& name) {
    application_.callbacks.back().group = name;
    return *this;
  }
  Builder& priority(int value) {
    application_.callbacks.back().priority = value;
    return *this;
  }
  Builder& chain(const std::string& id, const std::vector<std::string>& callbacks, int priority,
                 std::optional<double> deadline = {}) {
    model::Chain chain{.id = id, .callbacks = {}, .priority = priority};
    for (const std::string& name : callbacks) {
      chain.callbacks.push_back(index(name));
    }
    chain.deadline = deadline ? ms(*deadline) : application_.period(chain);
    application_.chains.push_back(chain);
    return *this;
  }
  std::size_t index(const std::string& id) const {
    for (std::size_t i = 0; i < application_.callbacks.size(); ++i) {
      if (application_.callbacks[i].id == id) {
        return i;
      }
    }
    throw std::out_of_range(id);
  }
  const model::Application& done() const { return application_; }

 private:
  template <typename Trigger>
  Builder& add(const std::string& id, Trigger trigger, double wcet) {
    model::Callback callback;
    callback.id = id;
    callback.trigger = std::move(trigger);
    callback.wcet = ms(wcet);
    callback.publishes = {id};
    application_.callbacks.push_back(std::move(callback));
    return *this;
  }

  model::Application application_;
};

inline void set_offset(model::Application& application, std::size_t timer, double offset) {
  auto& trigger = std::get<model::Timer>(application.callbacks[timer].trigger);
  trigger.offset = ms(offset);
  trigger.offset_stated = true;
}

/// One chain of one timer: 2 ms each 10 ms.
inline model::Application control_loop() {
  return Builder().timer("loop", 10, 2).chain("control", {"loop"}, 1).done();
}

inline model::Application example(const std::string& name) {
  return model::load_application(std::string(RCLRT_EXAMPLES_DIR) + "/" + name + "/app.yaml");
}

}  // namespace rclrt::analysis
