// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/lineage.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "clock_error.hpp"
#include "rclrt/recorder/token_rules.hpp"

namespace rclrt::recorder {

namespace {

/// The largest distance of a release from its timer's grid.
constexpr std::int64_t kGridError_ns = 1'000;
/// Used to find timers that had stopped before the end of the recording: those with a last release
/// that is more than this time and two periods before the end.
constexpr std::int64_t kStopped_ns = 100'000'000;

/// The instances of one callback, in the order of their starts.
using Started = std::vector<LoggedInstance*>;

/// Counts the releases of one timer from the first one in the window.
class Releases {
 public:
  /// `local`: returns the release of an instance on the clock of its host. `is_far`: that clock is
  /// not the one of the window.
  Releases(model::Timer& timer, const RunWindow& window, const Started& instances, bool going_on,
           const auto& local, bool is_far)
      : period_ns_(timer.period.count()) {
    std::int64_t last_ns = window.start_ns;
    std::int64_t first_ns = INT64_MAX;
    for (const LoggedInstance* each : instances) {
      if (each->record.release_ns >= window.start_ns) {
        first_ns = std::min(first_ns, each->record.release_ns);
        first_ns_ = std::min(first_ns_.value_or(INT64_MAX), local(*each));
        last_ns = std::max(last_ns, each->record.release_ns);
      }
    }
    // With a period below 2 us every release would count as on the grid, and most points of the
    // grid have no release.
    on_grid_ = first_ns_ && period_ns_ > 2 * kGridError_ns &&
               std::all_of(instances.begin(), instances.end(), [&, this](const auto* each) {
                 const std::int64_t release_ns = local(*each);
                 return release_ns < *first_ns_ ||
                        std::abs(release_ns - *first_ns_ - steps(release_ns) * period_ns_) <=
                            kGridError_ns;
               });
    if (first_ns_) {
      timer.offset = model::Nanoseconds(first_ns - window.start_ns);
    }
    const bool stopped =
        !going_on && (!first_ns_ || (window.end_ns - last_ns - kStopped_ns) / 2 > period_ns_);
    timer.overrun = stopped || is_far || (first_ns_ && !on_grid_) ? model::OverrunPolicy::kRebase
                                                                  : model::OverrunPolicy::kCatchUp;
  }

  /// Returns std::nullopt for a release before the window. `release_ns`: on the clock of its host.
  std::optional<std::uint64_t> number(std::int64_t release_ns) {
    if (!first_ns_ || release_ns < *first_ns_) {
      return std::nullopt;
    }
    return on_grid_ ? static_cast<std::uint64_t>(steps(release_ns)) : next_++;
  }

 private:
  std::int64_t steps(std::int64_t release_ns) const {
    return (release_ns - *first_ns_ + period_ns_ / 2) / period_ns_;
  }

