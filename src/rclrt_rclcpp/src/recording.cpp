// SPDX-License-Identifier: Apache-2.0
#include "rclrt_rclcpp/recording.hpp"

#include <rmw/rmw.h>

#include <rclcpp/version.h>
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "rclrt/model/parse.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/recorder/lineage.hpp"
#include "rclrt/recorder/results_writer.hpp"
#include "rclrt/recorder/run_accounting.hpp"
#include "rclrt/recorder/sha256.hpp"
#include "rclrt/recorder/trace_export.hpp"
#include "recording_impl.hpp"

namespace rclrt_rclcpp {

namespace {

constexpr std::size_t kLeftOut = SIZE_MAX;

std::optional<model::Application> load(const std::filesystem::path& file) {
  try {
    return file.empty() ? std::nullopt : std::optional(model::load_application(file));
  } catch (const model::ModelError& error) {
    throw std::invalid_argument(error.what());
  }
}

/// What tables and traces call a callback that no application names.
std::string id_of(const model::CallbackPlace& place) {
  return (place.node.empty() ? "?" : place.node) +
         (place.group == 0 ? "" : " group " + std::to_string(place.group)) + " " + place.kind +
         " " + place.name;
}

std::string milliseconds(model::Nanoseconds time) {
  std::string text = std::to_string(static_cast<double>(time.count()) / 1e6);
  text.erase(text.find_last_not_of('0') + 1);
  return (text.ends_with('.') ? text + "0" : text) + " ms";
}

std::string cpus_text(const std::vector<int>& cpus) {
  std::string text;
  for (const int cpu : cpus) {
    text += (text.empty() ? "" : ", ") + std::to_string(cpu);
  }
  return text.empty() ? "every CPU" : "CPU " + text;
}

/// Its index; a new one if the application has none of this name.
std::size_t node_of(model::Application& application, const std::string& full_name) {
  const std::size_t slash = full_name.rfind('/');
  const std::string name = full_name.empty() ? "?" : full_name.substr(slash + 1);
  const std::string name_space =
      slash == 0 || slash == std::string::npos ? "/" : full_name.substr(0, slash);
  const auto found = std::find_if(
      application.nodes.begin(), application.nodes.end(),
      [&](const auto& each) { return each.name == name && each.name_space == name_space; });
  if (found != application.nodes.end()) {
    return static_cast<std::size_t>(found - application.nodes.begin());
  }
  application.nodes.push_back({.name = name, .name_space = name_space, .executor = 0});
  return application.nodes.size() - 1;
}

/// Each timer as a chain of its own.
void add_timer_chains(model::Application& application) {
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const model::Callback& callback = application.callbacks[i];
    if (const auto* const timer = std::get_if<model::Timer>(&callback.trigger)) {
      application.chains.push_back({.id = callback.id,
                                    .callbacks = {i},
                                    .priority = callback.priority.value_or(0),
                                    .deadline = callback.deadline.value_or(timer->period)});
    }
  }
}

}  // namespace

Recording::Impl::Impl(RecordingOptions options)
    : options_(std::move(options)),
      stated_(load(options_.application)),
      directory_(options_.directory),
      log_(options_.max_instances) {}

std::unique_ptr<Recording::Impl::Part> Recording::Impl::join(
    const std::shared_ptr<Impl>& self, model::ExecutorKind kind,
    const engine::ExecutorOptions& options) {
  const std::scoped_lock lock(self->mutex_);
  if (!self->joined_.empty() && self->kind_ != kind) {
    throw std::invalid_argument("a recording is of executors of one kind: this one has " +
                                std::string(traits(self->kind_).name) + ", and a " +
                                std::string(traits(kind).name) + " executor needs one of its own");
  }
  self->kind_ = kind;
  self->joined_.push_back({.executor = {.name = options.name, .cpus = options.cpus}});
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
    look_who_goes_on(kept);
  }
}

/// With the lock held.
void Recording::Impl::look_who_goes_on(Kept& kept) {
  for (Row& row : rows_) {
    row.goes_on = std::any_of(row.callbacks.begin(), row.callbacks.end(),
                              [&](const Bound& each) { return each.listener->goes_on(kept); });
  }
}

/// With the lock held.
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
  settle(index);
  joined_[index].engine = engine;
}

/// With the lock held: what only the engine knows, as long as it is there.
void Recording::Impl::settle(std::uint32_t index) {
  Joined& joined = joined_[index];
  if (joined.engine == nullptr) {
    return;
  }
  joined.realtime = joined.engine->realtime();
  joined.realtime_reason = joined.engine->realtime_reason();
  for (Row& row : rows_) {
    if (row.executor != index || row.callbacks.empty()) {
      continue;
    }
    row.level = row.callbacks.back().callback->level();
    if (joined.realtime && !traits(kind_).by_deadline) {
      row.os_priority = joined.engine->os_priority(*row.level);
    }
  }
}

