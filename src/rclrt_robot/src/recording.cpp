// SPDX-License-Identifier: Apache-2.0
#include "rclrt_robot/recording.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <stdexcept>
#include <utility>

#include "rclrt/model/executor_choice.hpp"
#include "rclrt/model/parse.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/recorder/sha256.hpp"
#include "recording_impl.hpp"

namespace rclrt_robot {

namespace {

constexpr std::chrono::milliseconds kPass{100};

std::optional<model::Application> load(const std::filesystem::path& file) {
  try {
    return file.empty() ? std::nullopt : std::optional(model::load_application(file));
  } catch (const model::ModelError& error) {
    throw std::invalid_argument(error.what());
  }
}

/// Returns the executor's kind and options as the model states them. A trigger that the user has
/// defined is modelled as a wait for an unnamed callback.
model::ExecutorChoice choice_of(std::string_view kind, const engine::KindOptions& kind_options) {
  model::ExecutorChoice choice = model::executor_kind_of(kind).value();
  const auto& trigger = kind_options.static_order.trigger;
  if (traits(choice).runs_sets && trigger != engine::trigger_any()) {
    choice.trigger =
        trigger == engine::trigger_all() ? model::SetTrigger::kAll : model::SetTrigger::kCallback;
  }
  return choice;
}

/// Returns the CPUs on which its threads may run; empty: every CPU of the machine.
std::vector<int> cpus_of(const engine::ExecutorOptions& options) {
  if (!options.cpus.empty()) {
    return options.cpus;
  }
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  std::vector<int> allowed = rclrt::realtime::allowed_cpus();  // fewer under taskset
  return online > 0 && allowed.size() < static_cast<std::size_t>(online) ? std::move(allowed)
                                                                         : std::vector<int>();
}

}  // namespace

Recording::Impl::Impl(RecordingOptions options)
    : options_(std::move(options)),
      stated_(load(options_.application)),
      sha256_(stated_ ? recorder::sha256_of_file(options_.application) : ""),
      named_(indices_of(stated_)),
      directory_(options_.directory),
      writer_(options_.directory),
      whole_(options_.max_instances),
      log_([this](std::span<const recorder::LoggedInstance> instances) { inbox_.add(instances); }),
      drain_("rclrt results", kPass, [this] { pass(); }) {
  if (options_.write_every < std::chrono::milliseconds(0)) {
    throw std::invalid_argument("RecordingOptions::write_every is " +
                                std::to_string(options_.write_every.count()) +
                                " ms; expected at least 0");
  }
  make_stream();
}

std::unique_ptr<Recording::Impl::Part> Recording::Impl::join(
    const std::shared_ptr<Impl>& self, const model::ExecutorChoice& choice,
    const engine::ExecutorOptions& options) {
  const std::scoped_lock lock(self->mutex_);
  if (!self->joined_.empty() && self->choice_ != choice) {
    throw std::invalid_argument("all executors of a recording must be of one kind: this one has " +
                                name_of(self->choice_) + "; use another recording for the " +
                                name_of(choice) + " executor");
  }
  if (self->stated_ && choice.trigger == model::SetTrigger::kCallback) {
    throw std::invalid_argument("executor \"" + options.name +
                                "\": the bounds of the recording's application do not cover a "
                                "user-defined trigger; leave out the trigger or the application");
  }
  if (self->stated_ && options.best_effort_below) {
    throw std::invalid_argument(
        "executor \"" + options.name +
        "\": the bounds of the recording's application assume that every callback is real time; "
        "leave out best_effort_below or the application");
  }
  self->choice_ = choice;
  self->joined_.push_back({.executor = {.name = options.name, .cpus = cpus_of(options)}});
  return std::make_unique<Part>(self, static_cast<std::uint32_t>(self->joined_.size() - 1),
                                options.sink);
}

void Recording::Impl::start() {
  const std::scoped_lock lock(mutex_);
  start_locked();
}

void Recording::Impl::begin_spin() {
  const std::scoped_lock lock(mutex_);
  start_locked();
  ++spins_;
  ended_ns_.reset();
}

void Recording::Impl::end_spin() {
  Kept kept;
  const std::scoped_lock lock(mutex_);
  if (--spins_ == 0) {
    ended_ns_ = rclrt::realtime::monotonic_now_ns();
    note_active_rows(kept);
  }
}

/// Notes which callbacks would be released again, with the lock held.
void Recording::Impl::note_active_rows(Kept& kept) {
  for (Row& row : rows_) {
    row.goes_on = std::any_of(row.callbacks.begin(), row.callbacks.end(),
                              [&](const Running& each) { return each.entity->goes_on(kept); });
  }
}

/// Starts the recording, with the lock held.
void Recording::Impl::start_locked() {
  if (probe_ || written_) {
    return;
  }
  std::vector<std::vector<int>> cpus;
  for (const Joined& each : joined_) {
    cpus.push_back(each.executor.cpus);
  }
  auto probe = std::make_unique<recorder::HostProbe>(recorder::probe_beside(cpus));
  probe->start();
  probe_ = std::move(probe);
  steal_before_ = recorder::read_steal_ms();
  results_.started_utc = recorder::utc_now();
  results_.window.start_ns = rclrt::realtime::monotonic_now_ns();
  begin_stream();
}

void Recording::Impl::note_threads() {
  const std::scoped_lock lock(mutex_);
  auto threads = recorder::read_threads();
  if (!written_ && threads.size() >= results_.threads.size()) {
    results_.threads = std::move(threads);
  }
}

void Recording::Impl::set_engine(std::uint32_t index, const engine::Executor* engine) {
  const std::scoped_lock lock(mutex_);
  save_engine_values(index);
  joined_[index].engine = engine;
  ++changes_;
}

/// Saves the values that only the engine has, before it ends. Called with the lock held.
void Recording::Impl::save_engine_values(std::uint32_t index) {
  Joined& joined = joined_[index];
  if (joined.engine == nullptr) {
    return;
  }
  joined.realtime = {joined.engine->realtime(), joined.engine->realtime_reason(),
                     joined.engine->runs_to_completion()};
  for (Row& row : rows_) {
    if (row.executor != index || row.callbacks.empty()) {
      continue;
    }
    row.level = row.callbacks.back().callback->level();
    if (joined.realtime.granted && !traits(choice_).by_deadline) {
      row.kernel_priority = joined.engine->kernel_priority(*row.callbacks.back().callback);
    }
  }
}

std::uint32_t Recording::Impl::number(std::uint32_t executor, const CallbackFacts& facts) {
  const model::CallbackPlace place{facts.node, facts.kind, facts.name, facts.group};
  const std::scoped_lock lock(mutex_);
  const auto [found, fresh] = numbers_.try_emplace(place, rows_.size());
  ++changes_;
  if (fresh) {
    rows_.push_back({.place = place,
                     .facts = facts,
                     .callbacks = {},
                     .left = {},
                     .level = {},
                     .kernel_priority = {}});
  }
  rows_[found->second].executor = executor;
  rows_[found->second].facts = facts;
  return found->second;
}

void Recording::Impl::publishes(const std::string& node, const std::set<std::string>& topics) {
  const std::scoped_lock lock(mutex_);
  std::set<std::string>& known = publishes_[node];
  const std::size_t before = known.size();
  known.insert(topics.begin(), topics.end());
  changes_ += known.size() > before ? 1 : 0;
}

void Recording::Impl::add(std::uint32_t number, const Running& callback) {
  const std::scoped_lock lock(mutex_);
  rows_[number].level = callback.callback->level();
  rows_[number].callbacks.push_back(callback);
  ++changes_;
}

/// Saves the counts of a callback that was removed, and drops the reference to it at once, because
/// a robot may make a new client for each call.
void Recording::Impl::retire(const engine::Callback& callback) {
  const std::scoped_lock lock(mutex_);
  if (callback.number() >= rows_.size()) {
    return;
  }
  Row& row = rows_[callback.number()];
  const auto found =
      std::find_if(row.callbacks.begin(), row.callbacks.end(),
                   [&](const auto& each) { return each.callback.get() == &callback; });
  if (found != row.callbacks.end()) {
    save_engine_values(row.executor);
    row.left += callback.counters();
    row.callbacks.erase(found);
  }
}

recorder::CallbackCounts Recording::Impl::counts_of(const Row& row) {
  recorder::CallbackCounts sum = row.left;
  for (const Running& each : row.callbacks) {
    sum += each.callback->counters();
  }
  return sum;
}

Recording::Recording(RecordingOptions options)
    : impl_(std::make_shared<Impl>(std::move(options))) {}
Recording::~Recording() = default;
void Recording::start() { impl_->start(); }
std::vector<std::string> Recording::write() { return impl_->write(); }
std::unique_ptr<ExecutorObserver> Recording::observe(std::string_view kind,
                                                     const engine::ExecutorOptions& options,
                                                     const engine::KindOptions& kind_options) {
  return Impl::join(impl_, choice_of(kind, kind_options), options);
}

}  // namespace rclrt_robot
