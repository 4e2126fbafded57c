// SPDX-License-Identifier: Apache-2.0
#include "streamed_results.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <variant>

#include "logged_runs.hpp"
#include "rclrt/recorder/lineage.hpp"
#include "rclrt/recorder/run_stream.hpp"

namespace rclrt::trace {

namespace {

/// The latest instances that may be publishers of later messages.
constexpr std::size_t kPublishers = 65'536;
/// The runs of the second reading that wait for the ends of those that started before them.
constexpr RunLimits kSecond{.all = 100'000, .latest = 50'000};

/// Passes runs on to a RunStream, in the order of their starts.
class RunImporter {
 public:
  RunImporter(const TracedSystem& system, const TracedModel& model,
              recorder::ChainFollower& follower, recorder::RunStream& stream)
      : system_(system),
        model_(model),
        sampled_(are_sampled(model.application)),
        follower_(follower),
        stream_(stream) {}

  /// Takes the next runs, in the order of their ends. Passes on the first half of those that wait:
  /// a run that starts before them and has not ended yet is very long.
  void take(std::span<const TracedInstance> runs) {
    waiting_.insert(waiting_.end(), runs.begin(), runs.end());
    std::ranges::stable_sort(waiting_, {}, &TracedInstance::start_ns);
    pass_on(waiting_.size() / 2);
  }

  void finish() { pass_on(waiting_.size()); }

 private:
  struct Writer {
    std::int64_t stored_ns = 0;
    std::int64_t end_ns = 0;
  };

  void pass_on(std::size_t count) {
    std::vector<recorder::LoggedInstance> portion;
    portion.reserve(count);
    for (TracedInstance& run : std::span(waiting_).first(count)) {
      add_release(run);
      if (run.stored_ns != 0 && run.first_publication_ns != 0) {
        writers_[{run.callback, run.thread, run.start_ns}] = {run.stored_ns, run.end_ns};
      }
      if (model_.callback_of[run.callback] != kNone) {
        portion.push_back(add(run));
      }
    }
    if (count > 0) {
      forget_writers(waiting_[count - 1].start_ns);
    }
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
    std::ranges::stable_sort(portion, {}, [](const auto& each) { return each.record.end_ns; });
    stream_.add(portion);
    if (!waiting_.empty()) {
      stream_.advance(waiting_.front().start_ns);
    }
  }

  /// Sets the release of a run of rclcpp's timers, which have no event.
  void add_release(TracedInstance& run) {
    require_known(run);
    const TracedCallback& callback = system_.callbacks()[run.callback];
    if (before_.size() <= run.callback) {
      before_.resize(system_.callbacks().size(), INT64_MIN);
    }
    if (run.release_ns == 0 && callback.kind == TriggerKind::kTimer && callback.period_ns > 0) {
      run.release_ns = run.ready_ns = rcl_release_ns(callback, before_[run.callback], run.start_ns);
    }
    before_[run.callback] = run.start_ns;
  }

  void require_known(const TracedInstance& run) const {
    if (run.callback >= model_.callback_of.size() || run.thread >= model_.slot_of.size()) {
      throw TraceError(
          "the trace has changed while it was read\n"
          "  fix: stop its session first, or read a copy");
    }
  }

  recorder::LoggedInstance add(const TracedInstance& run) {
    latest_.push_back(logged(system_.callbacks()[run.callback], model_, run));
    recorder::InstanceRecord& record = latest_.back().record;
    record.first_part = 0;
    record.part_count = 0;
    record.id = ++last_id_;
    if (record.stored_ns == 0 && sampled_[record.callback]) {
      record.stored_ns = run.first_publication_ns;
    }
    if (run.sampled_from != kNone) {
      read_after_store(run, record);
    }
    follower_.follow(latest_.back());
    const recorder::LoggedInstance result = latest_.back();
    if (latest_.size() > kPublishers) {
      follower_.forget(latest_.front());
      latest_.pop_front();
    }
    return result;
  }

