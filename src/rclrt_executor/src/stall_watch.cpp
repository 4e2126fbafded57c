// SPDX-License-Identifier: Apache-2.0
#include "stall_watch.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

#include "callback_set.hpp"
#include "thread_state.hpp"

namespace rclrt::executor {

namespace {

constexpr std::int64_t kDefaultPeriod_ns = 100'000'000;
constexpr std::int64_t kLongestSecondCheck_ns = 10'000'000;
constexpr std::int64_t kReportPeriods = 10;
constexpr std::int64_t kForgotten = 10;  // 1/10 of the elapsed time is subtracted

std::size_t count_of(const std::vector<RunningTable::Running>& all, const Callback* callback) {
  return static_cast<std::size_t>(
      std::ranges::count(all, callback, [](const auto& each) { return each.callback; }));
}

std::string quoted(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
  }
  return names.size() > kMost ? text + " and " + std::to_string(names.size() - kMost) + " more"
                              : text;
}

std::string counted(std::size_t instances) {
  return std::to_string(instances) + (instances == 1 ? " instance" : " instances") + " queued";
}

}  // namespace

std::string summary(const Stall& stall) {
  if (stall.cause == Stall::Cause::kGroup) {
    return quoted(stall.queued) + " waits for " + quoted(stall.waiting) + ", which waits";
  }
  return stall.workers + ": every worker waits" +
         (stall.instances == 0 ? "" : ", " + counted(stall.instances));
}

std::string explanation(const Stall& stall) {
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%.1f s", static_cast<double>(stall.time.count()) / 1e9);
  if (stall.cause == Stall::Cause::kGroup) {
    return "executor \"" + stall.executor + "\": " + quoted(stall.queued) + " waits for " +
           quoted(stall.waiting) + ", which has been asleep in its callback for " + seconds +
           " and is in the same mutually exclusive callback group. If it waits for that, it waits "
           "for ever: " +
           stall.advice;
  }
  return "executor \"" + stall.executor + "\": " + summary(stall) +
         (stall.queued.empty() ? "" : " (" + quoted(stall.queued) + ")") + ". Asleep within " +
         (stall.waiting.size() == 1 ? "its callback" : "their callbacks") + " for " + seconds +
         " of the last seconds: " + quoted(stall.waiting) + ". A wait there for " +
         (stall.queued.empty() ? "another callback of this executor" : "a queued callback") +
         " cannot end: " + stall.advice;
}

std::int64_t StallWatch::begin(std::int64_t now_ns) {
  const std::scoped_lock lock(mutex_);
  is_second_ = false;
  found_.clear();
  checked_ns_ = now_ns;
  return options_.stall_period.count() <= 0 ? INT64_MAX : now_ns + period_ns();
}

std::vector<Stall> StallWatch::stalls(std::int64_t now_ns) const {
  const std::scoped_lock lock(mutex_);
  std::vector<Stall> result;
  for (const auto& [place, total] : totals_) {
    if (now_ns - total.found_ns < report_after_ns()) {
      result.push_back(total.stall);
    }
  }
  return result;
}

std::int64_t StallWatch::check(const Dispatcher& dispatcher, std::int64_t now_ns) {
  const std::scoped_lock lock(mutex_);
  const std::vector<Running> all = running_.running();
  std::vector<Running> asleep;
  for (const Running& each : all) {
    if ((!is_second_ || std::ranges::count(asleep_, each.id) != 0) && is_asleep(each.thread)) {
      asleep.push_back(each);
    }
  }
  if (!is_second_ && !asleep.empty()) {
    is_second_ = true;
    asleep_.clear();
    for (const Running& each : asleep) {
      asleep_.push_back(each.id);
    }
    return now_ns + std::min(kLongestSecondCheck_ns, period_ns() / 2);
  }
  is_second_ = false;
  found_.clear();
  if (!asleep.empty()) {
    find(dispatcher, asleep, all);
  }
  account(now_ns);
  return now_ns + period_ns();
}

std::int64_t StallWatch::period_ns() const noexcept {
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(365 * 24);  // ten of them fit
  const std::int64_t stated_ns =
      std::chrono::nanoseconds(std::min(options_.stall_period, kLongest)).count();
  return stated_ns > 0 ? stated_ns : kDefaultPeriod_ns;
}

