// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/instance_log.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "rclrt/executor/callback.hpp"

namespace rclrt::recorder {

namespace {

constexpr std::chrono::milliseconds kLogDrainPeriod(10);
/// The most instances that a consumer gets at once.
constexpr std::size_t kBatch = 1024;

thread_local ChainTokens t_tokens;
thread_local std::uint32_t t_input = 0;
thread_local std::int64_t t_stamp_ns = 0;
thread_local std::int64_t t_published_ns = 0;
thread_local std::int64_t t_read_ns = 0;
thread_local std::int64_t t_stored_ns = 0;
thread_local std::uint32_t t_publisher = LoggedInstance::kNobody;

Outcome outcome_of(executor::Outcome outcome) {
  switch (outcome) {
    case executor::Outcome::kBuffered:
      return Outcome::kBuffered;
    case executor::Outcome::kEmpty:
      return Outcome::kEmpty;
    case executor::Outcome::kRan:
    case executor::Outcome::kThrew:
      break;
  }
  return Outcome::kRan;
}

}  // namespace

InstanceLog::InstanceLog(std::size_t most)
    : most_(most), queue_(16'384), drain_("rclrt log", kLogDrainPeriod, [this] { drain(); }) {}

InstanceLog::InstanceLog(Consumer consumer)
    : most_(kBatch),
      queue_(16'384),
      consumer_(std::move(consumer)),
      drain_("rclrt log", kLogDrainPeriod, [this] { pass_on(); }) {}

InstanceLog::~InstanceLog() { finish(); }

void InstanceLog::map(const executor::Callback* callback, std::uint32_t index) {
  indices_.emplace(callback, index);
}

void InstanceLog::set_tokens(const ChainTokens& tokens) noexcept { t_tokens = tokens; }

void InstanceLog::set_input(std::uint32_t input, std::int64_t stamp_ns) noexcept {
  t_input = input;
  t_stamp_ns = stamp_ns;
}

void InstanceLog::set_published(std::int64_t time_ns, std::uint32_t publisher) noexcept {
  t_published_ns = time_ns;
  t_publisher = publisher;
}

void InstanceLog::set_read(std::int64_t time_ns) noexcept { t_read_ns = time_ns; }

void InstanceLog::set_stored(std::int64_t time_ns) noexcept { t_stored_ns = time_ns; }

void InstanceLog::Sink::record(const executor::InstanceRecord& record) noexcept {
  const auto mapped = log_.indices_.find(record.callback);
  const std::uint32_t index =
      mapped != log_.indices_.end() ? mapped->second : record.callback->number();
  LoggedInstance logged;
  logged.published_ns = std::exchange(t_published_ns, 0);
  logged.publisher = std::exchange(t_publisher, LoggedInstance::kNobody);
  logged.executor = executor_;
  logged.slot = record.slot;
  logged.record = {.id = record.info.id,
                   .callback = index,
                   .level = record.info.level,
                   .thread_track = 0,
                   .release_ns = record.info.release_ns,
                   .ready_ns = record.info.ready_ns,
                   .start_ns = record.info.start_ns,
                   .end_ns = record.end_ns,
                   .cpu_ns = record.cpu_ns,
                   .preemptions = record.preemptions,
                   .first_cpu = record.start_cpu,
                   .last_cpu = record.end_cpu,
                   .outcome = outcome_of(record.outcome),
                   .input = std::exchange(t_input, 0),
                   .stamp_ns = std::exchange(t_stamp_ns, 0),
                   .read_ns = std::exchange(t_read_ns, 0),
                   .stored_ns = std::exchange(t_stored_ns, 0),
                   .tokens = std::exchange(t_tokens, {})};
  if (index != executor::kNoNumber && !log_.queue_.try_push(logged)) {
    log_.dropped_.fetch_add(1);
  }
}

void InstanceLog::drain() {
  LoggedInstance logged;
  while (queue_.try_pop(logged)) {
    if (collected_.size() >= most_ || !keep(logged)) {
      dropped_.fetch_add(1);
      full_since_ns_.store(std::min(full_since_ns_.load(), logged.record.end_ns));
    }
  }
}

void InstanceLog::pass_on() {
  collected_.reserve(kBatch);
  LoggedInstance logged;
  do {
    collected_.clear();
    while (collected_.size() < kBatch && queue_.try_pop(logged)) {
      collected_.push_back(logged);
    }
    if (!collected_.empty()) {
      consumer_(collected_);
    }
  } while (collected_.size() == kBatch);
  collected_.clear();
}

/// Stores the instance. Returns false if the system has no memory left (with locked memory that is
/// limited, for example). The recording then ends early, which is better than the end of the
/// program.
bool InstanceLog::keep(const LoggedInstance& logged) noexcept {
  try {
    collected_.push_back(logged);
    return true;
  } catch (const std::bad_alloc&) {
    most_ = collected_.size();
    return false;
  }
}

std::optional<std::int64_t> InstanceLog::full_since_ns() const noexcept {
  const std::int64_t since_ns = full_since_ns_.load();
  return since_ns != INT64_MAX ? std::optional(since_ns) : std::nullopt;
}

std::vector<LoggedInstance> InstanceLog::finish() {
  drain_.stop();
  return std::move(collected_);
}

}  // namespace rclrt::recorder