  const std::int64_t period_ns_;
  std::optional<std::int64_t> first_ns_;
  bool on_grid_ = false;
  std::uint64_t next_ = 0;
};

/// Returns the instance of `publisher` that was running at `time_ns`, within `error_ns`; nullptr:
/// none was.
const LoggedInstance* running_at(const Started& publisher, std::int64_t time_ns,
                                 std::int64_t error_ns) {
  auto after = std::upper_bound(
      publisher.begin(), publisher.end(), time_ns + error_ns,
      [](std::int64_t time, const LoggedInstance* each) { return time < each->record.start_ns; });
  constexpr int kAtOnce = 64;  // instances of one reentrant callback
  for (int i = 0; i < kAtOnce && after != publisher.begin(); ++i) {
    if (const LoggedInstance* const each = *--after; each->record.end_ns + error_ns >= time_ns) {
      return each;
    }
  }
  return nullptr;
}

}  // namespace

void follow_chains(model::Application& application, const RunWindow& window,
                   std::span<LoggedInstance> instances, const std::vector<bool>& going_on,
                   std::span<const std::int64_t> local_releases_ns) {
  const auto local = [&](const LoggedInstance& each) {
    return local_releases_ns.empty()
               ? each.record.release_ns
               : local_releases_ns[static_cast<std::size_t>(&each - instances.data())];
  };
  Started all;
  std::vector<Started> of(application.callbacks.size());
  for (LoggedInstance& each : instances) {
    all.push_back(&each);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto* a, const auto* b) {
    return a->record.start_ns < b->record.start_ns;
  });
  for (LoggedInstance* each : all) {
    of[each->record.callback].push_back(each);
  }
  std::vector<TokenRules> rules;
  std::vector<std::vector<std::size_t>> publishers(application.callbacks.size());
  std::vector<std::optional<Releases>> releases(application.callbacks.size());
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    rules.emplace_back(application, i);
    for (const std::size_t successor : application.successors(i)) {
      publishers[successor].push_back(i);
    }
    if (auto* const timer = std::get_if<model::Timer>(&application.callbacks[i].trigger)) {
      const bool is_far = std::ranges::any_of(of[i], [&](const LoggedInstance* each) {
        return local(*each) != each->record.release_ns;
      });
      releases[i].emplace(*timer, window, of[i], going_on[i], local, is_far);
    }
  }
  // The instances are sorted by their start. A publisher starts before every callback that takes
  // its message, so its tokens are known by then.
  for (LoggedInstance* each : all) {
    InstanceRecord& record = each->record;
    const std::size_t callback = record.callback;
    if (record.outcome != Outcome::kRan) {
      continue;
    }
    if (releases[callback]) {
      if (const auto number = releases[callback]->number(local(*each))) {
        record.tokens = rules[callback].start(*number, record.release_ns);
      }
      continue;
    }
    if (each->published_ns == 0) {
      continue;
    }
    const auto publisher_of = [&](std::int64_t error_ns) {
      const LoggedInstance* from = nullptr;
      for (const std::size_t publisher : publishers[callback]) {
        const LoggedInstance* const one = running_at(of[publisher], each->published_ns, error_ns);
        if (one != nullptr && (from == nullptr || from->record.start_ns < one->record.start_ns)) {
          from = one;
        }
      }
      return from;
    };
    // First without the error of the clock: when a publisher is late, its next instance starts a
    // moment after the message, and must not be taken for the publisher.
    const LoggedInstance* from = publisher_of(0);
    from = from != nullptr ? from : publisher_of(kClockError_ns);
    if (from != nullptr) {
      each->publisher = from->record.callback;
      const TokenRules& theirs = rules[from->record.callback];
      for (const ChainToken& token : from->record.tokens.all()) {
        rules[callback].take(token, theirs.position(token.chain), {}, record.tokens);
      }
    }
  }
}

std::vector<std::size_t> unfollowed(const model::Application& application) {
  std::vector<std::size_t> result;
  for (std::size_t chain = 0; chain < application.chains.size(); ++chain) {
    const auto& path = application.chains[chain].callbacks;
    if (std::any_of(path.begin(), path.end(), [&](std::size_t callback) {
          const model::CallbackKind kind = application.callbacks[callback].kind();
          return kind == model::CallbackKind::kSync || kind == model::CallbackKind::kEvent;
        })) {
      result.push_back(chain);
    }
  }
  return result;
}

void leave_out_chains(model::Application& application, std::vector<std::size_t> chains,
                      std::vector<std::string>& notes) {
  std::ranges::sort(chains);
  chains.erase(std::ranges::unique(chains).begin(), chains.end());
  const auto is_left_out = [&](const model::Segment& segment) {
    return std::ranges::binary_search(chains, segment.chain);
  };
  std::erase_if(application.cause_effect_chains, [&](const model::CauseEffectChain& chain) {
    const auto segment = std::ranges::find_if(chain.segments, is_left_out);
    if (segment == chain.segments.end()) {
      return false;
    }
    if (chain.segments.size() > 1) {  // otherwise the chain has the same name
      notes.push_back("chain '" + chain.id + "' is not measured, because its segment '" +
                      application.chains[segment->chain].id + "' is not");
    }
    return true;
  });
  for (model::CauseEffectChain& chain : application.cause_effect_chains) {
    for (model::Segment& segment : chain.segments) {
      segment.chain -= static_cast<std::size_t>(std::ranges::lower_bound(chains, segment.chain) -
                                                chains.begin());
    }
  }
  for (auto each = chains.rbegin(); each != chains.rend(); ++each) {
    const model::Chain& chain = application.chains[*each];
    const bool is_event =
        application.callbacks[chain.callbacks.front()].kind() == model::CallbackKind::kEvent;
    notes.push_back("chain '" + chain.id + "' " +
                    (is_event ? "starts at an event" : "goes through a synchronisation") +
                    " and is not measured");
    application.chains.erase(application.chains.begin() + static_cast<std::ptrdiff_t>(*each));
  }
}

}  // namespace rclrt::recorder
