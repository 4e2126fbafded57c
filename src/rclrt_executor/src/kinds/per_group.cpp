// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/per_group_executor.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "kinds/kind.hpp"
#include "lane.hpp"
#include "lane_thread.hpp"

namespace rclrt::executor {

namespace {

/// The queue and the threads of one group: its own thread, and the spare threads of a reentrant
/// group. The lock of the executor's configuration guards `group`, `level` and `threads`.
struct GroupLane {
  GroupLane(std::uint32_t number, realtime::EventCount& outside)
      : slot(number), lane(Lane::Use::kRun, outside) {}

  const Group* group = nullptr;  // compared only: the address may be reused after its end
  std::optional<int> level;  // the highest in the group; none: the group has no callback any more
  const std::uint32_t slot;
  Lane lane;
  std::vector<std::unique_ptr<LaneThread>> threads;  // destroyed before the lane
  GroupLane* older = nullptr;                        // for `wake`; set before the lane is published
};

/// Returns the highest level in each group that has callbacks.
std::map<const Group*, int> ceilings_of(const std::vector<std::shared_ptr<Callback>>& callbacks) {
  std::map<const Group*, int> ceilings;
  for (const auto& callback : callbacks) {
    const int level = callback->level();
    int& ceiling = ceilings.try_emplace(&state_of(*callback).group, level).first->second;
    ceiling = std::max(ceiling, level);
  }
  return ceilings;
}

/// Runs each group on its own thread. A lane is created when a group is added, and lives as long as
/// the dispatcher. If its group has no callback any more, the next new group gets the lane. Running
/// instances of the old group end first. If a thread still pushes an instance of the old group,
/// that instance is given up when it is popped, as all instances of a removed callback are.
class PerGroupDispatcher final : public Dispatcher {
 public:
  explicit PerGroupDispatcher(const DispatcherContext& context)
      : Dispatcher(context, {.levels_by_group = true}) {}

  std::vector<int> levels_of(
      const std::vector<std::shared_ptr<Callback>>& callbacks) const override;
  void add(Callback& callback) override;
  void remove(Callback& callback) noexcept override;
  void remove_queued(const Callback& callback, Instance*& taken) noexcept override;
  void apply_priorities() override;
  WorkerPool pool_of(const Callback& callback) const override;
  std::string stall_advice() const override {
    return "put what it waits for into a callback group of its own.";
  }
  void start() override;
  void stop() noexcept override;
  void wake() noexcept RCLRT_NONBLOCKING override;
  Instance* take_on_caller(std::int64_t ready_by_ns,
                           std::int64_t& next_release_ns) noexcept override;

 private:
  GroupLane& lane_of(const Callback& callback);
  GroupLane* free_lane();
  GroupLane& make_lane();
  std::optional<int> highest_below(std::optional<int> limit) const noexcept;
  void apply_priority(GroupLane& own, std::optional<int> level);
  void start_threads(GroupLane& own);
  std::size_t wanted_threads(const GroupLane& own) const;
  realtime::ThreadOptions thread_options(const GroupLane& own) const;

