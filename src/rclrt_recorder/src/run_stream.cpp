// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/run_stream.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <optional>
#include <rclrt/model/sync_fates.hpp>
#include <utility>
#include <variant>

#include "callback_stream.hpp"
#include "cause_effect_stream.hpp"
#include "chain_stream.hpp"
#include "kept_records.hpp"
#include "miss_explainer.hpp"
#include "rclrt/recorder/run_accounting.hpp"
#include "stall_stream.hpp"
#include "worst_instances.hpp"

namespace rclrt::recorder {

namespace {

/// The most settled instances of one chain that are kept, the latest ones.
constexpr std::size_t kLatestOfChain = 16'384;
/// The most stalls that are kept: while all instances are, and while the run streams.
constexpr std::size_t kAllStalls = 65'536;
constexpr std::size_t kLatestStalls = 2'048;
/// Instances that ended so long before the newest one have all arrived: threads at normal priority
/// collect them every few milliseconds.
constexpr std::int64_t kLateArrival_ns = 1'000'000'000;

/// Returns the most instances to keep around one of the worst, so that those of all chains together
/// are no more than the latest ones.
std::size_t around_each(const StreamLimits& limits, std::size_t chains) {
  const std::size_t worst = 2 * StreamLimits::kWorst * std::max<std::size_t>(chains, 1);
  return std::clamp<std::size_t>(limits.latest / worst, 16, limits.around);
}

/// Everything that settling instances of chains changes.
struct Settling {
  std::vector<ChainStream> chains{};
  std::vector<std::deque<ChainInstance>> latest{};  ///< settled ones, by chain
  WorstInstances worst{0, 0};
};

}  // namespace

std::uint64_t expected_instances(const model::Application& application,
                                 std::chrono::nanoseconds duration) {
  const std::vector<double> rates = application.rates();
  const double per_second = std::accumulate(rates.begin(), rates.end(), 0.0);
  return static_cast<std::uint64_t>(per_second * std::chrono::duration<double>(duration).count());
}

class RunStream::Impl {
 public:
  Impl(const RunResults& frame, std::size_t cpus, const StreamLimits& limits)
      : frame_(frame),
        cpus_(cpus),
        limits_(limits),
        callbacks_(frame.application.callbacks.size()),
        cause_effect_(frame.application),
        stalls_(frame.application) {}

  void stream() {
    streams_ = true;
    records_.reserve(most_records());
  }
  void find_releases() { finds_releases_ = true; }
  void grow() {
    callbacks_.resize(frame_.application.callbacks.size());
    stalls_.grow();
    if (explainer_) {
      begin();
    }
  }
  bool streams() const { return streams_; }
  std::uint64_t instances() const { return let_go_ + records_.size(); }

  void add(std::span<const LoggedInstance> instances) {
    while (!instances.empty()) {
      const auto now = instances.first(std::min(instances.size(), limits_.step));
      instances = instances.subspan(now.size());
      records_.insert(records_.end(), now.begin(), now.end());
      streams_ = streams_ || records_.size() > limits_.keep_all;
      if (streams_ && records_.size() - advanced_ >= limits_.step) {
        advance(newest() - kLateArrival_ns);
      }
    }
  }

  void add_stalls(std::span<const HostStall> stalls) {
    stalls_.add(stalls, streams_ ? kLatestStalls : kAllStalls, frame_.host_stalls.threshold);
  }

  void advance(std::int64_t horizon_ns) {
    do {
      take_until(std::min(records_.size(), taken_ + limits_.step));
      settle(taken_ == records_.size() ? horizon_ns : newest_ns_ - kLateArrival_ns);
    } while (taken_ < records_.size());
    advanced_ = taken_;
    let_go();
  }

  void fill(RunResults& results, std::size_t latest) {
    take_until(records_.size());
    fill_from(settling_, cause_effect_, results, latest);
  }

  void finish(RunResults& results) {
    if (streams_) {
      take_until(records_.size());
      fill_from(std::move(settling_), std::move(cause_effect_), results, SIZE_MAX);
      return;
    }
    stalls_.report(results.host_stalls);
    account(results, std::move(records_), cpus_);
  }

  Held held() const {
    Held result{.records = records_.capacity() + settling_.worst.records()};
    for (std::size_t i = 0; i < settling_.chains.size(); ++i) {
      result.chain_instances += settling_.chains[i].open() + settling_.latest[i].size();
      result.counters += settling_.chains[i].responses().counters();
    }
    for (const CallbackStream& each : callbacks_) {
      result.counters += each.counters();
    }
    return result;
  }

 private:
  using Records = std::span<const LoggedInstance>;

