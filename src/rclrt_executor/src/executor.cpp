// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/executor.hpp"

#include <utility>

#include "engine.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt::executor {

Executor::Executor(std::unique_ptr<Engine> engine) noexcept : engine_(std::move(engine)) {}

Executor::~Executor() = default;

void Executor::add(std::shared_ptr<Callback> callback) {
  engine_->callbacks.add(std::move(callback));
}

bool Executor::remove(const std::shared_ptr<Callback>& callback) {
  return engine_->callbacks.remove(callback);
}

bool Executor::start_removal(const std::shared_ptr<Callback>& callback) {
  return engine_->callbacks.start_removal(callback);
}

void Executor::set_level(const std::shared_ptr<Callback>& callback, int level) {
  engine_->callbacks.set_level(callback, level);
}

void Executor::require_levels(std::vector<int> levels) const {
  engine_->callbacks.require_levels(std::move(levels));
}

void Executor::restart(TimerCallback& timer) { engine_->callbacks.restart(timer); }

void Executor::prepare() { engine_->callbacks.prepare(); }

void Executor::spin() RCLRT_WAITS { engine_->spins->spin(); }

void Executor::spin_some() RCLRT_WAITS { engine_->spins->spin_some(); }

bool Executor::spin_once(realtime::SaturatingNanoseconds timeout) RCLRT_WAITS {
  return engine_->spins->spin_once(timeout);
}

SpinResult Executor::spin_until(const std::function<bool(std::chrono::nanoseconds)>& complete,
                                std::chrono::nanoseconds timeout) RCLRT_WAITS {
  return engine_->spins->spin_until(complete, timeout);
}

bool Executor::run_one_on_caller(realtime::SaturatingNanoseconds timeout,
                                 std::int64_t ready_by_ns) RCLRT_WAITS {
  return engine_->spins->run_one_on_caller(timeout, ready_by_ns);
}

void Executor::cancel() noexcept RCLRT_NONBLOCKING { engine_->state.cancel(); }

void Executor::clear_cancel() noexcept RCLRT_NONBLOCKING { engine_->state.clear_cancel(); }

void Executor::close() noexcept RCLRT_NONBLOCKING { engine_->state.close(); }

const ExecutorOptions& Executor::options() const noexcept RCLRT_NONBLOCKING {
  return engine_->options;
}

std::vector<std::shared_ptr<Callback>> Executor::callbacks() const {
  return engine_->callbacks.all();
}

bool Executor::realtime() const noexcept RCLRT_NONBLOCKING { return engine_->threads.realtime(); }

const std::string& Executor::realtime_reason() const noexcept RCLRT_NONBLOCKING {
  return engine_->threads.reason();
}

bool Executor::runs_to_completion() const noexcept RCLRT_NONBLOCKING {
  return engine_->threads.runs_to_completion() || engine_->dispatcher->traits().polls;
}

int Executor::kernel_priority(int level) const { return engine_->callbacks.kernel_priority(level); }
int Executor::kernel_priority(const Callback& callback) const {
  return engine_->callbacks.kernel_priority(callback);
}

std::vector<Stall> Executor::stalls() const {
  return engine_->stalls.stalls(realtime::monotonic_now_ns());
}

void Executor::report_stalls() {
  engine_->stalls.check(*engine_->dispatcher, realtime::monotonic_now_ns());
}

std::int64_t Executor::epoch_ns() const noexcept RCLRT_NONBLOCKING {
  return engine_->callbacks.epoch_ns();
}

}  // namespace rclrt::executor
