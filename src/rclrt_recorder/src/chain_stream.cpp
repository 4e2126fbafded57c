// SPDX-License-Identifier: Apache-2.0
#include "chain_stream.hpp"

#include <algorithm>
#include <cmath>
#include <rclrt/model/no_deadline.hpp>

namespace rclrt::recorder {

ChainStream::ChainStream(const model::Application& application, std::size_t chain,
                         std::int64_t start_ns, bool found)
    : chain_(chain),
      first_(application.chains[chain].callbacks.front()),
      last_(application.chains[chain].callbacks.back()),
      start_ns_(start_ns),
      deadline_ns_(application.chains[chain].deadline.count()),
      has_deadline_(application.chains[chain].deadline < model::kNoDeadline),
      found_(found),
      releases_(application, chain, start_ns, found) {
  for (const std::size_t callback : application.chains[chain].callbacks) {
    has_sync_ = has_sync_ || application.callbacks[callback].kind() == model::CallbackKind::kSync;
  }
}

void ChainStream::take(const InstanceRecord& record, const ChainToken& token) {
  if (releases_.are_observed() && record.callback == first_ && token.release_ns >= start_ns_) {
    if (found_) {
      release_between({token.instance, token.release_ns});
    }
    release({token.instance, token.release_ns});
  }
  if (record.callback != last_ || record.outcome != Outcome::kRan) {
    return;
  }
  release_before(std::min(token.release_ns, record.end_ns) + 1);
  const auto open = std::ranges::lower_bound(open_, token.instance, {}, &Open::instance);
  if (open != open_.end() && open->instance == token.instance) {
    std::optional<std::int64_t>& completion_ns = open->facts.completion_ns;
    completion_ns = std::min(completion_ns.value_or(record.end_ns), record.end_ns);
    open->release_ns = token.release_ns;  // by the clock of its host
  } else if (!last_released_ || token.instance > *last_released_) {
    const auto [known, is_new] =
        early_.try_emplace(token.instance, Early{record.end_ns, token.release_ns});
    known->second.end_ns = std::min(known->second.end_ns, record.end_ns);
    if (early_.size() > kMostOpen) {
      early_.erase(early_.begin());
    }
  }
}

void ChainStream::release_before(std::int64_t end_ns) {
  while (const auto next = releases_.next_before(end_ns)) {
    release(*next);
  }
}

/// Adds the releases between the newest one and `release`, which the timer's callback did not run
/// for. The first ones of a long gap count as waiting ones, so the memory has a bound.
void ChainStream::release_between(const ChainRelease& release) {
  if (!last_released_ || release.instance <= *last_released_ + 1) {
    return;
  }
  const ChainRelease before{*last_released_, last_release_ns_};
  const std::uint64_t steps = release.instance - before.instance;
  const double step_ns =
      static_cast<double>(release.release_ns - before.release_ns) / static_cast<double>(steps);
  const auto at = [&](std::uint64_t step) {
    return ChainRelease{before.instance + step,
                        before.release_ns + std::llround(step_ns * static_cast<double>(step))};
  };
  std::uint64_t step = 1;
  if (steps > kMostOpen) {
    step = steps - kMostOpen;
    waiting_ += step - 1;
    last_waiting_ = at(step - 1);
  }
  for (; step < steps; ++step) {
    this->release(at(step));
  }
}

void ChainStream::release_until(std::int64_t end_ns) {
  const std::int64_t period_ns = releases_.period_ns();
  if (!found_ || !last_released_ || period_ns <= 0 || end_ns <= last_release_ns_) {
    return;
  }
  const auto steps = static_cast<std::uint64_t>((end_ns - 1 - last_release_ns_) / period_ns);
  if (steps > 0) {
    const ChainRelease last{*last_released_ + steps,
                            last_release_ns_ + static_cast<std::int64_t>(steps) * period_ns};
    release_between(last);
    release(last);
  }
}

/// Returns whether a found release has counted already. Each release between the first one and the
/// newest is opened, so one that is not open any more is settled or waits.
bool ChainStream::has_counted(std::uint64_t instance) const {
  return found_ && first_released_ && instance >= *first_released_ &&
         ((newest_settled_ && instance <= *newest_settled_) ||
          (last_waiting_ && instance <= last_waiting_->instance));
}

void ChainStream::release(const ChainRelease& release) {
  Open added{.instance = release.instance, .release_ns = release.release_ns, .facts = {}};
  if (const auto early = early_.find(release.instance); early != early_.end()) {
    added.facts.completion_ns = early->second.end_ns;
    added.release_ns = early->second.release_ns;
    early_.erase(early);
  }
  if (!last_released_ || release.instance > *last_released_) {
    last_released_ = release.instance;
    first_released_ = first_released_.value_or(release.instance);
    last_release_ns_ = release.release_ns;
    open_.push_back(added);
    return;
  }
  // Records of different threads come a little out of order.
  const auto place = std::ranges::lower_bound(open_, release.instance, {}, &Open::instance);
  const bool is_open = place != open_.end() && place->instance == release.instance;
  if (!is_open && !has_counted(release.instance)) {
    open_.insert(place, added);
    first_released_ = std::min(*first_released_, release.instance);
  }
}

void ChainStream::note_newer_completions() {
  std::optional<std::uint64_t> completed = newest_completed_;
  for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
    open->facts.newer_completed = completed && *completed > open->instance;
    if (open->facts.completion_ns) {
      completed = std::max(completed.value_or(0), open->instance);
    }
  }
  if (completed) {
    decide_waiting(*completed);
  }
}