  std::size_t most_records() const { return limits_.latest + 3 * limits_.step; }

  /// Returns the counted instances that the others are explained with.
  Records latest() const { return Records(records_).subspan(front_, taken_ - front_); }
  bool is_whole() const { return let_go_ + front_ == 0; }

  std::int64_t newest() const {
    std::int64_t result = newest_ns_;
    for (std::size_t i = taken_; i < records_.size(); ++i) {
      result = std::max(result, records_[i].record.end_ns);
    }
    return result;
  }

  /// Begins to count the chains, which needs the start of the run.
  void begin() {
    const model::Application& application = frame_.application;
    const std::size_t chains = application.chains.size();
    for (std::size_t chain = settling_.chains.size(); chain < chains; ++chain) {
      settling_.chains.emplace_back(application, chain, frame_.window.start_ns, finds_releases_);
      has_sync_ = has_sync_ || settling_.chains.back().has_sync();
    }
    settling_.latest.resize(chains);
    settling_.worst.grow(chains, around_each(limits_, chains));
    explainer_.emplace(frame_, cpus_);
  }

  /// Returns whether the timer that starts the chain is known to have gone on.
  bool goes_on(std::size_t chain) const {
    const model::Application& application = frame_.application;
    const std::size_t first = application.chains[chain].callbacks.front();
    const auto* const timer = std::get_if<model::Timer>(&application.callbacks[first].trigger);
    return timer != nullptr && timer->overrun != model::OverrunPolicy::kRebase;
  }

  /// Counts the instances up to number `end`.
  void take_until(std::size_t end) {
    if (!explainer_) {
      begin();
    }
    for (; taken_ < end; ++taken_) {
      const LoggedInstance& logged = records_[taken_];
      const InstanceRecord& record = logged.record;
      newest_ns_ = std::max(newest_ns_, record.end_ns);
      callbacks_[record.callback].take(record);
      if (const auto time_ns = hop_ns(logged)) {
        hops_[{logged.publisher, record.callback}].add(*time_ns);
      }
      if (has_sync_ &&
          frame_.application.callbacks[record.callback].kind() == model::CallbackKind::kSync) {
        in_syncs_.push_back(record);
      }
      cause_effect_.take(record);
      for (const ChainToken& token : record.tokens.all()) {
        if (token.chain < settling_.chains.size()) {
          settling_.chains[token.chain].take(record, token);
        }
      }
    }
    front_ = std::max(front_, taken_ - std::min(taken_, limits_.latest));
  }

  /// Returns the fates of messages in synchronisers; std::nullopt if no chain passes one.
  std::optional<model::SyncFates> fates(std::int64_t end_ns) const {
    if (!has_sync_) {
      return std::nullopt;
    }
    return find_fates(frame_.application, end_ns, in_syncs_);
  }

  /// Settles what is certain at `time_ns`; `end`: everything, because the run ended then.
  void settle_in(Settling& state, std::int64_t time_ns, bool end) {
    const auto found = fates(end ? time_ns : newest_ns_);
    std::vector<std::vector<ChainInstance>> settled(state.chains.size());
    for (std::size_t i = 0; i < state.chains.size(); ++i) {
      ChainStream& chain = state.chains[i];
      const model::SyncFates* const known = chain.has_sync() ? &*found : nullptr;
      const StallTimeline& stalls = stalls_.of_chain(i, frame_.host_stalls.valid);
      if (end) {
        if (finds_releases_ && goes_on(i)) {
          chain.release_until(time_ns);
        }
        chain.finish(time_ns, known, stalls, settled[i]);
      } else {
        chain.advance(time_ns, known, stalls, settled[i]);
      }
      state.latest[i].insert(state.latest[i].end(), settled[i].begin(), settled[i].end());
    }
    state.worst.take(settled, latest(), *explainer_);
  }

  void settle(std::int64_t horizon_ns) {
    settle_in(settling_, horizon_ns, false);
    if (in_syncs_.size() > limits_.latest + limits_.step) {
      in_syncs_.erase(in_syncs_.begin(),
                      in_syncs_.end() - static_cast<std::ptrdiff_t>(limits_.latest));
    }
    const std::int64_t since_ns = is_whole() ? INT64_MIN : latest().front().record.end_ns;
    for (auto& latest : settling_.latest) {
      // Ascending only about, so some are kept a little longer.
      while (!latest.empty() &&
             (latest.size() > kLatestOfChain || latest.front().release_ns < since_ns)) {
        latest.pop_front();
      }
    }
    if (!cause_effect_.empty()) {
      cause_effect_.advance(releases_in(settling_), horizon_ns);
    }
  }

