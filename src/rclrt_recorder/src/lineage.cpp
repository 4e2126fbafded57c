// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/lineage.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "clock_error.hpp"
#include "found_releases.hpp"
#include "rclrt/recorder/token_rules.hpp"

namespace rclrt::recorder {

namespace {

/// The latest instances of one callback, in the order of their starts.
using Started = std::deque<const LoggedInstance*>;

/// Counts the releases of one timer from the first one in the window.
class ReleaseNumbers {
 public:
  ReleaseNumbers(model::Timer& timer, const RunWindow& window, const TimerReleases& known,
                 bool going_on)
      : period_ns_(timer.period.count()), first_ns_(known.first_ns()) {
    // With a period below 2 us every release would count as on the grid, and most points of the
    // grid have no release.
    on_grid_ = first_ns_ && period_ns_ > 2 * kGridError_ns && known.on_grid();
    set_releases(timer, window, first_ns_, known.last_ns(), on_grid_, going_on);
  }

  /// Returns std::nullopt for a release before the window. `release_ns`: on the clock of its host.
  std::optional<std::uint64_t> number(std::int64_t release_ns) {
    if (!first_ns_ || release_ns < *first_ns_) {
      return std::nullopt;
    }
    return on_grid_ ? static_cast<std::uint64_t>(release_steps(release_ns, *first_ns_, period_ns_))
                    : next_++;
  }

 private:
  const std::int64_t period_ns_;
  const std::optional<std::int64_t> first_ns_;
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

void TimerReleases::add(std::int64_t release_ns, std::int64_t period_ns) {
  if (!first_ns_) {
    first_ns_ = last_ns_ = release_ns;
    return;
  }
  const std::int64_t since_ns = release_ns - *first_ns_;
  on_grid_ = on_grid_ && period_ns > 0 && since_ns >= 0 &&
             std::abs(since_ns - release_steps(release_ns, *first_ns_, period_ns) * period_ns) <=
                 kGridError_ns;
  first_ns_ = std::min(*first_ns_, release_ns);
  last_ns_ = std::max(last_ns_, release_ns);
}

void TimerReleases::add(const TimerReleases& other, std::int64_t period_ns) {
  if (other.first_ns_) {
    add(*other.first_ns_, period_ns);
    last_ns_ = std::max(last_ns_, other.last_ns_);
    on_grid_ = on_grid_ && other.on_grid_;
  }
}

class ChainFollower::Impl {
 public:
  Impl(model::Application& application, const RunWindow& window,
       std::span<const TimerReleases> releases, const std::vector<bool>& going_on)
      : application_(application), releases_(application.callbacks.size()) {
    grow();
    for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
      if (auto* const timer = std::get_if<model::Timer>(&application.callbacks[i].trigger)) {
        releases_[i].emplace(*timer, window, releases[i], going_on[i]);
      }
    }
  }

  explicit Impl(model::Application& application) : application_(application), finds_(true) {
    grow();
  }

  void grow() {
    const std::size_t callbacks = application_.callbacks.size();
    latest_.resize(callbacks);
    found_.resize(callbacks);
    rules_.clear();
    publishers_.assign(callbacks, {});
    for (std::size_t i = 0; i < callbacks; ++i) {
      rules_.emplace_back(application_, i);
      for (const std::size_t successor : application_.successors(i)) {
        publishers_[successor].push_back(i);
      }
    }
  }

  void set_timers(const RunWindow& window, const std::vector<bool>& going_on) {
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (auto* const timer = std::get_if<model::Timer>(&application_.callbacks[i].trigger)) {
        found_[i].set(*timer, window, i < going_on.size() && going_on[i]);
      }
    }
  }

  bool ran_at(std::size_t callback, std::int64_t time_ns, std::int64_t error_ns) const {
    return running_at(latest_[callback], time_ns, error_ns) != nullptr;
  }

  /// A publisher starts before every callback that takes its message, so its tokens are known by
  /// then.
  void follow(LoggedInstance& instance, std::int64_t local_release_ns) {
    InstanceRecord& record = instance.record;
    const std::size_t callback = record.callback;
    Started& own = latest_[callback];
    const auto later = std::upper_bound(
        own.begin(), own.end(), record.start_ns,
        [](std::int64_t time, const LoggedInstance* each) { return time < each->record.start_ns; });
    own.insert(later, &instance);
    if (record.outcome != Outcome::kRan) {
      return;
    }
    if (const auto* const timer =
            std::get_if<model::Timer>(&application_.callbacks[callback].trigger)) {
      const auto number = finds_ ? found_[callback].number(local_release_ns, timer->period.count())
                                 : releases_[callback]->number(local_release_ns);
      if (number) {
        record.tokens = rules_[callback].start(*number, record.release_ns);
      }
      return;
    }
    if (instance.published_ns == 0) {
      return;
    }
    // First without the error of the clock: when a publisher is late, its next instance starts a
    // moment after the message, and must not be taken for the publisher.
    const LoggedInstance* from = publisher_of(instance, 0);
    from = from != nullptr ? from : publisher_of(instance, kClockError_ns);
    if (from != nullptr) {
      instance.publisher = from->record.callback;
      const TokenRules& theirs = rules_[from->record.callback];
      for (const ChainToken& token : from->record.tokens.all()) {
        rules_[callback].take(token, theirs.position(token.chain), {}, record.tokens);
      }
    }
  }

