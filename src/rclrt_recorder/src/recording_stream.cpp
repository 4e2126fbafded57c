// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/recording_stream.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "publication_stream.hpp"
#include "rclrt/recorder/lineage.hpp"
#include "rclrt/recorder/proposed_chains.hpp"

namespace rclrt::recorder {

namespace {

/// Instances that ended so long before the newest one have all arrived.
constexpr std::int64_t kLateArrival_ns = 1'000'000'000;
/// Instances that ended so long ago were added.
constexpr std::int64_t kUnderWay_ns = 500'000'000;
/// The most instances that wait; of more, the first half is passed on early.
constexpr std::size_t kMostWaiting = 65'536;
/// The latest instances that may be publishers of later messages.
constexpr std::size_t kPublishers = 32'768;
/// How often the publishers of the topics are chosen.
constexpr std::int64_t kChoice_ns = 1'000'000'000;

}  // namespace

class RecordingStream::Impl {
 public:
  Impl(RunResults& frame, std::size_t cpus, bool finds_chains, const StreamLimits& limits)
      : frame_(frame),
        finds_chains_(finds_chains),
        follower_(frame.application),
        stream_(frame, cpus, limits) {
    stream_.find_releases();
    stream_.stream();
    grow({});
  }

  void grow(const std::vector<std::set<std::string>>& of_node) {
    frame_.kernel_priorities.resize(frame_.application.callbacks.size());
    if (finds_chains_) {
      publications_.grow(frame_.application, of_node);
    }
    follower_.grow();
    stream_.grow();
  }

  void add(std::span<const LoggedInstance> instances) {
    while (!instances.empty()) {
      const auto now = instances.first(std::min(instances.size(), kMostWaiting / 2));
      instances = instances.subspan(now.size());
      const auto before = static_cast<std::ptrdiff_t>(waiting_.size());
      for (const LoggedInstance& each : now) {
        waiting_.push_back(each);
        newest_ns_ = std::max(newest_ns_, each.record.end_ns);
      }
      std::ranges::stable_sort(waiting_.begin() + before, waiting_.end(), {}, by_start);
      std::ranges::inplace_merge(waiting_, waiting_.begin() + before, {}, by_start);
      pass_on(std::max(due(), waiting_.size() - std::min(waiting_.size(), kMostWaiting / 2)));
    }
  }

  void add_stalls(std::span<const HostStall> stalls) { stream_.add_stalls(stalls); }

  std::int64_t advance(std::int64_t now_ns) {
    newest_ns_ = std::max(newest_ns_, now_ns - kUnderWay_ns);
    pass_on(due());
    const std::int64_t horizon_ns = horizon();
    stream_.advance(horizon_ns);
    return horizon_ns;
  }

  void fill(RunResults& results, const std::vector<bool>& going_on, std::size_t latest) {
    choose_publishers();
    follower_.set_timers(results.window, going_on);
    results.application = frame_.application;
    stream_.fill(results, latest);
  }

  void finish(RunResults& results, const std::vector<bool>& going_on) {
    pass_on(waiting_.size());
    fill(results, going_on, SIZE_MAX);
  }

  std::uint64_t instances() const { return stream_.instances(); }
  bool skips_chains() const { return skips_chains_; }

  Held held() const {
    return {.run = stream_.held(),
            .waiting = waiting_.size(),
            .publishers = publishers_.size(),
            .messages = publications_.messages()};
  }

 private:
  static std::int64_t by_start(const LoggedInstance& one) { return one.record.start_ns; }

  /// Returns how many of those that wait may be passed on: none that started earlier will come.
  std::size_t due() const {
    const auto end = std::ranges::lower_bound(waiting_, newest_ns_ - kLateArrival_ns, {}, by_start);
    return static_cast<std::size_t>(end - waiting_.begin());
  }

  /// Returns the time up to which everything is passed on.
  std::int64_t horizon() const {
    const std::int64_t before_ns = newest_ns_ - kLateArrival_ns;
    return waiting_.empty() ? before_ns : std::min(before_ns, waiting_.front().record.start_ns);
  }

