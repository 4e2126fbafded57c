// SPDX-License-Identifier: Apache-2.0
#include "entity_registry.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "publisher_topics.hpp"

namespace rclrt_rclcpp {

Executor::EntityRegistry::EntityRegistry(const Options& options,
                                         std::unique_ptr<engine::Executor> engine, Groups groups,
                                         rclcpp::Context::SharedPtr context,
                                         std::unique_ptr<ExecutorObserver> observer)
    : observer_(std::move(observer)),
      engine_(std::move(engine)),
      measures_(options.measure_responses),
      origins_(options.origins ? options.origins(context->get_domain_id(), changes_) : nullptr),
      groups_of_executor_(std::move(groups)),
      context_(std::move(context)),
      clocks_(*engine_, gate_),
      leaving_(mutex_, *engine_),
      timings_(options.priorities, options.process) {
  engine_->prepare();
  keep_levels(options.levels);
  if (observer_) {
    observer_->on_engine_start(*engine_);
  }
  maintenance_ = std::make_unique<MaintenanceThread>(
      options.engine.name + " maint", changes_, gate_,
      MaintenanceThread::Tasks{.refresh = [this] { refresh_if_noted(); },
                               .scan =
                                   [this] {
                                     scan_publishers();
                                     note_publications();
                                     // spin_some runs callbacks on the thread that calls it, which
                                     // cannot search for stalls meanwhile. So the maintenance
                                     // thread does.
                                     engine_->report_stalls();
                                   },
                               .scan_publishers = [this] { scan_publishers(); },
                               .each_second =
                                   [this] {
                                     if (observer_) {
                                       observer_->on_second();
                                     }
                                   }});
}

/// Registers a callback at each level: a level stays in use once a callback has had it.
void Executor::EntityRegistry::keep_levels(const std::vector<int>& levels) {
  struct Nothing final : engine::Callback {
    using Callback::Callback;
    engine::Outcome run(engine::InstanceInfo& /*info*/) override { return engine::Outcome::kEmpty; }
  };
  engine_->require_levels(levels);
  for (const int level : levels) {
    const auto nothing = std::make_shared<Nothing>(
        engine::CallbackOptions{.name = "level " + std::to_string(level), .level = level});
    engine_->add(nothing);
    engine_->remove(nothing);
  }
}

Executor::EntityRegistry::~EntityRegistry() {
  maintenance_.reset();
  if (observer_) {
    observer_->on_engine_end();
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

void Executor::EntityRegistry::begin_spin() {
  if (observer_) {
    observer_->on_spin_begin();
  }
  failure_.clear();  // a failure that persists is found again
  gate_.open();
  changes_.bell().notify_all();
  clocks_.wake();
}

void Executor::EntityRegistry::end_spin() {
  note_publications();
  gate_.close();
  finish_leaving(Wait::kNo);  // nothing runs any more
  if (observer_) {
    observer_->on_spin_end();
  }
}

void Executor::EntityRegistry::fail(const std::exception_ptr& error) {
  if (rclcpp::ok(context_)) {  // at a shutdown nothing fits any more, and that is no error
    failure_.set(error);
  }
  engine_->cancel();
}

void Executor::EntityRegistry::refresh_if_noted() {
  if (changes_.noted()) {
    refresh();
  }
}

void Executor::EntityRegistry::scan_publishers() {
  if (!origins_) {
    return;
  }
  Kept kept;  // ends without the lock
  {
    const std::scoped_lock lock(mutex_);
    read_stamps_where_asked(kept);
  }
  origins_->scan();
}

/// Notifies the observer, if there is one, of the topics of each node.
void Executor::EntityRegistry::note_publications() {
  if (!observer_) {
    return;
  }
  std::vector<std::shared_ptr<EntityNames::Node>> nodes;  // end without the lock
  {
    const std::scoped_lock lock(mutex_);
    nodes = names_.nodes();
  }
  for (const auto& node : nodes) {
    if (auto topics = publisher_topics(*node); !topics.empty()) {
      observer_->on_publications(node->get_fully_qualified_name(), topics);
    }
  }
}

/// Makes listeners read the stamps of messages, if a reader has asked for the origin of their data.
/// Not earlier, because reading stamps loads the library that describes the message type. Called
/// with the lock held.
void Executor::EntityRegistry::read_stamps_where_asked(Kept& kept) {
  const std::int64_t now_ns = rclrt::realtime::monotonic_now_ns();
  for (auto& [key, entry] : entries_) {
    if (entry.origins == nullptr || !entry.bound.listener->shares_origins(now_ns)) {
      continue;
    }
    if (const auto entity = key.lock()) {
      kept.push_back(entity);
      entry.bound.listener->count_from_stamp(
          *std::static_pointer_cast<rclcpp::SubscriptionBase>(entity),
          {.is_limited = false, .origins = std::exchange(entry.origins, nullptr)});
    }
  }
}

void Executor::EntityRegistry::refresh(Wait wait, const Change* change) {
  std::exception_ptr refused;
  bool make = change != nullptr;
  for (bool again = true; again;) {
    bool taken_back = false;
    bool elsewhere = false;
    {
      Found found;  // ends without the lock, and before any thread waits
      const std::scoped_lock lock(mutex_);
      if (std::exchange(make, false)) {
        change->make();
      }
      scan(found, taken_back, refused, change);
      again = found.again || taken_back;
      elsewhere = found.elsewhere;
    }
    wait = taken_back ? Wait::kUntilNothingRuns : wait;  // of the refused change
    const bool all_left = finish_leaving(wait);
    if (!all_left || elsewhere) {
      again = taken_back;
      maintenance_->refresh_soon();
    }
  }
  if (refused) {
    std::rethrow_exception(refused);
  }
}

/// Scans all groups, with the lock held; takes the change back if the engine cannot follow.
void Executor::EntityRegistry::scan(Found& found, bool& taken_back, std::exception_ptr& refused,
                                    const Change* change) {
  changes_.take();  // before the scan, so that later changes cause another one
  try {
    collect(found);
  } catch (...) {  // rclcpp throws, at a shutdown or when two executors add one group
    found.error = std::current_exception();
  }
  if (found.error && !refused && change != nullptr && change->take_back) {
    refused = found.error;
    change->take_back();
    taken_back = true;
  } else if (found.error) {
    fail(found.error);
  }
}

void Executor::EntityRegistry::drop(const Key& key, Entry& entry) { leaving_.push(key, entry); }

/// Finishes removals, without the lock. Returns false if a callback of a removed entity still runs.
bool Executor::EntityRegistry::finish_leaving(Wait wait) {
  std::vector<rclcpp::CallbackGroup::SharedPtr> open;
  const bool all_left = leaving_.finish(
      wait,
      [this](engine::Callback& callback) {
        if (observer_) {
          observer_->on_removed(callback);
        }
      },
      [&] { open = close_groups(); });
  for (const auto& group : open) {  // without the lock: notifies the executors that waited for them
    group->trigger_notify_guard_condition();
  }
  return all_left;
}

/// Updates which groups are closed: those with a removed callback that is still running. Returns
/// the groups that were closed before and are open now.
std::vector<rclcpp::CallbackGroup::SharedPtr> Executor::EntityRegistry::close_groups() {
  std::vector<rclcpp::CallbackGroup::SharedPtr> open;
  for (auto& [key, entry] : groups_) {
    const auto group = std::static_pointer_cast<rclcpp::CallbackGroup>(key.lock());
    const bool runs = group && leaving_.has_member_of(group);
    if (group && runs != entry.closed) {
      entry.closed = runs;
      group->can_be_taken_from().store(!runs);
      if (!runs) {
        open.push_back(group);
      }
    }
  }
  return open;
}

void Executor::EntityRegistry::know_node(
    const rclcpp::node_interfaces::NodeBaseInterface::SharedPtr& node) {
  const std::scoped_lock lock(mutex_);
  names_.add_node(node);
}

void Executor::EntityRegistry::set_timing(const std::shared_ptr<void>& part, const Timing& timing) {
  if (!part) {
    throw std::invalid_argument("set_timing: expected an entity, a group or a node, not nullptr");
  }
  if ((timing.deadline && timing.deadline->count() < 0) ||
      (timing.max_age && timing.max_age->count() <= 0)) {
    throw std::invalid_argument(
        "set_timing: the deadline must not be negative, and max_age must be positive");
  }
  if (timing.stamped_by && timing.stamped_by->empty()) {
    throw std::invalid_argument(
        "set_timing: stamped_by is empty: state the name of a host in `rclrt clock`");
  }
  if (timing.stamped_by && !timing.max_age) {
    throw std::invalid_argument(
        "set_timing: stamped_by without max_age: state the largest age of the host's data");
  }
  if (timing.deadline && timing.max_age) {
    throw std::invalid_argument(
        "set_timing: state a deadline (from a message's arrival) or a max_age (from its stamp), "
        "not both");
  }
  Timing before;
  const Change change{.make = [&] { before = timings_.set(part, timing); },
                      .take_back = [&] { timings_.restore(part, before); }};
  refresh(Wait::kUntilNothingRuns, &change);
}

std::vector<CallbackInfo> Executor::EntityRegistry::callbacks() {
  refresh();
  std::vector<CallbackInfo> result;
  Kept kept;  // ends without the lock
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, entry] : entries_) {
    const engine::Callback& callback = *entry.bound.callback;
    const Listener& listener = *entry.bound.listener;
    const std::chrono::nanoseconds limit(callback.deadline_ns());
    const bool from_stamp = entry.timing.max_age.has_value();
    CallbackInfo& info = result.emplace_back();
    info.node = entry.place.node;
    info.kind = entry.place.kind;
    info.name = entry.place.name;
    info.group = entry.place.group;
    info.priority = callback.level();
    (from_stamp ? info.max_age : info.deadline) = limit;
    info.overload = callback.overload();
    info.counters = callback.counters();
    const AgeCounters ages = listener.age_counters();
    info.unstamped = ages.unstamped;
    info.from_publication = ages.from_publication;
    if (entry.place.kind == "timer") {
      if (const auto timer = std::static_pointer_cast<rclcpp::TimerBase>(key.lock())) {
        info.period = std::chrono::nanoseconds(period_ns(timer));
        info.overdue = std::chrono::nanoseconds(overdue_ns(timer));
        kept.push_back(timer);
      }
    }
    if (entry.ends) {  // not of a timer in a group or node with `stamped_by`
      info.stamped_by = entry.timing.stamped_by.value_or("");
    }
    info.stamped_ends = entry.ends;
    if (const auto& responses = listener.responses()) {
      info.response_us = {responses, &responses->us()};
    }
  }
  std::sort(result.begin(), result.end(), [](const CallbackInfo& a, const CallbackInfo& b) {
    return std::tie(a.node, a.group, a.kind, a.name) < std::tie(b.node, b.group, b.kind, b.name);
  });
  return result;
}

std::vector<std::string> Executor::EntityRegistry::unmatched(bool with_guess) {
  refresh();
  const std::scoped_lock lock(mutex_);
  return timings_.unmatched(entries_, with_guess);
}

}  // namespace rclrt_rclcpp
