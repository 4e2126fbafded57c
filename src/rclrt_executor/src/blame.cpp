// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/blame.hpp"

#include <algorithm>

namespace rclrt::executor {

namespace {

enum What : std::uint8_t { kEnds, kReady, kPasses, kStarts };

/// Visits, in order, the moments at which something changes.
class Sweep {
 public:
  Sweep(std::int64_t from_ns, std::int64_t until_ns, std::span<const ExecutionInterval> own,
        std::span<const ExecutionInterval> others, std::size_t cpus,
        const BlameScratch& scratch) noexcept
      : from_ns_(from_ns),
        until_ns_(until_ns),
        own_(own),
        others_(others),
        cpus_(std::max<std::size_t>(cpus, 1)),
        scratch_(scratch) {}

  Blame run() noexcept RCLRT_NONBLOCKING {
    for (std::size_t i = 0; i < others_.size(); ++i) {
      scratch_.tallies[i] = {0, Reason::kMoreUrgent};
    }
    const std::span<BlameScratch::Event> events = collect();
    std::int64_t now_ns = from_ns_;
    for (const auto& event : events) {
      const std::int64_t next_ns = std::clamp(event.time_ns, from_ns_, until_ns_);
      account(next_ns - now_ns);
      now_ns = next_ns;
      apply(event);
    }
    account(until_ns_ - now_ns);
    conclude();
    return result_;
  }

 private:
  const ExecutionInterval& at(std::uint32_t index) const noexcept {
    return index < others_.size() ? others_[index] : own_[index - others_.size()];
  }
  bool is_own(std::uint32_t index) const noexcept { return index >= others_.size(); }

  std::span<BlameScratch::Event> collect() noexcept {
    std::size_t size = 0;
    for (std::uint32_t i = 0; i < others_.size() + own_.size(); ++i) {
      const ExecutionInterval& each = at(i);
      if (is_own(i)) {
        scratch_.events[size++] = {each.ready_ns, i, kReady};
      }
      if (each.start_ns == each.end_ns) {  // otherwise its end would be sorted before its start
        scratch_.events[size++] = {each.start_ns, i, kPasses};
      } else if (each.start_ns < until_ns_ && each.end_ns > from_ns_) {
        scratch_.events[size++] = {each.start_ns, i, kStarts};
        scratch_.events[size++] = {each.end_ns, i, kEnds};
      }
    }
    const auto events = scratch_.events.first(size);
    std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
      return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.what < b.what;
    });
    return events;
  }

  bool goes_first(std::uint32_t a, std::uint32_t b) const noexcept {
    const ExecutionInterval& first = at(a);
    const ExecutionInterval& second = at(b);
    if (first.priority != second.priority) {
      return first.priority > second.priority;
    }
    return first.start_ns != second.start_ns ? first.start_ns < second.start_ns
                                             : first.id < second.id;
  }

  void apply(const BlameScratch::Event& event) noexcept {
    std::uint32_t* const begin = scratch_.active.data();
    std::uint32_t* const end = begin + active_;
    switch (event.what) {
      case kStarts: {
        std::uint32_t* place = end;
        for (; place != begin && goes_first(event.interval, place[-1]); --place) {
          *place = place[-1];
        }
        *place = event.interval;
        ++active_;
        has_started(event.interval);
        break;
      }
      case kPasses:
        has_started(event.interval);
        break;
      case kEnds:
        active_ = static_cast<std::size_t>(std::remove(begin, end, event.interval) - begin);
        break;
      default:
        break;  // only its time counts
    }
    now_ns_ = event.time_ns;
  }

  void has_started(std::uint32_t index) noexcept {
    if (is_own(index)) {
      started_ = std::max(started_, index - others_.size() + 1);
    }
  }

  /// Accounts for `span_ns`, in which nothing changed.
  void account(std::int64_t span_ns) noexcept {
    if (span_ns <= 0) {
      return;
    }
    const auto active = scratch_.active.first(active_);
    const auto running = active.first(std::min(active_, cpus_));
    const auto mine = [this](std::uint32_t index) { return is_own(index); };
    if (std::any_of(running.begin(), running.end(), mine)) {
      running_ns_ += span_ns;
      return;
    }
    const auto preempted = std::find_if(active.begin(), active.end(), mine);
    const ExecutionInterval* waits = nullptr;
    if (preempted != active.end()) {
      waits = &at(*preempted);
      result_.preempted_ns += span_ns;
    } else if (started_ < own_.size()) {
      waits = &own_[started_];
      if (now_ns_ < waits->ready_ns) {
        result_.transit_ns += span_ns;
        return;
      }
      result_.waiting_ns += span_ns;
    } else {
      return;  // between the last end and `until`: unexplained
    }
    bool any = false;
    for (std::size_t i = 0; i < active.size(); ++i) {
      any = blame(active[i], *waits, i < running.size(), span_ns) || any;
    }
    result_.delayed_ns += any ? span_ns : 0;
  }

