// SPDX-License-Identifier: Apache-2.0
#include "entity_registry.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "compat.hpp"
#include "rclrt/yaml/file.hpp"

namespace rclrt_rclcpp {

namespace {

using rclrt::model::may_overload;

std::vector<rclrt::model::NodeTiming> read(const std::filesystem::path& file) {
  try {
    return file.empty() ? std::vector<rclrt::model::NodeTiming>()
                        : rclrt::model::load_node_timings(file);
  } catch (const rclrt::yaml::FileError& error) {
    throw std::invalid_argument(error.what());
  }
}

bool same_but_priority(const Timing& a, const Timing& b) {
  return a.deadline == b.deadline && a.overload == b.overload;
}

/// The group that rclcpp makes in a node for /clock, at different times with simulated time and
/// without: it is not counted, so that the numbers of the node's own groups stay the same.
bool is_of_clock(const rclcpp::CallbackGroup& group) {
  if (group.automatically_add_to_executor_with_node()) {
    return false;
  }
  const auto any = [](const auto&) { return true; };
  const auto is_clock = [](const rclcpp::SubscriptionBase::SharedPtr& each) {
    return std::string_view(each->get_topic_name()) == "/clock";
  };
  return group.find_subscription_ptrs_if(is_clock) != nullptr &&
         group.find_subscription_ptrs_if([&](const auto& each) { return !is_clock(each); }) ==
             nullptr &&
         group.find_timer_ptrs_if(any) == nullptr && group.find_service_ptrs_if(any) == nullptr &&
         group.find_client_ptrs_if(any) == nullptr;
}

Trigger trigger_of(const rclcpp::TimerBase::SharedPtr& timer, const std::string& /*name*/) {
  return rclrt::model::Timer{.period = std::chrono::nanoseconds(period_ns(timer))};
}
Trigger trigger_of(const std::shared_ptr<void>& /*entity*/, const std::string& name) {
  return rclrt::model::Subscription{.topic = name};
}

}  // namespace

Executor::EntityRegistry::EntityRegistry(const Options& options,
                                         std::unique_ptr<engine::Executor> engine, Groups groups,
                                         rclcpp::Context::SharedPtr context,
                                         std::unique_ptr<Recording::Impl::Part> part)
    : part_(std::move(part)),
      engine_(std::move(engine)),
      groups_of_executor_(std::move(groups)),
      context_(std::move(context)),
      file_(options.priorities),
      stated_(read(options.priorities)),
      clocks_(*engine_, gate_) {
  engine_->prepare();
  if (part_) {
    part_->known(*engine_);
  }
  thread_ = rclrt::realtime::Thread({.name = options.engine.name + " maint", .scheduling = {}},
                                    [this] { maintenance_loop(); });
}

Executor::EntityRegistry::~EntityRegistry() {
  stop_.store(true);
  changes_.bell().notify_all();
  thread_.join();
  if (part_) {
    part_->leave();
  }
  {
    const std::scoped_lock lock(mutex_);
    for (auto& [key, entry] : entries_) {
      drop(key, entry);
    }
    entries_.clear();
  }
  finish_leaving(Wait::kUntilNothingRuns);
}

void Executor::EntityRegistry::refresh_if_noted() {
  if (changes_.noted()) {
    refresh();
  }
}

void Executor::EntityRegistry::refresh(Wait wait, const Change* change) {
  std::exception_ptr refused;
  for (bool first = true, again = true; again; first = false) {
    bool taken_back = false;
    bool elsewhere = false;
    {
      Found found;  // ends without the lock, and before anybody waits
      const std::scoped_lock lock(mutex_);
      if (first && change != nullptr) {
        change->make();
      }
      changes_.take();  // before the look: what changes from here on is looked at again
      try {
        collect(found);
      } catch (...) {  // rclcpp's, at a shutdown or when two executors add one group
        found.error = std::current_exception();
      }
      if (found.error && !refused && change != nullptr && change->take_back) {
        refused = found.error;
        change->take_back();
        taken_back = true;
        wait = Wait::kUntilNothingRuns;  // of what came in with it
      } else if (found.error) {
        fail(found.error);
      }
      again = found.again;
      elsewhere = found.elsewhere;
    }
    const bool all_left = finish_leaving(wait);
    if (!all_left || elsewhere) {
      again = false;
      unfinished_.store(true);
      changes_.bell().notify_one();
    }
    again = again || taken_back;
  }
  if (refused) {
    std::rethrow_exception(refused);
  }
}

/// With the lock held. Whatever goes wrong with one entity, all are looked at; if it throws,
/// nothing has changed.
void Executor::EntityRegistry::collect(Found& found) {
  for (auto& [key, entry] : entries_) {
    entry.seen = false;
  }
  for (const auto& weak : groups_of_executor_()) {
    if (const auto group = weak.lock()) {
      try {
        see_group(group, found);
      } catch (...) {  // a waitable's own code
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
  const auto expired = [](const auto& each) { return each.first.expired(); };
  std::erase_if(groups_, expired);
  std::erase_if(timings_, expired);
  std::erase_if(indices_, expired);
  std::erase_if(groups_of_nodes_, expired);
  std::erase_if(refused_, expired);
  std::erase_if(nodes_, [](const auto& each) { return each.expired(); });
}

/// Nothing new, if the priorities of all do not fit.
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
  for (const auto& weak : nodes_) {
    const auto node = weak.lock();
    if (const auto index = node ? index_in(node, group) : std::nullopt) {
      context.node = node;
      context.node_name = node->get_fully_qualified_name();
      context.index = *index;
    }
  }
  return context;
}

/// Its place among the groups that the node has or had, but for those of /clock.
std::optional<std::size_t> Executor::EntityRegistry::index_in(
    const std::shared_ptr<Node>& node, const rclcpp::CallbackGroup::SharedPtr& group) {
  std::vector<GroupOfNode>& known = groups_of_nodes_[Key(node)];
  node->for_each_callback_group([&](const rclcpp::CallbackGroup::SharedPtr& each) {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const auto& other) { return other.group.lock() == each; });
    GroupOfNode& entry = found != known.end() ? *found : known.emplace_back(each, false);
    entry.is_of_clock = is_of_clock(*each);
  });
  std::size_t index = 0;
  for (const GroupOfNode& each : known) {
    if (each.group.lock() == group) {
      return index;
    }
    index += each.is_of_clock ? 0 : 1;
  }
  return std::nullopt;
}

void Executor::EntityRegistry::see_group(const rclcpp::CallbackGroup::SharedPtr& group,
                                         Found& found) {
  GroupContext context = context_of(group);
  context.elsewhere = !context.entry->closed && !group->can_be_taken_from().load();
  found.elsewhere = found.elsewhere || context.elsewhere;
  // First all of it, for the group's own lock is held meanwhile.
  std::vector<rclcpp::SubscriptionBase::SharedPtr> subscriptions;
  std::vector<rclcpp::ServiceBase::SharedPtr> services;
  std::vector<rclcpp::ClientBase::SharedPtr> clients;
  std::vector<rclcpp::TimerBase::SharedPtr> timers;
  std::vector<rclcpp::Waitable::SharedPtr> waitables;
  group->collect_all_ptrs([&](const auto& each) { subscriptions.push_back(each); },
                          [&](const auto& each) { services.push_back(each); },
                          [&](const auto& each) { clients.push_back(each); },
                          [&](const auto& each) { timers.push_back(each); },
                          [&](const auto& each) { waitables.push_back(each); });
  Kept& kept = found.kept;
  kept.insert(kept.end(), waitables.begin(), waitables.end());
  kept.insert(kept.end(), subscriptions.begin(), subscriptions.end());
  kept.insert(kept.end(), services.begin(), services.end());
  kept.insert(kept.end(), clients.begin(), clients.end());
  kept.insert(kept.end(), timers.begin(), timers.end());
  kept.push_back(group);
  kept.push_back(context.node);
  // What comes within the process reaches a subscription through a waitable: to the user, and to a
  // priorities file, the two are one.
  WeakMap<rclcpp::SubscriptionBase::SharedPtr> owners;
  for (const auto& each : subscriptions) {
    if (const auto waitable = each->get_intra_process_waitable()) {
      owners.emplace(Key(waitable), each);
    }
  }
  for (const auto& timer : timers) {
    see(timer, context, found, "timer", index_of(timer, context.entry->timers));
  }
  for (const auto& each : subscriptions) {
    see(each, context, found, "subscription", each->get_topic_name());
  }
  for (const auto& each : services) {
    see(each, context, found, "service", each->get_service_name());
  }
  for (const auto& each : clients) {
    see(each, context, found, "client", each->get_service_name());
  }
  for (const auto& each : waitables) {
    if (const auto owner = owners.find(Key(each)); owner != owners.end()) {
      see(each, context, found, "subscription", owner->second->get_topic_name(),
          Key(owner->second));
      continue;
    }
    const std::string& name = index_of(each, context.entry->waitables);
    see(each, context, found, "waitable", name);
    for (const auto& timer : compat::timers_of(*each)) {  // its own, not one of the user's
      kept.push_back(timer);
      see(timer, context, found, "waitable", name, Key(each));
    }
  }
}

/// What has no name is called by the order in which its group got it, for as long as it exists.
const std::string& Executor::EntityRegistry::index_of(const Key& entity, std::size_t& next) {
  const auto [found, fresh] = indices_.try_emplace(entity);
  if (fresh) {
    found->second = std::to_string(next++);
  }
  return found->second;
}

template <typename Entity>
void Executor::EntityRegistry::see(const std::shared_ptr<Entity>& entity,
                                   const GroupContext& context, Found& found, const char* kind,
                                   const std::string& name, const Key& owner) {
  const Key key(entity);
  if (refused_.contains(key)) {
    return;
  }
  Place place{context.node_name, kind, name, context.index};
  const Timing timing =
      timing_of(owner.expired() ? key : owner, place, context.group, context.node);
  Seen& seen = found.entities.emplace_back(Seen{key, timing.priority.value_or(0), {}});
  if (!context.elsewhere) {
    seen.add = [this, entity, place = std::move(place), timing, context, &found] {
      found.again = !add_entity(entity, place, timing, context) || found.again;
    };
  }
}

/// False: when what leaves has left.
template <typename Entity>
bool Executor::EntityRegistry::add_entity(const std::shared_ptr<Entity>& entity, Place place,
                                          const Timing& timing, const GroupContext& context) {
  const Key key(entity);
  const int priority = timing.priority.value_or(0);
  if (const auto known = entries_.find(key); known != entries_.end()) {
    Entry& entry = known->second;
    if (entry.timing.priority.value_or(0) != priority) {
      engine_->set_level(entry.bound.callback, priority);
    }
    if (same_but_priority(entry.timing, timing)) {
      entry.timing = timing;
      entry.place = std::move(place);
      return true;
    }
    // The engine's callbacks keep their deadline and overload policy: another one takes its place,
    // when this one has left behind what waits.
    drop(key, entry);
    entries_.erase(known);
    return false;
  }
  if (is_leaving(key)) {
    return false;
  }
  engine::CallbackOptions options{
      .name = to_string(place),
      .level = priority,
      .overload = may_overload(place.kind) ? timing.overload.value_or(engine::Overload::kQueue)
                                           : engine::Overload::kQueue,
      .group = context.entry->group,
      .deadline_ns = timing.deadline.value_or(std::chrono::nanoseconds(0)).count()};
  if (part_) {
    options.number = part_->number(place, trigger_of(entity, place.name));
  }
  const std::uint32_t number = options.number;
  Entry entry;
  if constexpr (std::is_same_v<Entity, rclcpp::TimerBase>) {
    entry.bound = bind(entity, std::move(options), changes_, *engine_, clocks_);
  } else {
    entry.bound = bind(entity, std::move(options), changes_);
  }
  entry.place = std::move(place);
  entry.timing = timing;
  entry.group = context.group;
  engine_->add(entry.bound.callback);
  try {
    entry.bound.listener->listen();
  } catch (const std::exception& error) {
    // One that cannot tell of its work, such as a waitable for wait sets only, is never run; the
    // others are.
    RCLCPP_ERROR(rclcpp::get_logger("rclrt_rclcpp"), "%s is not run: %s",
                 to_string(entry.place).c_str(), error.what());
    refused_.emplace(key, true);
    drop(key, entry);
    return true;
  }
  if (part_) {
    part_->add(number, entry.bound);
  }
  entries_.emplace(key, std::move(entry));
  return true;
}

void Executor::EntityRegistry::know_node(const std::shared_ptr<Node>& node) {
  const std::scoped_lock lock(mutex_);
  if (node && std::none_of(nodes_.begin(), nodes_.end(),
                           [&](const auto& each) { return each.lock() == node; })) {
    nodes_.push_back(node);
  }
}

}  // namespace rclrt_rclcpp
