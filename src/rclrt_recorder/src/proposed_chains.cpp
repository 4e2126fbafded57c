// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/proposed_chains.hpp"

#include <algorithm>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::recorder {

namespace {

constexpr std::size_t kMostChains = 200;
constexpr std::size_t kMostSteps = 100'000;

std::vector<std::vector<std::size_t>> successors_of(const model::Application& application) {
  std::vector<std::vector<std::size_t>> result;
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    result.push_back(application.successors(i));
  }
  return result;
}

/// A depth-first search without recursion: a robot's graph may be deep.
class CycleSearch {
 public:
  explicit CycleSearch(const model::Application& application)
      : application_(application),
        next_(successors_of(application)),
        state_(next_.size(), State::kNew) {}

  std::optional<std::size_t> find() {
    // First from callbacks that take no messages, so that a cycle leads back to the found callback.
    for (const bool takes_messages : {false, true}) {
      for (std::size_t i = 0; i < state_.size(); ++i) {
        if (application_.callbacks[i].takes_messages() == takes_messages) {
          if (const auto found = search(i)) {
            return found;
          }
        }
      }
    }
    return std::nullopt;
  }

 private:
  enum class State { kNew, kOpen, kDone };

  std::optional<std::size_t> search(std::size_t root) {
    if (state_[root] != State::kNew) {
      return std::nullopt;
    }
    std::vector<std::pair<std::size_t, std::size_t>> path{{root, 0}};  // with the next to visit
    state_[root] = State::kOpen;
    while (!path.empty()) {
      auto& [callback, at] = path.back();
      if (at == next_[callback].size()) {
        state_[callback] = State::kDone;
        path.pop_back();
        continue;
      }
      const std::size_t next = next_[callback][at++];
      if (state_[next] == State::kOpen) {
        return next;
      }
      if (state_[next] == State::kNew) {
        state_[next] = State::kOpen;
        path.emplace_back(next, 0);
      }
    }
    return std::nullopt;
  }

  const model::Application& application_;
  const std::vector<std::vector<std::size_t>> next_;
  std::vector<State> state_;
};

/// Adds the paths from each source as chains.
class Ways {
 public:
  Ways(model::Application& application, const MaxAges& max_ages, bool with_sinks)
      : application_(application),
        max_ages_(max_ages),
        with_sinks_(with_sinks),
        next_(successors_of(application)),
        through_(next_.size(), 0) {
    for (const model::Chain& chain : application.chains) {
      count(chain.callbacks);
    }
  }

  bool add() {
    for (std::size_t i = 0; i < next_.size(); ++i) {
      const model::CallbackKind kind = application_.callbacks[i].kind();
      if (kind == model::CallbackKind::kTimer ||
          (with_sinks_ && kind == model::CallbackKind::kEvent)) {
        way_ = {i};
        go_on();
      }
    }
    return is_full_;
  }

 private:
  void go_on() {
    if (++steps_ > kMostSteps || application_.chains.size() >= kMostChains) {
      is_full_ = true;
      return;
    }
    const std::vector<std::size_t>& next = next_[way_.back()];
    if ((with_sinks_ && next.empty()) || max_ages_.contains(way_.back())) {
      add_way();
    }
    for (const std::size_t each : next) {
      if (std::ranges::find(way_, each) == way_.end()) {  // a recording's graph may have cycles
        way_.push_back(each);
        go_on();
        way_.pop_back();
      }
    }
  }

  void add_way() {
    const bool has_room = std::ranges::all_of(
        way_, [&](std::size_t each) { return through_[each] < ChainTokens::kCapacity; });
    if (!with_sinks_ && !has_room) {
      is_full_ = true;
      return;
    }
    model::Chain chain{.id = unique_id(), .callbacks = way_};
    const auto age = max_ages_.find(way_.back());
    chain.deadline = age != max_ages_.end() ? age->second : application_.period(chain);
    for (const std::size_t each : way_) {
      chain.priority = std::max(chain.priority, application_.callbacks[each].priority.value_or(0));
    }
    count(way_);
    application_.chains.push_back(std::move(chain));
  }

  void count(const std::vector<std::size_t>& way) {
    for (const std::size_t each : way) {
      ++through_.at(each);
    }
  }

  std::string unique_id() const {
    const std::string& first = application_.callbacks[way_.front()].id;
    const std::string& last = application_.callbacks[way_.back()].id;
    const bool spaced = first.find(' ') != std::string::npos;
    const std::string id = way_.size() == 1 ? first : first + (spaced ? " to " : "_to_") + last;
    std::string result = id;
    for (int number = 2; std::ranges::find(application_.chains, result, &model::Chain::id) !=
                         application_.chains.end();
         ++number) {
      result = id + (spaced ? " " : "_") + std::to_string(number);
    }
    return result;
  }

  model::Application& application_;
  const MaxAges& max_ages_;
  const bool with_sinks_;
  const std::vector<std::vector<std::size_t>> next_;
  std::vector<std::size_t> through_;  // number of chains through each callback
  std::vector<std::size_t> way_;
  std::size_t steps_ = 0;
  bool is_full_ = false;
};

}  // namespace

std::optional<std::size_t> find_cycle(const model::Application& application) {
  return CycleSearch(application).find();
}

bool add_proposed_chains(model::Application& application, const MaxAges& max_ages) {
  return Ways(application, max_ages, true).add();
}

bool add_age_chains(model::Application& application, const MaxAges& max_ages) {
  return Ways(application, max_ages, false).add();
}

}  // namespace rclrt::recorder
