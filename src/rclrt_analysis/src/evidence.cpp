// SPDX-License-Identifier: Apache-2.0
#include "evidence.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "rclrt/model/executor_kind.hpp"

namespace rclrt::analysis::detail {
namespace {

constexpr Ticks kProbePeriod = 1'000'000;

/// Merges spans that overlap or touch. Returns them in ascending order.
std::vector<Span> joined(std::vector<Span> spans) {
  std::ranges::sort(spans, {}, [](const Span& span) { return std::pair(span.start, span.end); });
  std::vector<Span> result;
  for (const Span& span : spans) {
    if (!result.empty() && span.start <= result.back().end) {
      result.back().end = std::max(result.back().end, span.end);
    } else {
      result.push_back(span);
    }
  }
  return result;
}

/// Returns how much of [start, end] the disjoint spans cover.
Ticks covered(std::span<const Span> spans, Ticks start, Ticks end) {
  Ticks sum = 0;
  for (const Span& span : spans) {
    sum += std::max<Ticks>(0, std::min(span.end, end) - std::max(span.start, start));
  }
  return sum;
}

std::vector<Span> together(std::vector<Span> first, std::span<const Span> second) {
  first.insert(first.end(), second.begin(), second.end());
  return joined(std::move(first));
}

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

bool delays_level(const ObservedInstance& row, ExecutorKind executor, int level) {
  return !model::traits(executor).has_levels || row.priority >= level;
}

}  // namespace

std::string in_ms(Ticks time) { return formatted("%.3f ms", static_cast<double>(time) / 1e6); }

std::string to_string(const Event& event) {
  return event.what + ", at " + formatted("%.6f s", static_cast<double>(event.time) / 1e9);
}

std::vector<Event> waits(std::span<const Stall> stalls, const Allowance& allowed, Ticks start,
                         Ticks end) {
  std::vector<Event> found;
  for (const Stall& stall : stalls) {
    if (stall.start < end && stall.end > start && stall.waited > allowed.each &&
        allowed.excused(stall) != stall) {
      found.push_back({stall.start, stall.waited,
                       "something more urgent than SCHED_FIFO 98, or the kernel itself, had CPU " +
                           std::to_string(stall.cpu) + " for " + in_ms(stall.waited)});
    }
  }
  return found;
}

Ticks stalled_time(std::span<const Stall> stalls, std::span<const int> cpus, Ticks start,
                   Ticks end) {
  std::vector<Span> spans;
  for (const Stall& stall : stalls) {
    if (cpus.empty() || std::ranges::find(cpus, stall.cpu) != cpus.end()) {
      spans.push_back({stall.start, stall.end});
    }
  }
  return covered(joined(std::move(spans)), start, end);
}

ChainPaths::ChainPaths(std::span<const ObservedInstance> instances) {
  for (const ObservedInstance& row : instances) {
    std::string_view rest = row.tokens;
    while (!rest.empty()) {
      const std::size_t length = std::min(rest.find(';'), rest.size());
      const ObservedInstance*& known = paths_[std::string(rest.substr(0, length))][row.callback];
      // A synchroniser may take a message and run for it later. The earlier of the two rows counts.
      if (known == nullptr || row.ready < known->ready) {
        known = &row;
      }
      rest.remove_prefix(std::min(length + 1, rest.size()));
    }
  }
}

std::vector<Event> ChainPaths::late_messages(const std::string& chain, std::int64_t instance,
                                             std::span<const std::string> callbacks,
                                             const Allowance& allowed) const {
  std::vector<Event> found;
  const auto path = paths_.find(chain + ":" + std::to_string(instance));
  if (path == paths_.end()) {
    return found;
  }
  for (std::size_t i = 1; i < callbacks.size(); ++i) {
    const auto sent = path->second.find(callbacks[i - 1]);
    const auto taken = path->second.find(callbacks[i]);
    const auto from = allowed.executors.find(callbacks[i - 1]);
    const auto to = allowed.executors.find(callbacks[i]);
    if (sent == path->second.end() || taken == path->second.end() ||
        from == allowed.executors.end() || to == allowed.executors.end() ||
        from->second == to->second || allowed.syncs.contains(callbacks[i])) {
      continue;
    }
    const Ticks took = taken->second->ready - sent->second->end;
    if (took > allowed.hop) {
      found.push_back({sent->second->end, took - allowed.hop,
                       "the message from " + callbacks[i - 1] + " to " + callbacks[i] + " took " +
                           in_ms(took) + ", and " + in_ms(allowed.hop) + " are allowed for"});
    }
  }
  return found;
}

BusyTimes::BusyTimes(std::span<const ObservedInstance> instances, ExecutorKind executor,
                     int level) {
  for (const ObservedInstance& row : instances) {
    if (delays_level(row, executor, level)) {
      busy_.push_back({row.ready, row.end});
    }
  }
  busy_ = joined(std::move(busy_));
}

Span BusyTimes::around(Ticks time) const {
  const auto at = std::ranges::lower_bound(busy_, time, {}, &Span::end);
  return at != busy_.end() && at->start <= time ? *at : Span{time, time};
}

OneCpu::OneCpu(std::span<const ObservedInstance> instances, std::span<const Stall> stalls,
               ExecutorKind executor, int level, Ticks start, Ticks end)
    : start_(start), end_(end) {
  for (const ObservedInstance& row : instances) {
    if (row.start < end && row.end > start) {
      rows_.push_back({&row, delays_level(row, executor, level)});
    }
  }
  std::ranges::stable_sort(
      rows_, {}, [](const Row& row) { return std::pair(row.instance->start, -row.instance->end); });
  for (const Stall& stall : stalls) {
    stalls_.push_back({stall.start, stall.end});
  }
  stalls_ = joined(std::move(stalls_));
  // A less urgent instance can delay the chain only if it had started before.
  const auto started = std::ranges::find_if(rows_, [&](const Row& row) {
    return !row.delays && row.instance->start <= start && row.instance->end <= end;
  });
  if (started != rows_.end()) {
    started->delays = true;
  }
}

Ticks OneCpu::lost(const Allowance& allowed) const {
  Ticks work = 0;
  Ticks count = 0;
  for (const Row& row : rows_) {
    if (row.delays) {
      work += std::min(allowed.wcet_of(row.instance->callback), ran(*row.instance)) +
              waited(*row.instance, allowed);
      ++count;
    }
  }
  const Ticks length = end_ - start_;
  const Ticks background = std::llround(static_cast<double>(length) * allowed.background);
  return std::max<Ticks>(0, length - work - count * allowed.each - allowed.once - background);
}

std::vector<Event> OneCpu::events(const Allowance& allowed) const {
  std::vector<Event> found;
  add_too_long(allowed, found);
  add_idle(allowed, found);
  add_taken(allowed, found);
  add_overtaken(allowed, found);
  std::ranges::stable_sort(found, std::greater{}, &Event::excess);
  return found;
}

void OneCpu::add_too_long(const Allowance& allowed, std::vector<Event>& found) const {
  for (const Row& each : rows_) {
    const ObservedInstance& row = *each.instance;
    const Ticks wcet = allowed.wcet_of(row.callback);
    const Ticks dispatches = allowed.waits.contains(row.callback) ? 2 * allowed.each : allowed.each;
    if (row.cpu <= wcet + dispatches) {
      continue;
    }
    const std::string limit = allowed.wcet.contains(row.callback)
                                  ? "its wcet_ms is " +
                                        formatted("%g", static_cast<double>(wcet) / 1e6) +
                                        " and a dispatch " + in_ms(dispatches)
                                  : "the application does not state it";
    found.push_back({row.start, row.cpu - wcet - dispatches,
                     row.callback + " needed " + in_ms(row.cpu) + " of CPU time; " + limit});
  }
}

/// Adds the gaps in which nothing ran although an instance was ready.
void OneCpu::add_idle(const Allowance& allowed, std::vector<Event>& found) const {
  std::vector<Span> spans;
  for (const Row& row : rows_) {
    spans.push_back({row.instance->start, row.instance->end});
  }
  spans = joined(std::move(spans));
  spans.push_back({end_, end_});
  const Ticks most = allowed.each + allowed.once;
  Ticks reached = start_;
  for (const Span& span : spans) {
    const Ticks gap = std::min(span.start, end_) - reached - covered(stalls_, reached, span.start);
    if (static_cast<double>(gap) >
        static_cast<double>(most) + allowed.background * static_cast<double>(gap)) {
      found.push_back({reached, gap - most,
                       "nothing of the application ran for " + in_ms(gap) +
                           " while something was ready; " + in_ms(most) + " are allowed for"});
    }
    reached = std::max(reached, span.end);
  }
}

/// Adds the callbacks during which the CPU ran something that is not a callback.
void OneCpu::add_taken(const Allowance& allowed, std::vector<Event>& found) const {
  for (const Row& row : rows_) {
    if (!row.delays) {
      continue;
    }
    const auto [without, most] = gone(*row.instance, allowed);
    if (without > most) {
      found.push_back({row.instance->start, without - most,
                       row.instance->callback + " was without the CPU for " + in_ms(without) +
                           " that no callback used; " + in_ms(most) + " are allowed for"});
    }
  }
}

/// Adds less urgent instances that began and ended although other work was ready. One that began
/// while an instance that may wait was under way is none of them.
void OneCpu::add_overtaken(const Allowance& allowed, std::vector<Event>& found) const {
  for (const Row& row : rows_) {
    const bool in_a_wait = std::ranges::any_of(rows_, [&](const Row& other) {
      return other.delays && allowed.waits.contains(other.instance->callback) &&
             other.instance->start <= row.instance->start &&
             other.instance->end > row.instance->start;
    });
    if (!row.delays && !in_a_wait && is_inside(*row.instance)) {
      found.push_back({row.instance->start, row.instance->cpu,
                       row.instance->callback + ", less urgent, ran for " +
                           in_ms(row.instance->cpu) + " before what was ready"});
    }
  }
}

Stall OneCpu::stretched(Stall stall, const Allowance& allowed) const {
  if (stall.end == stall.start) {
    return stall;
  }
  const auto last = std::ranges::upper_bound(rows_, stall.start, {},
                                             [](const Row& row) { return row.instance->start; });
  for (auto at = last; at != rows_.begin();) {
    const ObservedInstance& row = *(--at)->instance;
    if (row.end > stall.start) {
      const auto [without, most] = gone(row, allowed);
      const Ticks longest = std::min(kProbePeriod, stall.start - row.start);
      stall.start -= std::max<Ticks>(0, std::min(without - most, longest));
      break;
    }
  }
  return stall;
}

bool OneCpu::is_inside(const ObservedInstance& row) const {
  return row.start >= start_ && row.end <= end_;
}

std::pair<Ticks, Ticks> OneCpu::gone(const ObservedInstance& row, const Allowance& allowed) const {
  if (!is_inside(row)) {
    return {0, 0};
  }
  std::vector<Span> inner = after(row);
  std::erase_if(inner, [&](const Span& span) { return span.end > row.end; });
  const auto dispatches = static_cast<Ticks>(inner.size()) + 1;
  const Ticks length = row.end - row.start;
  const Ticks elsewhere = covered(together(std::move(inner), stalls_), row.start, row.end);
  const Ticks background = std::llround(allowed.background * static_cast<double>(length));
  const Ticks most = dispatches * allowed.each + background + allowed.waits_of(row.callback);
  return {length - row.cpu - elsewhere, most};
}

Ticks OneCpu::ran(const ObservedInstance& row) const {
  if (is_inside(row)) {
    return row.cpu;
  }
  const Ticks start = std::max(row.start, start_);
  const Ticks end = std::min(row.end, end_);
  return std::min(row.cpu, end - start - covered(together(after(row), stalls_), start, end));
}

Ticks OneCpu::waited(const ObservedInstance& row, const Allowance& allowed) const {
  const Ticks most = allowed.waits_of(row.callback);
  if (most == 0) {
    return 0;
  }
  const Ticks start = std::max(row.start, start_);
  const Ticks end = std::min(row.end, end_);
  const Ticks others = covered(together(after(row, true), stalls_), start, end);
  return std::clamp<Ticks>(end - start - ran(row) - others, 0, most);
}

std::vector<Span> OneCpu::after(const ObservedInstance& row, bool only_delaying) const {
  const auto start_of = [](const Row& other) { return other.instance->start; };
  const auto begin = std::ranges::lower_bound(rows_, row.start, {}, start_of);
  const auto end = std::ranges::lower_bound(rows_, row.end, {}, start_of);
  std::vector<Span> result;
  for (auto at = begin; at < end; ++at) {
    if (at->instance != &row && (at->delays || !only_delaying)) {
      result.push_back({at->instance->start, at->instance->end});
    }
  }
  return result;
}

}  // namespace rclrt::analysis::detail
