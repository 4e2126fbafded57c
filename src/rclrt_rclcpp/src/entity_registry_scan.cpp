// SPDX-License-Identifier: Apache-2.0
// Finds entities for the registry, and gives them to the engine.
#include <algorithm>
#include <utility>

#include "entity_registry.hpp"
#include "rclrt_rclcpp/compat.hpp"
#include "tracing.hpp"

namespace rclrt_rclcpp {

namespace {

using rclrt::model::may_overload;

bool same_but_priority(const Timing& a, const Timing& b) {
  return a.deadline == b.deadline && a.max_age == b.max_age && a.overload == b.overload &&
         a.stamped_by == b.stamped_by;
}

rclcpp::SubscriptionBase::SharedPtr subscription_of(
    const rclcpp::SubscriptionBase::SharedPtr& subscription, const Key& /*owner*/) {
  return subscription;
}
/// Returns the subscription that owns an intra-process waitable.
rclcpp::SubscriptionBase::SharedPtr subscription_of(const rclcpp::Waitable::SharedPtr& /*waitable*/,
                                                    const Key& owner) {
  return std::static_pointer_cast<rclcpp::SubscriptionBase>(owner.lock());
}
rclcpp::SubscriptionBase::SharedPtr subscription_of(const std::shared_ptr<void>& /*other*/,
                                                    const Key& /*owner*/) {
  return nullptr;
}

std::optional<std::chrono::nanoseconds> period_of(const rclcpp::TimerBase::SharedPtr& timer) {
  return std::chrono::nanoseconds(period_ns(timer));
}
std::optional<std::chrono::nanoseconds> period_of(const std::shared_ptr<void>& /*entity*/) {
  return std::nullopt;
}

/// Returns the period of a timer that the place names; 0 for anything else.
template <typename Entity>
std::chrono::nanoseconds named_period(const Place& place, const std::shared_ptr<Entity>& entity) {
  return place.kind == "timer" ? period_of(entity).value_or(std::chrono::nanoseconds(0))
                               : std::chrono::nanoseconds(0);
}

bool is_exclusive(const rclcpp::CallbackGroup& group) {
  return group.type() == rclcpp::CallbackGroupType::MutuallyExclusive;
}

}  // namespace

/// Collects the entities of all groups into `found`. Called with the lock held. An error of one
/// group does not prevent the scan of the others. If the function throws, nothing has changed.
void Executor::EntityRegistry::collect(Found& found) {
  for (auto& [key, entry] : entries_) {
    entry.seen = false;
  }
  for (const auto& weak : groups_of_executor_()) {
    if (const auto group = weak.lock()) {
      try {
        see_group(group, found);
      } catch (...) {  // code of a user's waitable
        found.error = std::current_exception();
      }
    }
  }
  add_found(found);
  for (auto each = entries_.begin(); each != entries_.end();) {
    if (each->second.seen) {
      ++each;
    } else {
      drop(each->first, each->second);
      each = entries_.erase(each);
    }
  }
  erase_expired(groups_);
  erase_expired(refused_);
  timings_.erase_expired();
  names_.erase_expired();
}

/// Adds the found entities. Adds none of them if not all priorities fit.
void Executor::EntityRegistry::add_found(Found& found) {
  std::vector<int> levels;
  for (const Seen& each : found.entities) {
    levels.push_back(each.level);
  }
  bool fit = true;
  try {
    engine_->require_levels(std::move(levels));
  } catch (...) {
    found.error = std::current_exception();
    fit = false;
  }
  for (const Seen& each : found.entities) {
    if (!each.add) {
      continue;
    }
    try {
      if (fit) {
        each.add();
      }
    } catch (...) {
      found.error = found.error ? found.error : std::current_exception();
    }
    if (const auto entry = entries_.find(each.entity); entry != entries_.end()) {
      entry->second.seen = true;
    }
  }
}

Executor::EntityRegistry::GroupContext Executor::EntityRegistry::context_of(
    const rclcpp::CallbackGroup::SharedPtr& group) {
  GroupContext context;
  context.group = group;
  Group& entry = groups_[Key(group)];
  if (!entry.group) {
    entry.group =
        std::make_shared<engine::Group>(group->type() == rclcpp::CallbackGroupType::Reentrant
                                            ? engine::GroupType::kReentrant
                                            : engine::GroupType::kMutuallyExclusive);
  }
  context.entry = &entry;
  context.owner = names_.owner_of(group);
  context.elsewhere = !entry.closed && !group->can_be_taken_from().load();
  return context;
}

Executor::EntityRegistry::Members Executor::EntityRegistry::members_of(
    const rclcpp::CallbackGroup& group, Kept& kept) {
  Members members;
  const auto into = [](auto& list) { return [&list](const auto& each) { list.push_back(each); }; };
  group.collect_all_ptrs(into(members.subscriptions), into(members.services), into(members.clients),
                         into(members.timers), into(members.waitables));
  const auto keep = [&kept](const auto& list) {
    kept.insert(kept.end(), list.begin(), list.end());
  };
  keep(members.waitables);
  keep(members.subscriptions);
  keep(members.services);
  keep(members.clients);
  keep(members.timers);
  return members;
}

void Executor::EntityRegistry::see_group(const rclcpp::CallbackGroup::SharedPtr& group,
                                         Found& found) {
  GroupContext context = context_of(group);
  found.elsewhere = found.elsewhere || context.elsewhere;
  const Members members = members_of(*group, found.kept);
  found.kept.push_back(group);
  found.kept.push_back(context.owner.node);
  if (timings_.has_whole_groups()) {
    context.file_entries = timings_.whole_group_entries(described(members, context));
  }
  for (const auto& timer : members.timers) {
    see(timer, context, found, "timer", names_.number_of(timer, context.entry->timers));
  }
  for (const auto& each : members.subscriptions) {
    see(each, context, found, "subscription", each->get_topic_name());
  }
  for (const auto& each : members.services) {
    see(each, context, found, "service", each->get_service_name());
  }
  for (const auto& each : members.clients) {
    see(each, context, found, "client", each->get_service_name());
  }
  see_waitables(members, context, found);
}

/// Returns the callbacks of a group as a file can name them.
std::vector<Described> Executor::EntityRegistry::described(const Members& members,
                                                           const GroupContext& context) {
  std::vector<Described> result;
  const auto add = [&](const char* kind, const std::string& name,
                       std::chrono::nanoseconds period = {}) {
    result.push_back({{context.owner.node_name, kind, name, context.owner.index}, period});
  };
  for (const auto& timer : members.timers) {
    add("timer", names_.number_of(timer, context.entry->timers),
        std::chrono::nanoseconds(period_ns(timer)));
  }
  for (const auto& each : members.subscriptions) {
    add("subscription", each->get_topic_name());
  }
  for (const auto& each : members.services) {
    add("service", each->get_service_name());
  }
  for (const auto& each : members.clients) {
    add("client", each->get_service_name());
  }
  return result;
}

/// Scans the waitables of a group. Intra-process messages reach a subscription through a waitable.
/// Such a waitable gets the name and the timing of its subscription, because the two are one
/// callback for the user.
void Executor::EntityRegistry::see_waitables(const Members& members, const GroupContext& context,
                                             Found& found) {
  WeakMap<rclcpp::SubscriptionBase::SharedPtr> owners;
  for (const auto& each : members.subscriptions) {
    if (const auto waitable = each->get_intra_process_waitable()) {
      owners.emplace(Key(waitable), each);
    }
  }
  for (const auto& each : members.waitables) {
    if (const auto owner = owners.find(Key(each)); owner != owners.end()) {
      see(each, context, found, "subscription", owner->second->get_topic_name(),
          Key(owner->second));
      continue;
    }
    const std::string& name = names_.number_of(each, context.entry->waitables);
    see(each, context, found, "waitable", name);
    for (const auto& timer : compat::timers_of(*each)) {  // its own, not one of the user's
      found.kept.push_back(timer);
      see(timer, context, found, "waitable", name, Key(each));
    }
  }
}

template <typename Entity>
void Executor::EntityRegistry::see(const std::shared_ptr<Entity>& entity,
                                   const GroupContext& context, Found& found, const char* kind,
                                   const std::string& name, const Key& owner) {
  const Key key(entity);
  if (refused_.contains(key)) {
    return;
  }
  Place place{context.owner.node_name, kind, name, context.owner.index};
  const Timing timing =
      timings_.timing_of(owner.expired() ? key : owner, {place, named_period(place, entity)},
                         Key(context.group), context.file_entries, Key(context.owner.node));
  Seen& seen = found.entities.emplace_back(Seen{key, timing.priority.value_or(0), {}});
  if (!context.elsewhere) {
    seen.add = [this, entity, place = std::move(place), timing, context, owner, &found] {
      found.again = !add_entity(entity, place, timing, context, owner) || found.again;
    };
  }
}

/// Returns the facts about an entity for the observer.
template <typename Entity>
CallbackFacts Executor::EntityRegistry::facts_of(const std::shared_ptr<Entity>& entity,
                                                 const Place& place, const Timing& timing,
                                                 const GroupContext& context, const Key& owner) {
  const auto subscription = subscription_of(entity, owner);
  return {.node = place.node,
          .kind = place.kind,
          .name = place.name,
          .group = place.group,
          .period = period_of(entity),
          .depth = subscription ? subscription->get_actual_qos().depth() : 0,
          .is_exclusive = is_exclusive(*context.group),
          .timing = timing};
}

/// Adds an entity. Returns false if it must wait until removals have finished.
template <typename Entity>
bool Executor::EntityRegistry::add_entity(const std::shared_ptr<Entity>& entity, Place place,
                                          const Timing& timing, const GroupContext& context,
                                          const Key& owner) {
  const Key key(entity);
  const std::chrono::nanoseconds period = named_period(place, entity);
  if (const auto known = entries_.find(key); known != entries_.end()) {
    known->second.period = period;
    const int before = known->second.bound.callback->level();
    const bool stays = update_entry(known, std::move(place), timing);
    if (stays && known->second.bound.callback->level() != before) {
      trace_entity(*engine_, trace_handle(entity), *known->second.bound.callback);
    }
    return stays;
  }
  if (leaving_.contains(key)) {
    return false;
  }
  engine::CallbackOptions options{
      .name = to_string(place),
      .level = timing.priority.value_or(0),
      .overload = may_overload(place.kind) ? timing.overload.value_or(engine::Overload::kQueue)
                                           : engine::Overload::kQueue,
      .group = context.entry->group,
      .deadline_ns =
          timing.max_age.value_or(timing.deadline.value_or(std::chrono::nanoseconds(0))).count()};
  if (observer_) {
    options.number = observer_->number(facts_of(entity, place, timing, context, owner));
  }
  const std::uint32_t number = options.number;
  const bool has_deadline = options.deadline_ns > 0;
  Entry entry{bind_entity(entity, std::move(options)), std::move(place), timing, context.group};
  entry.period = period;
  if (has_deadline && measures_) {
    entry.bound.listener->measure();
  }
  if (observer_) {
    entry.bound.listener->notify_of_messages(*observer_);
  }
  set_age(entity, entry, context, owner);
  engine_->add(entry.bound.callback);
  try {
    entry.bound.listener->listen();
  } catch (const std::exception& error) {
    // An entity that cannot announce its work, such as a waitable that only supports wait sets, is
    // never run. All other entities are.
    RCLCPP_ERROR(rclcpp::get_logger("rclrt_rclcpp"),
                 "the callback %s cannot be run by this executor: %s",
                 to_string(entry.place).c_str(), error.what());
    refused_.emplace(key, true);
    drop(key, entry);
    return true;
  }
  if (observer_) {
    observer_->on_added(number, entry.bound.callback, entry.bound.listener);
  }
  trace_entity(*engine_, trace_handle(entity), *entry.bound.callback);
  entries_.emplace(key, std::move(entry));
  return true;
}

/// Lets the entity count from stamps, and share the origin of its data.
template <typename Entity>
void Executor::EntityRegistry::set_age(const std::shared_ptr<Entity>& entity, Entry& entry,
                                       const GroupContext& context, const Key& owner) {
  Listener& listener = *entry.bound.listener;
  const bool shares_origins = origins_ && context.owner.node;
  if (shares_origins) {
    listener.share_origins(origins_->writer(entry.place.node));
  }
  if (std::is_same_v<Entity, rclcpp::TimerBase> && entry.timing.max_age) {
    listener.limit_sampled_age();
  }
  const auto subscription = subscription_of(entity, owner);
  if (!subscription) {
    return;
  }
  auto origins = shares_origins ? origins_->reader(entry.place.name, context.owner.node) : nullptr;
  if (entry.timing.stamped_by) {
    entry.ends = std::make_shared<StampedEnds>();
    listener.note_ends(entry.ends);
    listener.count_from_stamp(*subscription, {.origins = std::move(origins), .is_noted = true});
  } else if (entry.timing.max_age) {
    listener.count_from_stamp(*subscription, {.is_limited = true, .origins = std::move(origins)});
  } else if constexpr (std::is_same_v<Entity, rclcpp::SubscriptionBase>) {
    entry.origins = std::move(origins);
  }
}

template <typename Entity>
Bound Executor::EntityRegistry::bind_entity(const std::shared_ptr<Entity>& entity,
                                            engine::CallbackOptions options) {
  if constexpr (std::is_same_v<Entity, rclcpp::TimerBase>) {
    return bind(entity, std::move(options), changes_, *engine_, clocks_);
  } else {
    return bind(entity, std::move(options), changes_);
  }
}

/// Updates an entry. Returns false if a new entry must replace it.
bool Executor::EntityRegistry::update_entry(Entries::iterator known, Place place,
                                            const Timing& timing) {
  Entry& entry = known->second;
  const int priority = timing.priority.value_or(0);
  if (entry.timing.priority.value_or(0) != priority) {
    engine_->set_level(entry.bound.callback, priority);
  }
  if (same_but_priority(entry.timing, timing)) {
    entry.timing = timing;
    entry.place = std::move(place);
    return true;
  }
  // The deadline and the overload policy of an engine callback cannot change. So this callback is
  // removed and a new one replaces it, after its waiting work was stored for the new one.
  drop(known->first, entry);
  entries_.erase(known);
  return false;
}

}  // namespace rclrt_rclcpp