  static std::vector<std::vector<ChainRelease>> releases_in(const Settling& state) {
    std::vector<std::vector<ChainRelease>> result(state.chains.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
      for (const ChainInstance& each : state.latest[i]) {
        result[i].push_back({each.instance, each.release_ns});
      }
      state.chains[i].append_open(result[i]);
    }
    return result;
  }

  /// Lets go of the oldest records, if the run streams.
  void let_go() {
    if (!streams_ || front_ < limits_.step) {  // moving the others costs time
      return;
    }
    records_.erase(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(front_));
    taken_ -= front_;
    advanced_ -= front_;
    let_go_ += front_;
    front_ = 0;
    if (records_.capacity() > most_records()) {  // it kept all of them before
      std::vector<LoggedInstance> smaller;
      smaller.reserve(most_records());
      smaller.assign(records_.begin(), records_.end());
      records_.swap(smaller);
    }
  }

  void fill_from(Settling state, CauseEffectStream cause_effect, RunResults& results,
                 std::size_t most) {
    settle_in(state, results.window.end_ns, true);
    const Records all = latest();
    const Records kept = all.last(std::min(all.size(), most));
    const bool whole = is_whole() && kept.size() == all.size();
    const std::int64_t since_ns =
        whole || kept.empty() ? results.window.start_ns : kept.front().record.end_ns;
    results.streamed = StreamedStatement{.instances = instances(), .latest_since_ns = since_ns};
    results.chains.clear();
    for (std::size_t chain = 0; chain < state.chains.size(); ++chain) {
      results.streamed->responses.push_back(state.chains[chain].responses());
      results.chains.push_back(state.chains[chain].result());
      std::ranges::copy_if(state.latest[chain], std::back_inserter(results.chains.back().instances),
                           [&](const auto& one) { return one.release_ns >= since_ns; });
    }
    set_kept(results, state.worst, kept);
    results.callbacks.clear();
    const bool counted = !results.callback_counts.empty();
    for (const CallbackStream& each : callbacks_) {
      if (!counted) {
        results.callback_counts.push_back({.released = each.taken(), .completed = each.taken()});
      }
      results.callbacks.push_back(each.result());
      results.streamed->callbacks.push_back(each.times());
    }
    results.hops.clear();
    for (const auto& [hop, times] : hops_) {
      results.hops.push_back({hop.first, hop.second, *times.summary()});
    }
    cause_effect.finish(releases_in(state), results);
    stalls_.report(results.host_stalls);
  }

  const RunResults& frame_;
  const std::size_t cpus_;
  const StreamLimits limits_;
  bool streams_ = false;
  bool has_sync_ = false;
  bool finds_releases_ = false;
  std::vector<LoggedInstance> records_;   // all, or the latest ones
  std::size_t front_ = 0;                 // the first of those that are used
  std::size_t taken_ = 0;                 // how many are counted
  std::size_t advanced_ = 0;              // how many there were when it last settled instances
  std::uint64_t let_go_ = 0;              // how many came before records_
  std::int64_t newest_ns_ = 0;            // end of the counted ones
  std::vector<InstanceRecord> in_syncs_;  // the latest ones of synchronisers
  std::vector<CallbackStream> callbacks_;
  std::map<std::pair<std::size_t, std::size_t>, TimeDistribution> hops_;
  Settling settling_;
  CauseEffectStream cause_effect_;
  std::optional<MissExplainer> explainer_;  // none: nothing was counted yet
  StallStream stalls_;
};

RunStream::RunStream(const RunResults& frame, std::size_t cpus, const StreamLimits& limits)
    : impl_(std::make_unique<Impl>(frame, cpus, limits)) {}
RunStream::~RunStream() = default;

void RunStream::stream() { impl_->stream(); }
void RunStream::find_releases() { impl_->find_releases(); }
void RunStream::grow() { impl_->grow(); }
bool RunStream::streams() const { return impl_->streams(); }
void RunStream::add(std::span<const LoggedInstance> instances) { impl_->add(instances); }
void RunStream::add_stalls(std::span<const HostStall> stalls) { impl_->add_stalls(stalls); }
void RunStream::advance(std::int64_t horizon_ns) { impl_->advance(horizon_ns); }
std::uint64_t RunStream::instances() const { return impl_->instances(); }
void RunStream::fill(RunResults& results, std::size_t latest) { impl_->fill(results, latest); }
void RunStream::finish(RunResults& results) { impl_->finish(results); }
RunStream::Held RunStream::held() const { return impl_->held(); }

}  // namespace rclrt::recorder