std::uint32_t Recording::Impl::number(std::uint32_t executor, const model::CallbackPlace& place,
                                      const Trigger& trigger) {
  const std::scoped_lock lock(mutex_);
  const auto [found, fresh] = numbers_.try_emplace(place, rows_.size());
  if (fresh) {
    rows_.push_back({.place = place,
                     .trigger = trigger,
                     .callbacks = {},
                     .left = {},
                     .level = {},
                     .os_priority = {}});
  }
  rows_[found->second].executor = executor;
  return found->second;
}

void Recording::Impl::add(std::uint32_t number, const Bound& callback) {
  const std::scoped_lock lock(mutex_);
  rows_[number].level = callback.callback->level();
  rows_[number].callbacks.push_back(callback);
}

/// Not kept longer: a robot may make a client for each call.
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
    settle(row.executor);
    row.left += callback.counters();
    row.callbacks.erase(found);
  }
}

recorder::CallbackCounts Recording::Impl::counts_of(const Row& row) {
  recorder::CallbackCounts sum = row.left;
  for (const Bound& callback : row.callbacks) {
    sum += callback.callback->counters();
  }
  return sum;
}

/// With the lock held: the application with what the robot really has. Returns for each number the
/// index of its callback, or kLeftOut.
std::vector<std::size_t> Recording::Impl::build(model::Application& application,
                                                std::vector<std::string>& told) const {
  std::map<model::CallbackPlace, std::size_t> named;
  std::vector<bool> found(application.callbacks.size(), false);
  if (stated_) {
    const auto places = model::places_of(application);
    for (std::size_t i = 0; i < places.size(); ++i) {
      for (const model::CallbackPlace& place : places[i]) {
        named.emplace(place, i);
      }
    }
  }
  const std::vector<model::Executor> stated_executors = std::exchange(application.executors, {});
  for (const Joined& each : joined_) {
    application.executors.push_back(each.executor);
  }
  for (model::Node& node : application.nodes) {
    node.executor = 0;
  }
  std::vector<std::size_t> indices;
  std::vector<bool> here(application.nodes.size(), false);
  for (const Row& row : rows_) {
    std::size_t index = application.callbacks.size();
    if (const auto known = named.find(row.place); known != named.end()) {
      index = known->second;
      found[index] = true;
    } else if (counts_of(row).released == 0) {
      indices.push_back(kLeftOut);  // a node has a dozen services that nobody ever calls
      continue;
    } else {
      application.callbacks.push_back({.id = id_of(row.place),
                                       .node = node_of(application, row.place.node),
                                       .trigger = row.trigger,
                                       .publishes = {},
                                       .group = {},
                                       .priority = {}});
    }
    indices.push_back(index);
    model::Callback& callback = application.callbacks[index];
    application.nodes[callback.node].executor = row.executor;
    here.resize(application.nodes.size(), false);
    here[callback.node] = true;
    callback.priority = row.level ? row.level : callback.priority;
    const auto* const real = std::get_if<model::Timer>(&row.trigger);
    auto* const stated = std::get_if<model::Timer>(&callback.trigger);
    if (real != nullptr && stated != nullptr && real->period != stated->period) {
      told.push_back("callback '" + callback.id + "' (" + id_of(row.place) + ") has a period of " +
                     milliseconds(real->period) + ", not " + milliseconds(stated->period));
      stated->period = real->period;
    }
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) {
      told.push_back("callback '" + application.callbacks[i].id +
                     "': the robot has none like it (" +
                     id_of(model::places_of(*stated_)[i].front()) + ")");
    }
  }
  if (!stated_) {
    add_timer_chains(application);
  }
  for (std::size_t i = 0; stated_ && i < stated_->nodes.size(); ++i) {
    if (!here[i]) {
      continue;  // in another process, perhaps
    }
    const model::Executor& stated = stated_executors[stated_->nodes[i].executor];
    const model::Executor& real = application.executors[application.nodes[i].executor];
    if (stated.cpus != real.cpus) {
      told.push_back("node '" + stated_->nodes[i].name + "' runs on " + cpus_text(real.cpus) +
                     ", not on " + cpus_text(stated.cpus) + ": the bounds are those of the latter");
    }
  }
  const auto blind = recorder::unfollowed(application);
  for (auto each = blind.rbegin(); each != blind.rend(); ++each) {
    told.push_back("chain '" + application.chains[*each].id +
                   "' goes through a synchronisation and is not measured");
    application.chains.erase(application.chains.begin() + static_cast<std::ptrdiff_t>(*each));
  }
  return indices;
}

