// SPDX-License-Identifier: Apache-2.0
// How the thread of a static order chooses. As in rclrt_executor, a set is one instance of each
// entity that has one, once the trigger condition holds.
#include <algorithm>
#include <utility>

#include "simulation/engine.hpp"

namespace rclrt::analysis::detail {

/// Gives the executor's entities (inputs of callbacks) their ranks, in the order in which a set
/// runs them. All inputs of one service have the same rank.
void SimulationEngine::rank_in_order(Id executor) {
  int rank = 0;
  for (const Id entity : by_level(executor)) {
    const Callback& callback = callbacks_[entities_[entity].callback];
    const Id first = callback.entities.front();
    const auto* const message = std::get_if<MessageTrigger>(&callback.stated->trigger);
    const bool shares = message != nullptr && message->one_queue && entity != first;
    entities_[entity].rank = shares ? entities_[first].rank : --rank;
  }
}

bool SimulationEngine::is_triggered(const SimulatedLane& lane) const {
  const Executor& executor = executors_[lane.executor];
  const auto waits = [&](const auto& wanted) {
    return std::any_of(lane.waiting.begin() + static_cast<std::ptrdiff_t>(lane.first),
                       lane.waiting.end(), [&](const SimulatedLane::Waiting& each) {
                         return wanted(instances_[each.instance].entity);
                       });
  };
  const auto is_own = [&](Id callback) { return callbacks_[callback].executor == lane.executor; };
  const auto& wanted = executor.stated->trigger_callback;
  if (executor.stated->choice.trigger == model::SetTrigger::kCallback && wanted &&
      is_own(static_cast<Id>(*wanted))) {
    return waits([&](Id entity) { return entities_[entity].callback == *wanted; });
  }
  if (executor.stated->choice.trigger != model::SetTrigger::kAll) {
    return !lane.empty();
  }
  bool has_topics = false;
  for (Id entity = 0; entity < entities_.size(); ++entity) {
    const Id callback = entities_[entity].callback;
    if (!is_own(callback) || callbacks_[callback].stated->role != model::Role::kTopic) {
      continue;
    }
    has_topics = true;
    if (!waits([&](Id waiting) { return waiting == entity; })) {
      return false;
    }
  }
  // Without timers and subscriptions, the executor starts a set when anything is ready.
  return has_topics || !lane.empty();
}

/// Makes a set of the waiting instances if the trigger condition holds.
bool SimulationEngine::form_set(SimulatedLane& lane) {
  collect(lane);
  if (!is_triggered(lane)) {
    return false;
  }
  lane.set.clear();
  lane.set_next = 0;
  std::vector<SimulatedLane::Waiting> rest;
  std::optional<int> last;
  for (std::size_t i = lane.first; i < lane.waiting.size(); ++i) {
    const SimulatedLane::Waiting& each = lane.waiting[i];
    if (last == each.rank) {
      rest.push_back(each);
    } else {
      last = each.rank;
      lane.set.push_back(each.instance);
    }
  }
  lane.waiting = std::move(rest);
  lane.first = 0;
  if (!executors_[lane.executor].stated->choice.logical_execution_time) {
    return true;
  }
  for (const Id id : lane.set) {
    Entity& entity = entities_[instances_[id].entity];
    const SimulatedCallback& stated = *callbacks_[entity.callback].stated;
    give_credit_back(instances_[id]);
    if (stated.role == model::Role::kTopic &&
        !std::holds_alternative<TimerTrigger>(stated.trigger)) {
      entity.read = take_message(entity);
      entity.is_read = true;
    }
  }
  return true;
}

void SimulationEngine::pick_from_set(Id thread) {
  const Id index = threads_[thread].lane;
  SimulatedLane& lane = lanes_[index];
  if (lane.set_next == lane.set.size() && !form_set(lane)) {
    threads_.sleep(thread);
    arm(index);
    return;
  }
  const Id instance = lane.set[lane.set_next++];
  enter(thread, instance);  // groups of this executor are always free
  begin(thread, instance);
}

constinit const SimulationEngine::Kind SimulationEngine::kStaticOrder{
    .lanes = Lanes::kShared,
    .complete = &SimulationEngine::rank_in_order,
    .pick = &SimulationEngine::pick_from_set,
};

}  // namespace rclrt::analysis::detail