  bool blame(std::uint32_t index, const ExecutionInterval& waits, bool running,
             std::int64_t span_ns) noexcept {
    const ExecutionInterval& other = at(index);
    const bool same_group = waits.group != nullptr && waits.group == other.group;
    const bool all_cpus = active_ >= cpus_;
    if (!same_group && !(running && (all_cpus || other.level == waits.level))) {
      return false;
    }
    auto& tally = scratch_.tallies[index];
    if (tally.time_ns == 0) {
      tally.reason = reason_of(other, waits, same_group);
    }
    tally.time_ns += span_ns;
    return true;
  }

  static Reason reason_of(const ExecutionInterval& other, const ExecutionInterval& waits,
                          bool same_group) noexcept {
    const bool by_level = other.deadline_ns == INT64_MAX && waits.deadline_ns == INT64_MAX;
    if (by_level && other.executor != waits.executor) {
      return other.kernel_priority > waits.kernel_priority   ? Reason::kMoreUrgent
             : other.kernel_priority < waits.kernel_priority ? Reason::kLessUrgent
                                                             : Reason::kSameKernelPriority;
    }
    if (by_level ? other.level > waits.level : other.deadline_ns < waits.deadline_ns) {
      return Reason::kMoreUrgent;
    }
    if (same_group) {
      return Reason::kGroup;
    }
    const bool equal =
        by_level ? other.level == waits.level : other.deadline_ns == waits.deadline_ns;
    return equal ? Reason::kSameLevel : Reason::kLessUrgent;
  }

  void conclude() noexcept {
    std::int64_t cpu_ns = 0;
    bool known = true;
    for (const ExecutionInterval& each : own_) {
      known = known && (each.cpu_ns >= 0 || each.start_ns >= until_ns_);
      cpu_ns += std::max<std::int64_t>(each.cpu_ns, 0);
    }
    const std::int64_t rest_ns = until_ns_ - from_ns_ - result_.delayed_ns - result_.transit_ns;
    result_.execution_ns = std::min(known ? cpu_ns : running_ns_, rest_ns);
    result_.unexplained_ns = rest_ns - result_.execution_ns;
    for (std::uint32_t i = 0; i < others_.size(); ++i) {
      if (scratch_.tallies[i].time_ns > 0) {
        insert(i);
      }
    }
  }

  void insert(std::uint32_t index) noexcept {
    const auto& tally = scratch_.tallies[index];
    auto& worst = result_.worst;
    std::size_t place = result_.listed().size();
    ++result_.culprits;
    if (place == worst.size() && worst.back().time_ns >= tally.time_ns) {
      return;
    }
    place = std::min(place, worst.size() - 1);
    for (; place > 0 && worst[place - 1].time_ns < tally.time_ns; --place) {
      worst[place] = worst[place - 1];
    }
    const ExecutionInterval& other = others_[index];
    worst[place] = {.id = other.id,
                    .callback = other.callback,
                    .level = other.level,
                    .reason = tally.reason,
                    .time_ns = tally.time_ns,
                    .cpu_ns = std::min(other.cpu_ns, tally.time_ns)};
  }

  const std::int64_t from_ns_;
  const std::int64_t until_ns_;
  const std::span<const ExecutionInterval> own_;
  const std::span<const ExecutionInterval> others_;
  const std::size_t cpus_;
  const BlameScratch& scratch_;
  Blame result_;
  std::size_t active_ = 0;   // size of scratch_.active, most urgent first
  std::size_t started_ = 0;  // own stages that have started
  std::int64_t now_ns_ = INT64_MIN;
  std::int64_t running_ns_ = 0;
};

}  // namespace

const char* to_string(Reason reason) noexcept RCLRT_NONBLOCKING {
  switch (reason) {
    case Reason::kSameLevel:
      return "same level";
    case Reason::kGroup:
      return "group";
    case Reason::kLessUrgent:
      return "less urgent";
    case Reason::kSameKernelPriority:
      return "same kernel priority";
    case Reason::kMoreUrgent:
      break;
  }
  return "more urgent";
}

Blame explain(std::int64_t from_ns, std::int64_t until_ns, std::span<const ExecutionInterval> own,
              std::span<const ExecutionInterval> others, std::size_t cpus,
              const BlameScratch& scratch) noexcept RCLRT_NONBLOCKING {
  const std::size_t room =
      std::min({scratch.active.size(), scratch.tallies.size(), scratch.events.size() / 3});
  own = own.first(std::min(own.size(), room));
  others = others.first(std::min(others.size(), room - own.size()));
  return Sweep(from_ns, std::max(from_ns, until_ns), own, others, cpus, scratch).run();
}

}  // namespace rclrt::executor