  /// Counts the first ones of those that wait.
  void pass_on(std::size_t count) {
    if (count == 0) {
      return;
    }
    portion_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      publishers_.push_back(waiting_[i]);
      LoggedInstance& one = publishers_.back();
      if (finds_chains_) {
        publications_.take(
            one, [this](std::size_t callback, std::int64_t time_ns, std::int64_t error_ns) {
              return follower_.ran_at(callback, time_ns, error_ns);
            });
      }
      follower_.follow(one);
      portion_.push_back(one);
      if (publishers_.size() > kPublishers) {
        follower_.forget(publishers_.front());
        publishers_.pop_front();
      }
    }
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
    std::ranges::stable_sort(portion_, {}, [](const auto& one) { return one.record.end_ns; });
    stream_.add(portion_);
    if (newest_ns_ - chosen_ns_ >= kChoice_ns) {
      chosen_ns_ = newest_ns_;
      choose_publishers();
    }
  }

  /// Sets what callbacks publish, and adds the chains that follow from it.
  void choose_publishers() {
    if (!finds_chains_) {
      return;
    }
    bool changed = publications_.set(frame_.application);
    changed = add_chains() || changed;
    if (changed) {
      follower_.grow();
      stream_.grow();
    }
  }

  /// Adds the chains to callbacks with a largest age that are certain, each once. Returns whether
  /// there are new ones.
  bool add_chains() {
    if (frame_.max_ages.empty()) {
      return false;
    }
    model::Application known = frame_.application;
    std::erase_if(known.chains, [](const model::Chain& one) { return one.callbacks.size() > 1; });
    const std::set<std::string> certain = publications_.certain();
    for (model::Callback& each : known.callbacks) {
      std::erase_if(each.publishes, [&](const auto& topic) { return !certain.contains(topic); });
    }
    skips_chains_ = add_age_chains(known, frame_.max_ages);
    std::vector<model::Chain>& chains = frame_.application.chains;
    const std::size_t before = chains.size();
    for (model::Chain& each : known.chains) {
      if (std::ranges::find(chains, each.callbacks, &model::Chain::callbacks) == chains.end()) {
        add_chain(std::move(each));
      }
    }
    return chains.size() > before;
  }

  void add_chain(model::Chain chain) {
    std::vector<model::Chain>& chains = frame_.application.chains;
    const bool has_room = std::ranges::all_of(chain.callbacks, [&](std::size_t callback) {
      return std::ranges::count_if(chains, [&](const model::Chain& one) {
               return std::ranges::find(one.callbacks, callback) != one.callbacks.end();
             }) < static_cast<std::ptrdiff_t>(ChainTokens::kCapacity);
    });
    if (!has_room) {  // the publishers have changed: there are chains of earlier ones
      skips_chains_ = true;
      return;
    }
    const std::string id = chain.id;
    for (int number = 2; std::ranges::find(chains, chain.id, &model::Chain::id) != chains.end();
         ++number) {
      chain.id = id + " " + std::to_string(number);
    }
    chains.push_back(std::move(chain));
  }

  RunResults& frame_;
  const bool finds_chains_;
  bool skips_chains_ = false;
  ChainFollower follower_;
  PublicationStream publications_;
  RunStream stream_;
  std::vector<LoggedInstance> waiting_;  // by start
  std::vector<LoggedInstance> portion_;
  std::deque<LoggedInstance> publishers_;  // by start
  std::int64_t newest_ns_ = 0;             // end of an instance, or the time half a second ago
  std::int64_t chosen_ns_ = 0;             // newest_ns_ when publishers were chosen
};

RecordingStream::RecordingStream(RunResults& frame, std::size_t cpus, bool finds_chains,
                                 const StreamLimits& limits)
    : impl_(std::make_unique<Impl>(frame, cpus, finds_chains, limits)) {}
RecordingStream::~RecordingStream() = default;

void RecordingStream::grow(const std::vector<std::set<std::string>>& of_node) {
  impl_->grow(of_node);
}
void RecordingStream::add(std::span<const LoggedInstance> instances) { impl_->add(instances); }
void RecordingStream::add_stalls(std::span<const HostStall> stalls) { impl_->add_stalls(stalls); }
std::int64_t RecordingStream::advance(std::int64_t now_ns) { return impl_->advance(now_ns); }
void RecordingStream::fill(RunResults& results, const std::vector<bool>& going_on,
                           std::size_t latest) {
  impl_->fill(results, going_on, latest);
}
void RecordingStream::finish(RunResults& results, const std::vector<bool>& going_on) {
  impl_->finish(results, going_on);
}
std::uint64_t RecordingStream::instances() const { return impl_->instances(); }
bool RecordingStream::skips_chains() const { return impl_->skips_chains(); }
RecordingStream::Held RecordingStream::held() const { return impl_->held(); }

}  // namespace rclrt::recorder
