// SPDX-License-Identifier: Apache-2.0
#include "input_callbacks.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "rclrt/model/services.hpp"

namespace rclrt::analysis::detail {
namespace {

bool has_several_topics(const model::Callback& callback) {
  const auto* subscription = std::get_if<model::Subscription>(&callback.trigger);
  return subscription != nullptr && subscription->topics.size() > 1;
}

/// Returns the part of a callback with several topics that takes one of them.
model::Callback part_of(const model::Callback& callback, std::size_t input) {
  model::Callback part = callback;
  auto& subscription = std::get<model::Subscription>(part.trigger);
  subscription.topics = {subscription.topics[input]};
  part.routes.clear();
  part.publishes.clear();
  for (std::size_t output = 0; output < callback.publishes.size(); ++output) {
    if (callback.sends(input, output)) {
      part.publishes.push_back(callback.publishes[output]);
    }
  }
  if (!part.group) {
    part.group = "topics of " + callback.id;  // no group of a file has blanks in its name
  }
  return part;
}

}  // namespace

InputCallbacks::InputCallbacks(const model::Application& application, Priority priority)
    : application_(application) {
  if (std::ranges::none_of(application.callbacks, has_several_topics)) {
    return;
  }
  parts_ = application;
  parts_->callbacks.clear();
  parts_->chains.clear();
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    add(i, priority);
  }
  for (const model::Chain& chain : application.chains) {
    add(chain);
  }
}

void InputCallbacks::add(std::size_t callback, Priority priority) {
  const model::Callback& whole = application_.callbacks[callback];
  first_.push_back(whole_.size());
  const std::size_t count = has_several_topics(whole) ? model::inputs(whole).size() : 1;
  for (std::size_t input = 0; input < count; ++input) {
    parts_->callbacks.push_back(count > 1 ? part_of(whole, input) : whole);
    if (count > 1 && priority == Priority::kEffective) {
      parts_->callbacks.back().priority = application_.effective_priority(callback);
    }
    whole_.push_back(callback);
  }
}

void InputCallbacks::add(const model::Chain& chain) {
  const auto entries = application_.entries(chain);
  model::Chain& own = parts_->chains.emplace_back(chain);
  for (std::size_t n = 0; n < own.callbacks.size(); ++n) {
    const std::size_t callback = chain.callbacks[n];
    own.callbacks[n] = first_.at(callback);
    if (has_several_topics(application_.callbacks[callback]) && !entries[n].empty()) {
      own.callbacks[n] += entries[n].front();
    }
  }
}

void InputCallbacks::copy_times() {
  for (std::size_t part = 0; part < whole_.size(); ++part) {
    copy_times_of(application_.callbacks[whole_[part]], parts_->callbacks[part]);
  }
}

void copy_times_of(const model::Callback& callback, model::Callback& copy) {
  copy.wcet = callback.wcet;
  copy.waits = callback.waits;
  if (!callback.takes_messages()) {
    copy.trigger = callback.trigger;
  }
}

bool share_queue(const model::Callback& a, const model::Callback& b) {
  return &a == &b || (a.id == b.id && model::role_of(a) == model::Role::kService);
}

}  // namespace rclrt::analysis::detail
