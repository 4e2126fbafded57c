// SPDX-License-Identifier: Apache-2.0
// The part of a recording that runs beside the robot: it counts, keeps and writes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/recorder/lineage.hpp"
#include "recording_impl.hpp"

namespace rclrt_robot {

namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

}  // namespace

/// Returns RecordingOptions::write_every, at most a year: so its sum with a time does not overflow.
std::chrono::nanoseconds Recording::Impl::write_every() const {
  constexpr std::chrono::hours kYear{365 * 24};
  return std::min<std::chrono::milliseconds>(options_.write_every, kYear);
}

/// Makes the stream, with the chains of the application's file.
void Recording::Impl::make_stream() {
  model::Application& application = frame_.application;
  application = stated_.value_or(model::Application{});
  if (!stated_) {
    application.name = options_.name;
  }
  recorder::leave_out_chains(application, recorder::unfollowed(application), left_out_);
  stream_ = std::make_unique<recorder::RecordingStream>(
      frame_, rclrt::realtime::allowed_cpus().size(), !stated_);
}

/// Begins to count. Called with the lock held.
void Recording::Impl::begin_stream() {
  frame_.started_utc = results_.started_utc;
  frame_.window.start_ns = results_.window.start_ns;
  frame_.host_stalls = probe_->state();
  writes_.begin(results_.window.start_ns + write_every().count());
  inbox_.open();
}

