// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/executor.hpp"

#include <sys/resource.h>

#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "worker_priority.hpp"

namespace rclrt::executor {

namespace {

thread_local const InstanceInfo* t_current = nullptr;

std::uint32_t involuntary_switches() noexcept {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<std::uint32_t>(usage.ru_nivcsw);
}

}  // namespace

const InstanceInfo* current_instance() noexcept RCLRT_NONBLOCKING {
  return RCLRT_TRUST("a constant-initialised variable of the thread", t_current);
}

Executor::Executor(ExecutorOptions options) : options_(std::move(options)) {}

Executor::~Executor() = default;

void Executor::add(std::shared_ptr<Callback> callback) {
  if (!callback) {
    throw std::invalid_argument("nullptr added to executor \"" + options_.name + "\"");
  }
  if (prepared_) {
    throw std::logic_error("callback \"" + callback->name() + "\" added to executor \"" +
                           options_.name + "\" after prepare(): add everything before");
  }
  for (const auto& present : callbacks_) {
    if (present == callback) {
      throw std::logic_error("callback \"" + callback->name() + "\" is already in executor \"" +
                             options_.name + "\"");
    }
  }
  callbacks_.push_back(std::move(callback));
}

void Executor::settle_realtime() {
  realtime_reason_.clear();
  if (options_.realtime == Realtime::kOff) {
    realtime_reason_ = "switched off";
    return;
  }
  const auto reason = realtime::why_no_realtime(options_.top_priority);
  if (!reason) {
    realtime_ = true;
    return;
  }
  if (options_.realtime == Realtime::kRequire) {
    throw std::runtime_error("executor \"" + options_.name + "\": " + *reason);
  }
  realtime_reason_ = *reason;
  static std::once_flag noticed;  // once per process, whatever the number of executors
  std::call_once(noticed, [&] {
    std::fprintf(stderr, "rclrt: running without real-time scheduling: %s\n", reason->c_str());
  });
}

void Executor::claim_callbacks() {
  for (const auto& callback : callbacks_) {
    if (callback->owner_ != nullptr) {
      throw std::logic_error("callback \"" + callback->name() + "\" is already in executor \"" +
                             callback->owner_->options_.name + "\"");
    }
    if (!callback->group().claim(this)) {
      throw std::logic_error("the group of callback \"" + callback->name() +
                             "\" is used in another executor: keep its members in one");
    }
  }
  for (const auto& callback : callbacks_) {
    callback->owner_ = this;
    callback->group().include(os_priority(callback->level()));
  }
}

void Executor::attach_callbacks() {
  attached_ = listens();
  for (const auto& callback : callbacks_) {
    const std::uint64_t left_behind = callback->left_behind_.exchange(0);
    if (!attached_) {
      continue;  // polling finds what is there
    }
    callback->attach();
    if (callback->type() != EntityType::kTimer) {
      // The middleware announced these to an earlier executor and will not do so again.
      const std::int64_t now = realtime::monotonic_now_ns();
      for (std::uint64_t i = 0; i < left_behind; ++i) {
        callback->release(now, now);
      }
    }
  }
}

void Executor::prepare() {
  if (prepared_) {
    return;
  }
  if (unusable_) {
    throw std::logic_error("prepare() of executor \"" + options_.name +
                           "\" has failed before: make a new one");
  }
  realtime::require_allowed_cpus(options_.cpus);
  std::vector<int> levels;
  for (const auto& callback : callbacks_) {
    levels.push_back(callback->level());
  }
  priorities_.emplace(std::move(levels), options_.top_priority);
  settle_realtime();
  try {
    claim_callbacks();
    start_timers(options_.epoch_ns.value_or(realtime::monotonic_now_ns()));
    do_prepare();
    ready_to_wake_.store(true);
    attach_callbacks();
  } catch (...) {
    unusable_ = true;
    shut_down();
    throw;
  }
  prepared_ = true;
}

void Executor::start_timers(std::int64_t epoch_ns) {
  epoch_ns_ = epoch_ns;
  for (TimerCallback* timer : timers([](const Callback&) { return true; })) {
    timer->schedule().start(epoch_ns_, timer->timer().offset_ns);
  }
}

void Executor::shut_down() noexcept {
  if (attached_) {
    for (const auto& callback : callbacks_) {
      callback->detach();
    }
    attached_ = false;
  }
  for (const auto& callback : callbacks_) {
    if (callback->owner_ == this) {
      callback->owner_ = nullptr;
      set_sinks(*callback, nullptr, nullptr);
    }
    callback->group().release(this);
  }
}

void Executor::spin() RCLRT_WAITS {
  if (closed_.load()) {
    return;
  }
  if (spinning_.exchange(true)) {
    throw std::logic_error("executor \"" + options_.name +
                           "\" is spinning already: spin it from one thread, not in a callback");
  }
  struct Done {
    std::atomic<bool>& spinning;
    ~Done() { spinning.store(false); }
  } const done{spinning_};
  do_spin();
}

void Executor::do_spin() {
  prepare();
  if (!std::exchange(has_spun_, true) && !options_.epoch_ns) {
    // However long ago prepare was. All timers shift alike, so queues ordered by time stay ordered.
    start_timers(realtime::monotonic_now_ns());
  }
  started_.store(false);
  const auto open_gate = [this] {
    started_.store(true);
    start_.notify_all();
  };
  try {
    start_threads();
  } catch (...) {  // no thread has taken work yet: end those that exist
    stop_.store(true);
    open_gate();
    stop_threads();
    stop_.store(false);
    throw;
  }
  open_gate();
  while (!stopping()) {
    stopped_.wait();
  }
  wake_threads();
  stop_threads();
  const std::exception_ptr error = std::exchange(error_, nullptr);
  failed_.clear();
  stop_.store(false);
  if (error) {
    std::rethrow_exception(error);
  }
}

void Executor::await_start() noexcept RCLRT_WAITS {
  while (!started_.load()) {
    const auto key = start_.prepare_wait();
    if (started_.load()) {
      start_.cancel_wait();
      break;
    }
    start_.wait(key);
  }
}

void Executor::cancel() noexcept RCLRT_NONBLOCKING {
  stop_.store(true);
  if (ready_to_wake_.load()) {
    wake_threads();
  }
  stopped_.post();
}

void Executor::close() noexcept RCLRT_NONBLOCKING {
  closed_.store(true);
  cancel();
}

void Executor::fail() noexcept {
  if (!failed_.test_and_set()) {
    error_ = std::current_exception();
  }
  cancel();
}

int Executor::os_priority(int level) const noexcept RCLRT_NONBLOCKING {
  return realtime_ ? priorities_->os_priority(level) : 0;
}

realtime::ThreadOptions Executor::thread_options(const std::string& suffix, int os_priority) const {
  realtime::ThreadOptions result{
      .name = options_.name + " " + suffix, .scheduling = {}, .stack_size = options_.stack_size};
  result.scheduling.cpus = options_.cpus;
  if (realtime_) {
    result.scheduling.policy = realtime::Policy::kFifo;
    result.scheduling.priority = os_priority;
  }
  return result;
}

std::size_t Executor::cpu_count() const {
  return options_.cpus.empty() ? realtime::allowed_cpus().size() : options_.cpus.size();
}

void Executor::execute(Instance* instance, std::uint32_t slot, WorkerPriority& priority) noexcept {
  Callback& callback = *instance->callback;
  InstanceInfo info = callback.begin(instance);
  run(callback, info, slot);
  callback.end(instance);
  if (Instance* const next = callback.group().leave()) {
    next->callback->resume(next);
  }
  priority.restore();  // last: what was resumed above is in its lane before anybody runs again
}

void Executor::abandon(Instance* instance) noexcept {
  Callback& callback = *instance->callback;
  if (Instance* const next = callback.group().forget(instance)) {
    next->callback->resume(next);
  }
  callback.discard(instance);
}

void Executor::execute(Callback& callback, std::int64_t release_ns, std::int64_t ready_ns,
                       std::uint32_t slot) noexcept {
  InstanceInfo info{.release_ns = release_ns, .ready_ns = ready_ns, .level = callback.level()};
  callback.released_.fetch_add(1, std::memory_order_relaxed);
  run(callback, info, slot);
}

void Executor::run(Callback& callback, InstanceInfo& info, std::uint32_t slot) noexcept {
  info.id = next_id_.fetch_add(1, std::memory_order_relaxed);
  InstanceSink* const sink = options_.sink;
  const std::int64_t cpu_before = sink != nullptr ? realtime::thread_cpu_now_ns() : 0;
  const std::uint32_t switches_before = sink != nullptr ? involuntary_switches() : 0;
  const InstanceInfo* const outer = std::exchange(t_current, &info);
  Outcome outcome = Outcome::kThrew;
  try {
    outcome = callback.run(info);
  } catch (...) {
    fail();
  }
  t_current = outer;
  auto& counter = outcome == Outcome::kEmpty ? callback.dropped_ : callback.completed_;
  counter.fetch_add(1, std::memory_order_release);
  if (sink != nullptr) {
    InstanceRecord record;
    record.end_ns = realtime::monotonic_now_ns();
    // An instance that found nothing never had the times only its message could tell.
    info.ready_ns = info.ready_ns != 0 ? info.ready_ns : info.release_ns;
    info.start_ns = info.start_ns != 0 ? info.start_ns : record.end_ns;
    record.cpu_ns = realtime::thread_cpu_now_ns() - cpu_before;
    record.preemptions = involuntary_switches() - switches_before;
    record.info = info;
    record.callback = &callback;
    record.slot = slot;
    record.outcome = outcome;
    sink->record(record);
  }
}

}  // namespace rclrt::executor
