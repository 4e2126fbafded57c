// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/host_times.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <set>
#include <utility>

#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

namespace {

constexpr double kBillion = 1e9;

/// Mapped times are whole nanoseconds, and a time has two ends.
constexpr std::int64_t kRounding_ns = 4;

std::int64_t part_of(std::int64_t time_ns, std::int64_t ppb) {
  const double part = static_cast<double>(std::abs(time_ns)) * static_cast<double>(ppb) / kBillion;
  return static_cast<std::int64_t>(std::ceil(part));
}

std::int64_t grown_ns(const HostTimes& host, std::int64_t time_ns) {
  return part_of(time_ns, host.drift_ppb);
}

}  // namespace

std::int64_t HostTable::error_ns(std::size_t callback, std::int64_t at_ns) const {
  if (hosts.empty() || hosts[of_callback[callback]].knots.empty()) {
    return 0;
  }
  const HostTimes& host = hosts[of_callback[callback]];
  const auto after = std::ranges::lower_bound(host.knots, at_ns, {}, &HostTimes::Knot::at_ns);
  std::int64_t error = INT64_MAX;
  if (after != host.knots.end()) {
    error = after->error_ns + grown_ns(host, after->at_ns - at_ns);
  }
  if (after != host.knots.begin()) {
    const HostTimes::Knot& before = *std::prev(after);
    error = std::min(error, before.error_ns + grown_ns(host, at_ns - before.at_ns));
  }
  return error;
}

std::int64_t HostTable::error_between_ns(std::size_t from, std::int64_t from_ns, std::size_t to,
                                         std::int64_t to_ns) const {
  if (hosts.empty()) {
    return 0;
  }
  const std::int64_t sum = error_ns(from, from_ns) + error_ns(to, to_ns);
  if (of_callback[from] != of_callback[to]) {
    return sum;
  }
  const HostTimes& host = hosts[of_callback[from]];
  return host.knots.empty()
             ? 0
             : std::min(sum, part_of(to_ns - from_ns, host.stretch_ppb) + kRounding_ns);
}

RunWindow HostTable::window_of(const std::vector<std::size_t>& callbacks,
                               const RunWindow& window) const {
  RunWindow result = window;
  for (const std::size_t callback : callbacks) {
    if (!hosts.empty()) {
      const RunWindow& traced = hosts[of_callback[callback]].traced;
      result.start_ns = std::max(result.start_ns, traced.start_ns);
      result.end_ns = std::min(result.end_ns, traced.end_ns);
    }
  }
  result.end_ns = std::max(result.start_ns, result.end_ns);
  return result;
}

std::int64_t response_error_ns(const RunResults& results, std::size_t chain,
                               const ChainInstance& instance) {
  const std::vector<std::size_t>& callbacks = results.application.chains[chain].callbacks;
  return results.hosts.error_between_ns(callbacks.front(), instance.release_ns, callbacks.back(),
                                        *instance.completion_ns);
}

namespace {

/// Counts the outputs of a cause-effect chain with a limit within the error of their times.
void judge_outputs(RunResults& results, std::size_t index) {
  const model::Application& application = results.application;
  const model::CauseEffectChain& chain = application.cause_effect_chains[index];
  CauseEffectResult& result = results.cause_effect_chains[index];
  const std::size_t first = application.chains[chain.segments.front().chain].callbacks.front();
  const std::size_t last = application.chains[chain.segments.back().chain].callbacks.back();
  const auto judge = [&](const auto& limit, std::chrono::nanoseconds time,
                         std::chrono::nanoseconds end, std::uint64_t& missed,
                         std::uint64_t& unknown) {
    const std::int64_t error_ns =
        results.hosts.error_between_ns(first, (end - time).count(), last, end.count());
    result.error_ns = std::max(result.error_ns, error_ns);
    const std::int64_t beyond_ns = limit ? (time - *limit).count() : INT64_MIN / 2;
    if (beyond_ns - error_ns <= 0 && beyond_ns + error_ns > 0) {
      missed -= beyond_ns > 0 ? 1U : 0U;
      ++unknown;
    }
  };
  for (const model::CauseEffectOutput& each : result.found.outputs) {
    judge(chain.max_age, each.age(), each.end, result.missed_age, result.unknown_age);
    if (each.reaction) {
      judge(chain.max_reaction, *each.reaction, each.end, result.missed_reaction,
            result.unknown_reaction);
    }
  }
}

}  // namespace

namespace {

/// Returns whether an instance that has not ended may have been due after the end of what was
/// recorded, within the error of its release. The end has its own error already.
bool may_be_due_later(const RunResults& results, std::size_t chain, const ChainInstance& one) {
  const model::Chain& own = results.application.chains[chain];
  const std::int64_t end_ns = results.hosts.window_of(own.callbacks, results.window).end_ns;
  const std::int64_t error_ns = results.hosts.error_ns(own.callbacks.front(), one.release_ns);
  return one.status == ChainStatus::kPending && one.missed &&
         end_ns - one.release_ns - own.deadline.count() < error_ns;
}

}  // namespace

void judge_over_hosts(RunResults& results) {
  std::set<std::pair<std::size_t, std::uint64_t>> unknown;
  for (std::size_t chain = 0; !results.hosts.hosts.empty() && chain < results.chains.size();
       ++chain) {
    const std::int64_t deadline_ns = results.application.chains[chain].deadline.count();
    ChainResult& result = results.chains[chain];
    for (ChainInstance& one : result.instances) {
      if (!one.completion_ns) {
        if (may_be_due_later(results, chain, one)) {
          result.missed -= 1;
          result.missed_host -= one.missed_host ? 1 : 0;
          one.missed = one.missed_host = false;
          unknown.emplace(chain, one.instance);
        }
        continue;
      }
      const std::int64_t error_ns = response_error_ns(results, chain, one);
      const std::int64_t beyond_ns = *one.response_ns() - deadline_ns;
      if (beyond_ns - error_ns > 0 || beyond_ns + error_ns <= 0) {
        continue;  // as decided
      }
      result.missed -= one.missed ? 1 : 0;
      result.missed_host -= one.missed_host ? 1 : 0;
      one.missed = one.missed_host = false;
      one.status = ChainStatus::kUnknown;
      ++result.unknown;
      unknown.emplace(chain, one.instance);
    }
  }
  for (std::size_t i = 0; !results.hosts.hosts.empty() && i < results.cause_effect_chains.size();
       ++i) {
    judge_outputs(results, i);
  }
  std::erase_if(results.misses, [&](const ChainMiss& miss) {
    return unknown.contains({miss.chain, miss.instance.instance});
  });
}

}  // namespace rclrt::recorder