/// Does what is due. If the system has no memory left (with locked memory that is limited, for
/// example), the recording ends: that is better than the end of the program.
void Recording::Impl::pass() {
  if (failure_) {
    return;
  }
  try {
    do_due();
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

/// Ends the live part because of an exception under way: what it holds may be half changed. Its
/// memory returns to the system, which may have none left.
void Recording::Impl::fail(const char* reason) noexcept {
  failure_ = std::current_exception();
  inbox_.close();
  inbox_.drop(uncounted_);
  // An assignment of {} would keep its memory.
  std::vector<recorder::LoggedInstance>().swap(batch_);
  whole_.clear();
  stream_.reset();
  warn("the robot goes on without its recording", reason);
}

/// Logs a warning; without memory for that, writes it without the reason to the standard error.
void Recording::Impl::warn(const char* what, const char* reason) noexcept {
  try {
    RCLCPP_WARN(logger(), "%s: %s", what, reason);
  } catch (const std::exception&) {  // write() still has the reason
    std::fprintf(stderr, "rclrt: %s\n", what);
  }
}

/// Throws the reason if the live part failed. Called when its thread has ended.
void Recording::Impl::throw_failure() const {
  if (!failure_) {
    return;
  }
  try {
    std::rethrow_exception(failure_);
  } catch (const std::exception& error) {
    throw std::runtime_error("the recording failed, and " + std::to_string(inbox_.dropped()) +
                             " instances are not counted: " + error.what() + writer_.written());
  }
}

void Recording::Impl::do_due() {
  if (!inbox_.take(batch_)) {
    return;
  }
  uncounted_ = batch_.size();
  if (inbox_.dropped() > 0 && !std::exchange(said_dropped_, true)) {
    warn("the recording has lost instances", "its thread had no CPU or no memory for too long");
  }
  const std::vector<recorder::HostStall> stalls = probe_->take();
  stream_->add_stalls(stalls);  // before the instances that they excuse
  std::erase_if(batch_, [&](const recorder::LoggedInstance& each) {
    return each.record.release_ns < frame_.window.start_ns;
  });
  uncounted_ = batch_.size();
  update(batch_);
  keep(batch_, stalls);
  for (recorder::LoggedInstance& each : batch_) {
    each.record.callback = static_cast<std::uint32_t>(indices_[each.record.callback]);
  }
  stream_->add(batch_);
  uncounted_ = 0;
  // The time of the pass before: if the process was stopped, the log's thread has run since then.
  const std::int64_t before_ns = std::exchange(passed_ns_, rclrt::realtime::monotonic_now_ns());
  if (passed_ns_ >= next_count_ns_) {
    next_count_ns_ = passed_ns_ + kSecond_ns;
    const std::optional<std::int64_t> ended_ns = ended();
    const std::int64_t horizon_ns =
        stream_->advance(std::min(before_ns, ended_ns.value_or(before_ns)));
    if (!ended_ns || stream_->instances() != written_instances_) {
      write_so_far(horizon_ns);
    }
  }
}

/// Returns when the last spin, or the recording, ended; std::nullopt while a spin is under way.
std::optional<std::int64_t> Recording::Impl::ended() {
  const std::scoped_lock lock(mutex_);
  if (written_) {
    return results_.window.end_ns;
  }
  return spins_ > 0 ? std::nullopt : std::optional(ended_ns_.value_or(results_.window.start_ns));
}

/// Keeps the instances, with the numbers of the recording, as long as there is room for all.
void Recording::Impl::keep(std::span<const recorder::LoggedInstance> instances,
                           std::span<const recorder::HostStall> stalls) {
  if (!whole_.is_whole()) {
    return;
  }
  whole_.add(instances);
  whole_.add_stalls(stalls);
  if (!whole_.is_whole()) {
    RCLCPP_INFO(logger(),
                "the recording streams from now on, after more than %zu instances or %zu stalls of "
                "the host: counts, extremes and means are exact, percentiles are at most 0.1 %% "
                "too large, and single instances are kept of the worst and of the end",
                options_.max_instances, recorder::WholeRecording::kMostStalls);
  }
}

/// Takes over what has appeared since the last time, or has an instance now.
void Recording::Impl::update(std::span<const recorder::LoggedInstance> instances) {
  std::vector<std::set<std::string>> of_node;
  {
    const std::scoped_lock lock(mutex_);
    bool has_changed = seen_changes_ != changes_;
    for (const recorder::LoggedInstance& each : instances) {
      has_changed = !std::exchange(rows_[each.record.callback].is_seen, true) || has_changed;
    }
    if (!has_changed) {
      return;
    }
    seen_changes_ = changes_;
    for (std::uint32_t i = 0; i < joined_.size(); ++i) {
      save_engine_values(i);
    }
    build(frame_.application, indices_);
    set_executor(frame_, indices_);
    frame_.max_ages = stated_ ? recorder::MaxAges() : max_ages(indices_);
    of_node = publications_of(frame_.application);
  }
  stream_->grow(of_node);
}

/// Writes the results up to `horizon_ns`, if it is time.
void Recording::Impl::write_so_far(std::int64_t horizon_ns) {
  const std::int64_t now_ns = rclrt::realtime::monotonic_now_ns();
  const bool is_asked_for = write_every() > std::chrono::nanoseconds::zero();
  if (!is_asked_for || !writes_.is_due(now_ns) || horizon_ns <= frame_.window.start_ns) {
    return;
  }
  seen_changes_.reset();  // priorities may have changed
  update({});
  recorder::RunResults results = frame_;
  std::vector<bool> going_on;
  std::vector<recorder::RealtimeState> realtime;
  {
    Kept kept;
    const std::scoped_lock lock(mutex_);
    if (spins_ > 0) {
      note_active_rows(kept);
    }
    results.threads = results_.threads;
    realtime = describe(results, indices_);
    going_on = this->going_on(indices_, results.application.callbacks.size());
  }
  results.context = read_context(realtime);
  results.end = recorder::RunEnd::kRunning;
  results.window.end_ns = horizon_ns;
  stream_->fill(results, going_on, recorder::WriteSchedule::kInstances);
  if (const auto problem = writer_.write(results)) {
    warn("the recording goes on, but", problem->c_str());
  }
  written_instances_ = stream_->instances();
  writes_.wrote(now_ns, rclrt::realtime::monotonic_now_ns());
}

}  // namespace rclrt_robot