std::int64_t StallWatch::report_after_ns() const noexcept { return kReportPeriods * period_ns(); }

void StallWatch::find(const Dispatcher& dispatcher, const std::vector<Running>& asleep,
                      const std::vector<Running>& all) {
  const std::scoped_lock lock(callbacks_.mutex());
  struct Pool {
    WorkerPool pool;
    std::size_t running = 0;
    Stall stall;
  };
  std::map<std::int64_t, Pool> pools;
  std::vector<const Callback*> waiting;
  for (const Running& each : all) {
    if (!callbacks_.knows(each.callback)) {
      continue;
    }
    const WorkerPool pool = dispatcher.pool_of(*each.callback);
    Pool& entry = pools.try_emplace(pool.key, Pool{.pool = pool, .stall = {}}).first->second;
    ++entry.running;
    if (std::ranges::count(asleep, each.id, &Running::id) != 0) {
      entry.stall.waiting.push_back(each.callback->name());
      waiting.push_back(each.callback);
    }
  }
  for (const auto& callback : callbacks_.locked()) {
    const std::uint64_t pending = callback->counters().pending();
    const std::uint64_t running = count_of(all, callback.get());
    if (pending <= running) {
      continue;
    }
    const auto type = callback->type();
    const auto& group = callback->shared_group();
    if (group && group->type() == GroupType::kMutuallyExclusive &&
        (type == EntityType::kClient || type == EntityType::kService)) {
      for (const Callback* const other : waiting) {
        if (other != callback.get() && &other->group() == group.get()) {
          add({Stall::Cause::kGroup,
               static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(other))},
              {.executor = options_.name,
               .cause = Stall::Cause::kGroup,
               .workers = {},
               .waiting = {other->name()},
               .queued = {callback->name()},
               .instances = pending - running,
               .advice = "put the " +
                         std::string(type == EntityType::kClient ? "client" : "service") +
                         " into a callback group of its own."});
        }
      }
    }
    if (const auto pool = pools.find(dispatcher.pool_of(*callback).key); pool != pools.end()) {
      pool->second.stall.queued.push_back(callback->name());
      pool->second.stall.instances += pending - running;
    }
  }
  for (auto& [key, entry] : pools) {
    const bool all_wait = entry.stall.waiting.size() == entry.running &&
                          entry.running >= std::max<std::size_t>(entry.pool.threads, 1);
    if (all_wait && (entry.stall.instances > 0 || dispatcher.traits().polls)) {
      entry.stall.executor = options_.name;
      entry.stall.workers = entry.pool.name;
      entry.stall.advice = dispatcher.stall_advice();
      add({Stall::Cause::kWorkers, key}, std::move(entry.stall));
    }
  }
}

void StallWatch::add(Place place, Stall stall) {
  const auto found = found_.find(place);
  if (found == found_.end()) {
    found_.emplace(place, std::move(stall));
  } else {
    found->second.queued.push_back(stall.queued.front());
    found->second.instances += stall.instances;
  }
}

/// Adds up the stalls, and reports them.
void StallWatch::account(std::int64_t now_ns) {
  const std::int64_t elapsed_ns = std::min(now_ns - checked_ns_, report_after_ns());
  checked_ns_ = now_ns;
  for (auto& [place, stall] : found_) {
    Total& total = totals_[place];
    total.time_ns += elapsed_ns;
    stall.time = std::chrono::nanoseconds(total.time_ns);
    total.found_ns = now_ns;
    total.stall = stall;
    if (total.time_ns >= report_after_ns() && !std::exchange(total.is_reported, true)) {
      report(stall);
    }
  }
  for (auto each = totals_.begin(); each != totals_.end();) {
    Total& total = each->second;
    total.time_ns = std::min(total.time_ns, 2 * report_after_ns()) - elapsed_ns / kForgotten;
    each = total.time_ns <= 0 ? totals_.erase(each) : std::next(each);
  }
}

void StallWatch::report(const Stall& stall) const noexcept {
  if (options_.on_stall != nullptr) {
    options_.on_stall->stalled(stall);
    return;
  }
  try {
    std::fprintf(stderr, "rclrt: %s\n", explanation(stall).c_str());
  } catch (const std::exception&) {  // no memory for the text
    std::fputs("rclrt: instances wait for threads that wait themselves\n", stderr);
  }
}

}  // namespace rclrt::executor