void Recording::Impl::fill_context(recorder::RunContext& context) const {
  context.machine = recorder::read_machine_context();
  context.realtime = true;
  for (const Joined& each : joined_) {
    if (!each.realtime || context.realtime_reason.empty()) {
      context.realtime_reason = each.realtime_reason;
    }
    context.realtime = context.realtime && each.realtime;
  }
  context.memory_locked = recorder::memory_is_locked();
  context.rmw = rmw_get_implementation_identifier();
  context.ros_distro = recorder::ros_distro();
  context.versions = {{"rclrt", RCLRT_VERSION}, {"rclcpp", RCLCPP_VERSION_STR}};
  const auto steal_after = recorder::read_steal_ms();
  context.steal_ms = steal_before_ && steal_after ? *steal_after - *steal_before_ : 0;
}

std::vector<std::string> Recording::Impl::write() {
  note_threads();
  Kept kept;
  const std::scoped_lock lock(mutex_);
  if (!probe_ || written_) {
    throw std::logic_error(written_ ? "the recording was written already"
                                    : "the recording was not started: no executor has spun");
  }
  if (joined_.empty()) {
    throw std::logic_error("the recording was given to no executor (Options::recording)");
  }
  written_ = true;
  results_.window.end_ns = ended_ns_.value_or(rclrt::realtime::monotonic_now_ns());
  if (!ended_ns_) {
    look_who_goes_on(kept);
  }
  probe_->stop();
  results_.host_stalls = probe_->report();
  for (std::uint32_t i = 0; i < joined_.size(); ++i) {
    settle(i);
  }
  std::vector<recorder::LoggedInstance> instances = log_.finish();
  std::vector<std::string> told;
  const std::int64_t start_ns = results_.window.start_ns;
  if (const auto full_ns = log_.full_since_ns(); full_ns && *full_ns < results_.window.end_ns) {
    results_.window.end_ns = std::max(start_ns, *full_ns);
    told.push_back("the recording was full after " +
                   milliseconds(model::Nanoseconds(results_.window.end_ns - start_ns)) +
                   " and ends there: see RecordingOptions::max_instances");
  }
  model::Application application = stated_.value_or(model::Application{.name = options_.name,
                                                                       .description = {},
                                                                       .executors = {},
                                                                       .nodes = {},
                                                                       .callbacks = {},
                                                                       .chains = {},
                                                                       .topics = {},
                                                                       .threads = {}});
  const std::vector<std::size_t> indices = build(application, told);
  std::erase_if(instances, [&](const auto& each) {
    return each.record.release_ns < start_ns || indices[each.record.callback] == kLeftOut;
  });
  for (recorder::LoggedInstance& each : instances) {
    each.record.callback = static_cast<std::uint32_t>(indices[each.record.callback]);
  }
  std::vector<bool> going_on(application.callbacks.size(), false);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (indices[i] != kLeftOut && rows_[i].goes_on) {
      going_on[indices[i]] = true;
    }
  }
  recorder::follow_chains(application, results_.window, instances, going_on);

  results_.application = std::move(application);
  results_.application_file = options_.application.string();
  if (stated_) {
    results_.application_sha256 = recorder::sha256_of_file(options_.application);
  }
  results_.executor = kind_;
  results_.executor_label = std::string(traits(kind_).label) + " (rclcpp)";
  fill_context(results_.context);
  results_.context.records_dropped = log_.dropped();
  recorder::account(results_, std::move(instances));
  results_.callback_counts.resize(results_.application.callbacks.size());
  results_.os_priorities.resize(results_.application.callbacks.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (indices[i] == kLeftOut) {
      continue;
    }
    recorder::CallbackCounts& sum = results_.callback_counts[indices[i]];
    const recorder::CallbackCounts own = counts_of(rows_[i]);
    sum.released += own.released;
    sum.completed += own.completed;
    sum.dropped += own.dropped;
    sum.missed += own.missed;
    results_.os_priorities[indices[i]] = rows_[i].os_priority;
    if (const std::string& kind = rows_[i].place.kind; kind != "timer" && kind != "subscription") {
      results_.other_kinds.emplace(indices[i], kind);
    }
  }
  recorder::settle_misses(results_, rclrt::realtime::allowed_cpus().size());

  recorder::write_results(directory_.staging(), results_);
  recorder::write_trace(directory_.staging(), results_);
  directory_.commit();
  results_ = {};  // up to a gigabyte
  return told;
}

Recording::Recording(RecordingOptions options)
    : impl_(std::make_shared<Impl>(std::move(options))) {}
Recording::~Recording() = default;
void Recording::start() { impl_->start(); }
std::vector<std::string> Recording::write() { return impl_->write(); }

}  // namespace rclrt_rclcpp