  // Guarded by the configuration:
  std::vector<std::unique_ptr<GroupLane>> lanes_;
  bool running_ = false;
  bool may_have_free_lane_ = false;  // false: the group of each lane has callbacks
  // For `wake`, which takes no lock: the latest of a list that only grows. seq_cst.
  std::atomic<GroupLane*> latest_{nullptr};
};

/// Returns the highest level in the group of each callback.
std::vector<int> PerGroupDispatcher::levels_of(
    const std::vector<std::shared_ptr<Callback>>& callbacks) const {
  const std::map<const Group*, int> ceilings = ceilings_of(callbacks);
  std::vector<int> result;
  for (const auto& callback : callbacks) {
    result.push_back(ceilings.at(&state_of(*callback).group));
  }
  return result;
}

GroupLane& PerGroupDispatcher::make_lane() {
  lanes_.push_back(std::make_unique<GroupLane>(static_cast<std::uint32_t>(lanes_.size()),
                                               context().spin.caller_wakeup()));
  GroupLane& made = *lanes_.back();
  made.older = latest_.load();
  latest_.store(&made);
  return made;
}

/// Returns the lane of a group that has no callback any more; nullptr if there is none.
GroupLane* PerGroupDispatcher::free_lane() {
  if (!may_have_free_lane_) {
    return nullptr;
  }
  std::vector<const Group*> groups;
  for (const auto& callback : context().callbacks.locked()) {
    groups.push_back(&state_of(*callback).group);
  }
  std::ranges::sort(groups);
  const auto found = std::ranges::find_if(lanes_, [&groups](const auto& each) {
    return !std::ranges::binary_search(groups, each->group);
  });
  may_have_free_lane_ = found != lanes_.end();
  return may_have_free_lane_ ? found->get() : nullptr;
}

GroupLane& PerGroupDispatcher::lane_of(const Callback& callback) {
  const Group* const group = &state_of(callback).group;
  const auto found = std::ranges::find(lanes_, group, [](const auto& each) { return each->group; });
  GroupLane* const kept = found != lanes_.end() ? found->get() : free_lane();
  GroupLane& own = kept != nullptr ? *kept : make_lane();
  own.group = group;
  std::optional<int> level;
  for (const auto& each : context().callbacks.locked()) {
    if (&state_of(*each).group == group) {
      level = std::max(level.value_or(each->level()), each->level());
    }
  }
  apply_priority(own, level);
  return own;
}

/// Sets the thread to the current priority of its group. Leaves it unchanged if the group is gone.
void PerGroupDispatcher::apply_priority(GroupLane& own, std::optional<int> level) {
  own.level = level;
  if (!level) {
    return;
  }
  for (const auto& thread : own.threads) {
    thread->move_to(thread_priority(*level));
  }
}

void PerGroupDispatcher::add(Callback& callback) {
  GroupLane& own = lane_of(callback);
  if (running_) {
    start_threads(own);
  }
  state_of(callback).sink.store(&own.lane);
  state_of(callback).lane.store(&own.lane);
  if (TimerCallback* const timer = as_timer(callback)) {
    own.lane.add_timer(timer);
  }
}

void PerGroupDispatcher::remove(Callback& callback) noexcept {
  may_have_free_lane_ = true;
  if (TimerCallback* const timer = as_timer(callback)) {
    for (const auto& each : lanes_) {
      each->lane.remove_timer(timer);
    }
  }
}

void PerGroupDispatcher::remove_queued(const Callback& callback, Instance*& taken) noexcept {
  for (const auto& each : lanes_) {
    each->lane.remove_queued(callback, taken);
  }
}

void PerGroupDispatcher::apply_priorities() {
  const std::map<const Group*, int> ceilings = ceilings_of(context().callbacks.locked());
  for (const auto& each : lanes_) {
    const auto found = ceilings.find(each->group);
    apply_priority(*each, found == ceilings.end() ? std::nullopt : std::optional(found->second));
  }
}

WorkerPool PerGroupDispatcher::pool_of(const Callback& callback) const {
  const auto own = std::ranges::find(lanes_, &state_of(callback).group,
                                     [](const auto& each) { return each->group; });
  if (own == lanes_.end()) {
    return {.threads = SIZE_MAX};
  }
  return {.key = (*own)->slot,
          .threads = (*own)->threads.size(),
          .name = "the group of '" + callback.name() + "'"};
}

/// Returns the number of threads of the lane: one and, for a reentrant group, spare threads for
/// members that wait for each other.
std::size_t PerGroupDispatcher::wanted_threads(const GroupLane& own) const {
  const std::size_t spares = context().threads.spare_count();
  if (context().spin.limit() != SpinLimit::kNone || spares == 0) {
    return 1;
  }
  std::vector<const Callback*> members;
  for (const auto& each : context().callbacks.locked()) {
    if (&state_of(*each).group == own.group) {
      members.push_back(each.get());
    }
  }
  return std::max<std::size_t>(most_at_a_time(members, 1 + spares), 1);
}

realtime::ThreadOptions PerGroupDispatcher::thread_options(const GroupLane& own) const {
  const ThreadSettings& threads = context().threads;
  const int level = own.level.value_or(0);
  realtime::ThreadOptions options =
      threads.thread_options("g" + std::to_string(own.slot), thread_priority(level));
  if (threads.realtime() && threads.is_best_effort(level)) {
    options.scheduling.policy = realtime::Policy::kOther;
  }
  return options;
}

/// Starts the threads that the lane lacks.
void PerGroupDispatcher::start_threads(GroupLane& own) {
  const std::size_t wanted = wanted_threads(own);
  while (own.threads.size() < wanted) {
    const bool is_first = own.threads.empty();
    own.threads.reserve(own.threads.size() + 1);
    own.threads.push_back(std::make_unique<LaneThread>(
        context(), own.lane, is_first ? LaneWorker::Kind::kWorker : LaneWorker::Kind::kSpare,
        thread_options(own), own.slot));
  }
}

void PerGroupDispatcher::start() {
  running_ = true;
  for (const auto& each : lanes_) {
    if (each->level) {
      start_threads(*each);
    }
  }
}

void PerGroupDispatcher::stop() noexcept {
  std::vector<std::unique_ptr<LaneThread>> threads;
  {
    const std::scoped_lock lock(context().callbacks.mutex());
    running_ = false;
    for (const auto& each : lanes_) {
      std::move(each->threads.begin(), each->threads.end(), std::back_inserter(threads));
      each->threads.clear();
    }
  }
  // The configuration is not locked here, because a callback may wait for that lock. All threads
  // are joined before one is destroyed, because the spare threads read the state of the others.
  for (const auto& each : threads) {
    each->join();
  }
  threads.clear();
  const std::scoped_lock lock(context().callbacks.mutex());
  for (const auto& each : lanes_) {
    each->lane.forget_workers();
  }
}

void PerGroupDispatcher::wake() noexcept RCLRT_NONBLOCKING {
  for (GroupLane* each = latest_.load(); each != nullptr; each = each->older) {
    each->lane.wake_all();
  }
}

/// Takes the most urgent instance that became ready by `ready_by_ns`.
Instance* PerGroupDispatcher::take_on_caller(std::int64_t ready_by_ns,
                                             std::int64_t& next_release_ns) noexcept {
  next_release_ns = INT64_MAX;
  for (const auto& each : lanes_) {
    next_release_ns = std::min(next_release_ns, each->lane.next_release_ns());
  }
  // One pass over the lanes for each level that a group has, from the highest down.
  for (std::optional<int> level = highest_below(std::nullopt); level;
       level = highest_below(level)) {
    for (const auto& each : lanes_) {
      Instance* const instance = each->level == level ? each->lane.try_pop(ready_by_ns) : nullptr;
      if (instance != nullptr) {
        return instance;
      }
    }
  }
  return nullptr;
}

/// Returns the highest level of a group below `limit`, if that is set.
std::optional<int> PerGroupDispatcher::highest_below(std::optional<int> limit) const noexcept {
  std::optional<int> highest;
  for (const auto& each : lanes_) {
    const auto level = each->level;
    if (level && (!limit || *level < *limit)) {
      highest = std::max(highest.value_or(*level), *level);
    }
  }
  return highest;
}

ExecutorOptions with_threads(ExecutorOptions options) {
  const std::string executor = "executor \"" + options.name + "\": per_group ";
  if (options.workers_per_level > 1) {
    throw std::invalid_argument(executor + "has one thread for each group, not " +
                                std::to_string(options.workers_per_level) +
                                ": leave workers_per_level out");
  }
  if (options.preemption == Preemption::kNever) {
    throw std::invalid_argument(executor +
                                "cannot run callbacks to completion, because the kernel chooses "
                                "the thread that runs; leave out Preemption::kNever, or use picas");
  }
  options.preemption = Preemption::kAlways;
  return options;
}

}  // namespace

PerGroupExecutor::PerGroupExecutor(ExecutorOptions options)
    : Executor(Engine::with<PerGroupDispatcher>(with_threads(std::move(options)))) {}

constinit const Kind kinds::kPerGroup{"per_group", &make_kind<PerGroupExecutor>};

}  // namespace rclrt::executor