/// Keeps the fate of an open instance. Its messages may have left the records since it was found.
void ChainStream::note_fate(Open& open, model::SyncFate fate, bool& is_certain) {
  const auto is_final = [](model::SyncFate one) {
    return one == model::SyncFate::kUnmatched || one == model::SyncFate::kLostByDepth;
  };
  // The second time: all messages that could change it have arrived meanwhile.
  is_certain = is_final(fate) && open.facts.fate == fate;
  if (fate != model::SyncFate::kOther || !is_final(open.facts.fate)) {
    open.facts.fate = fate;
  }
}

void ChainStream::advance(std::int64_t horizon_ns, const model::SyncFates* fates,
                          const StallTimeline& stalls, std::vector<ChainInstance>& settled) {
  release_before(horizon_ns);
  note_newer_completions();
  const std::int64_t patience_ns =
      has_deadline_ ? std::max(kPatience_ns, 2 * deadline_ns_) : kPatience_ns;
  std::erase_if(open_, [&](Open& open) {
    bool is_certain = false;
    if (open.facts.completion_ns) {
      is_certain = *open.facts.completion_ns < horizon_ns;
    } else if (open.release_ns < horizon_ns) {
      if (fates != nullptr) {
        note_fate(open, fates->of(chain_, open.instance), is_certain);
      }
      const bool is_old = horizon_ns - open.release_ns > patience_ns;
      is_certain = is_certain || (open.facts.newer_completed && is_old);
    }
    if (is_certain) {
      settle(open, INT64_MAX, stalls, settled);
    }
    return is_certain;
  });
  limit_open(stalls, settled);
}

void ChainStream::limit_open(const StallTimeline& stalls, std::vector<ChainInstance>& settled) {
  while (open_.size() > kMostOpen) {
    const Open& oldest = open_.front();
    if (oldest.facts.completion_ns || oldest.facts.newer_completed) {
      settle(oldest, INT64_MAX, stalls, settled);
    } else {
      ++waiting_;
      if (!last_waiting_ || oldest.instance > last_waiting_->instance) {
        last_waiting_ = {oldest.instance, oldest.release_ns};
      }
    }
    open_.pop_front();
  }
}

/// Counts the waiting instances as dropped if a newer one has completed.
void ChainStream::decide_waiting(std::uint64_t completed) {
  if (waiting_ > 0 && completed > last_waiting_->instance) {
    counts_.released += waiting_;
    counts_.dropped += waiting_;
    counts_.missed += waiting_;
    waiting_ = 0;
  }
}

void ChainStream::finish(std::int64_t end_ns, const model::SyncFates* fates,
                         const StallTimeline& stalls, std::vector<ChainInstance>& settled) {
  release_before(end_ns);
  std::erase_if(open_, [&](const Open& open) { return open.release_ns >= end_ns; });
  note_newer_completions();
  for (Open& open : open_) {
    if (fates != nullptr && !open.facts.completion_ns) {
      bool is_certain = false;
      note_fate(open, fates->of(chain_, open.instance), is_certain);
    }
    settle(open, end_ns, stalls, settled);
  }
  open_.clear();
  counts_.released += waiting_;
  counts_.pending += waiting_;
  counts_.missed +=
      waiting_ > 0 && last_waiting_->release_ns + deadline_ns_ <= end_ns ? waiting_ : 0;
  waiting_ = 0;
}

void ChainStream::settle(const Open& open, std::int64_t end_ns, const StallTimeline& stalls,
                         std::vector<ChainInstance>& settled) {
  ChainInstance& instance = settled.emplace_back();
  instance.instance = open.instance;
  instance.release_ns = open.release_ns;
  judge(instance, open.facts, deadline_ns_, end_ns, stalls);
  ++counts_.released;
  newest_settled_ = std::max(newest_settled_.value_or(0), open.instance);
  if (const auto response_ns = instance.response_ns()) {
    ++counts_.completed;
    responses_.add(*response_ns);
    newest_completed_ = std::max(newest_completed_.value_or(0), open.instance);
  }
  counts_.dropped += instance.status == ChainStatus::kDropped ? 1U : 0U;
  counts_.pending += instance.status == ChainStatus::kPending ? 1U : 0U;
  counts_.unmatched += instance.status == ChainStatus::kUnmatched ? 1U : 0U;
  counts_.missed += instance.missed ? 1U : 0U;
  counts_.missed_host += instance.missed_host ? 1U : 0U;
}

void ChainStream::append_open(std::vector<ChainRelease>& releases) const {
  for (const Open& each : open_) {
    releases.push_back({each.instance, each.release_ns});
  }
}

ChainResult ChainStream::result() const {
  ChainResult result = counts_;
  result.response = responses_.summary();
  return result;
}

}  // namespace rclrt::recorder