  void forget(const LoggedInstance& instance) {
    Started& own = latest_[instance.record.callback];
    if (const auto found = std::ranges::find(own, &instance); found != own.end()) {
      own.erase(found);
    }
  }

 private:
  const LoggedInstance* publisher_of(const LoggedInstance& taker, std::int64_t error_ns) const {
    const LoggedInstance* from = nullptr;
    for (const std::size_t publisher : publishers_[taker.record.callback]) {
      const LoggedInstance* const one =
          running_at(latest_[publisher], taker.published_ns, error_ns);
      if (one != nullptr && (from == nullptr || from->record.start_ns < one->record.start_ns)) {
        from = one;
      }
    }
    return from;
  }

  model::Application& application_;
  const bool finds_ = false;  // whether the releases are known by the instances only
  std::vector<Started> latest_;
  std::vector<TokenRules> rules_;
  std::vector<std::vector<std::size_t>> publishers_;
  std::vector<std::optional<ReleaseNumbers>> releases_;
  std::vector<FoundReleases> found_;
};

ChainFollower::ChainFollower(model::Application& application, const RunWindow& window,
                             std::span<const TimerReleases> releases,
                             const std::vector<bool>& going_on)
    : impl_(std::make_unique<Impl>(application, window, releases, going_on)) {}

ChainFollower::ChainFollower(model::Application& application)
    : impl_(std::make_unique<Impl>(application)) {}

ChainFollower::~ChainFollower() = default;

void ChainFollower::grow() { impl_->grow(); }

void ChainFollower::set_timers(const RunWindow& window, const std::vector<bool>& going_on) {
  impl_->set_timers(window, going_on);
}

bool ChainFollower::ran_at(std::size_t callback, std::int64_t time_ns,
                           std::int64_t error_ns) const {
  return impl_->ran_at(callback, time_ns, error_ns);
}

void ChainFollower::follow(LoggedInstance& instance) {
  impl_->follow(instance, instance.record.release_ns);
}

void ChainFollower::follow(LoggedInstance& instance, std::int64_t local_release_ns) {
  impl_->follow(instance, local_release_ns);
}

void ChainFollower::forget(const LoggedInstance& instance) { impl_->forget(instance); }

void follow_chains(model::Application& application, const RunWindow& window,
                   std::span<LoggedInstance> instances, const std::vector<bool>& going_on,
                   std::span<const std::int64_t> local_releases_ns) {
  const auto local = [&](const LoggedInstance& each) {
    return local_releases_ns.empty()
               ? each.record.release_ns
               : local_releases_ns[static_cast<std::size_t>(&each - instances.data())];
  };
  std::vector<LoggedInstance*> all;
  for (LoggedInstance& each : instances) {
    all.push_back(&each);
  }
  std::ranges::stable_sort(all, {}, [](const auto* each) { return each->record.start_ns; });
  std::vector<std::vector<std::int64_t>> times(application.callbacks.size());  // of releases
  std::vector<std::int64_t> first_ns(application.callbacks.size(), INT64_MAX);
  std::vector<bool> is_far(application.callbacks.size(), false);
  for (const LoggedInstance* each : all) {
    const std::size_t callback = each->record.callback;
    is_far[callback] = is_far[callback] || local(*each) != each->record.release_ns;
    if (each->record.release_ns >= window.start_ns) {
      times[callback].push_back(local(*each));
      first_ns[callback] = std::min(first_ns[callback], each->record.release_ns);
    }
  }
  std::vector<TimerReleases> releases(application.callbacks.size());
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    if (const auto* const timer = std::get_if<model::Timer>(&application.callbacks[i].trigger)) {
      std::ranges::sort(times[i]);
      for (const std::int64_t release_ns : times[i]) {
        releases[i].add(release_ns, timer->period.count());
      }
    }
  }
  ChainFollower follower(application, window, releases, going_on);
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    auto* const timer = std::get_if<model::Timer>(&application.callbacks[i].trigger);
    if (timer != nullptr && is_far[i] && first_ns[i] != INT64_MAX) {
      timer->offset = model::Nanoseconds(first_ns[i] - window.start_ns);
      timer->overrun = model::OverrunPolicy::kRebase;
    }
  }
  for (LoggedInstance* each : all) {
    follower.follow(*each, local(*each));
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