  /// Sets the time at which a run read the newest message of a run that also stores a value: to
  /// when that run stored it.
  void read_after_store(const TracedInstance& reader, recorder::InstanceRecord& record) const {
    const auto after =
        writers_.upper_bound({reader.sampled_from, reader.sampled_thread, reader.sampled_ns});
    if (after == writers_.begin()) {
      return;
    }
    const auto& [key, writer] = *std::prev(after);
    if (std::get<0>(key) == reader.sampled_from && std::get<1>(key) == reader.sampled_thread &&
        writer.end_ns >= reader.sampled_ns) {
      record.read_ns = std::max(record.read_ns, writer.stored_ns);
    }
  }

  /// Forgets the writers from before the previous portion, except the latest of each thread.
  void forget_writers(std::int64_t until_ns) {
    const std::int64_t before_ns = std::exchange(portion_end_ns_, until_ns);
    for (auto each = writers_.begin(); each != writers_.end();) {
      const auto next = std::next(each);
      const bool has_later = next != writers_.end() &&
                             std::get<0>(next->first) == std::get<0>(each->first) &&
                             std::get<1>(next->first) == std::get<1>(each->first);
      each = has_later && std::get<2>(each->first) < before_ns ? writers_.erase(each) : next;
    }
  }

  const TracedSystem& system_;
  const TracedModel& model_;
  const std::vector<bool> sampled_;
  recorder::ChainFollower& follower_;
  recorder::RunStream& stream_;
  std::vector<TracedInstance> waiting_;  // sorted by start after take()
  std::vector<std::int64_t> before_;     // per callback: the start of its latest run
  std::deque<recorder::LoggedInstance> latest_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, Writer> writers_;
  std::int64_t portion_end_ns_ = INT64_MIN;
  std::uint64_t last_id_ = 0;
};

}  // namespace

recorder::RunResults stream_results(TracedSystem& system, TracedModel model,
                                    const model::ExecutorChoice& executor, const ReadCounts& counts,
                                    const ReadAgain& read, std::vector<std::string>& notes) {
  recorder::RunResults results = begin_results(model, executor, counts, notes);
  const std::vector<model::Callback>& callbacks = results.application.callbacks;
  std::vector<recorder::TimerReleases> releases(callbacks.size());
  std::vector<bool> has_ready_times(callbacks.size(), false);
  results.window = {INT64_MAX, system.last_ns()};
  for (const std::uint32_t traced : system.first_runs()) {
    const std::uint32_t index = model.callback_of[traced];
    if (index == kNone) {
      continue;
    }
    const RunTotals& totals = system.totals()[traced];
    results.window.start_ns = std::min(results.window.start_ns, totals.earliest_ns);
    has_ready_times[index] = has_ready_times[index] || totals.has_ready_times;
    results.callback_counts[index] += recorder::CallbackCounts{totals.runs, totals.runs};
    if (const auto* const timer = std::get_if<model::Timer>(&callbacks[index].trigger)) {
      releases[index].add(totals.releases, timer->period.count());
    }
  }
  system = TracedSystem();
  recorder::ChainFollower follower(results.application, results.window, releases,
                                   std::vector<bool>(callbacks.size(), false));
  model.application = results.application;
  const recorder::RunResults frame = results;
  recorder::RunStream stream(frame, std::max<std::size_t>(counts.cpus, 1));
  stream.stream();
  TracedSystem second(kSecond);
  RunImporter importer(second, model, follower, stream);
  second.set_sink([&importer](std::span<TracedInstance> runs) { importer.take(runs); });
  read([&second](const TraceEvent& event) { second.take(event); });
  second.finish();
  importer.finish();
  stream.finish(results);
  std::erase_if(results.hops,
                [&](const recorder::HopResult& hop) { return !has_ready_times[hop.to]; });
  return results;
}

}  // namespace rclrt::trace
