// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/stop_signal.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "rclrt/realtime/deadline.hpp"
#include "rclrt/realtime/semaphore.hpp"

namespace rclrt::realtime {

/// The data of the signal handler. It is never freed, so a handler that still runs in another
/// thread does not access a destroyed object.
struct StopSignal::State {
  std::atomic<bool> in_use{false};
  std::atomic<int> first{0};  // seq_cst: decides which of two concurrent signals is the first
  StopFlag flag;
  Semaphore received;  // posted once for the first signal, and once by the destructor
  struct sigaction old_interrupt{};
  struct sigaction old_terminate{};
};

namespace {

/// The first StopSignal makes the object, and it is leaked on purpose; see StopSignal::State.
/// seq_cst: written before the handler that reads it is installed.
std::atomic<StopSignal::State*> shared{nullptr};

StopSignal::State& make_shared_state() {
  if (shared.load() == nullptr) {
    auto* const fresh = new StopSignal::State;
    StopSignal::State* none = nullptr;
    if (!shared.compare_exchange_strong(none, fresh)) {
      delete fresh;  // another thread was first
    }
  }
  return *shared.load();
}

const char* name_of(int signal) { return signal == SIGINT ? "SIGINT" : "SIGTERM"; }

/// Async-signal-safe. An incomplete write to a terminal or log is not repeated.
void say(std::string_view text) {
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) {
    return;
  }
}

/// Async-signal-safe. The default action of the signal ends all threads, whatever they do.
void end_by(int signal) {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  raise(signal);
}

void handle(int signal) {
  const int saved = errno;
  StopSignal::State& s = *shared.load();
  int none = 0;
  if (s.first.compare_exchange_strong(none, signal)) {
    s.flag.request_stop();
    s.received.post();
  } else {
    say("rclrt: a second signal, ");
    say(name_of(signal));
    say(": ending at once\n");
    end_by(signal);
  }
  errno = saved;
}

void watch(StopSignal::State& s, std::chrono::nanoseconds deadline, const StopFlag& over) {
  s.received.wait();
  if (over.wait_until(to_deadline_ns(deadline))) {
    return;
  }
  const int signal = s.first.load();
  char text[128];
  const int length = std::snprintf(
      text, sizeof text, "rclrt: not stopped %lld ms after %s; the process ends now\n",
      static_cast<long long>(
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline).count()),
      name_of(signal));
  say({text, static_cast<std::size_t>(length)});
  end_by(signal);
}

}  // namespace

StopSignal::StopSignal(SaturatingNanoseconds deadline) : state_(make_shared_state()) {
  State& s = state_;
  if (s.in_use.exchange(true)) {
    throw std::logic_error("a StopSignal exists already; make only one, in main, and pass it on");
  }
  s.first = 0;
  s.flag.clear();
  while (s.received.try_wait()) {
  }
  try {
    // Above every priority that a plan or an executor gives.
    watcher_ = Thread({.name = "rclrt stop", .scheduling = most_urgent_permitted()},
                      [&s, deadline](const StopFlag& over) { watch(s, deadline, over); });
  } catch (...) {
    s.in_use = false;
    throw;
  }
  struct sigaction action{};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &s.old_interrupt);
  sigaction(SIGTERM, &action, &s.old_terminate);
}

StopSignal::~StopSignal() {
  State& s = state_;
  sigaction(SIGINT, &s.old_interrupt, nullptr);
  sigaction(SIGTERM, &s.old_terminate, nullptr);
  watcher_.request_stop();
  s.received.post();
  watcher_.join();
  s.in_use = false;
}

const StopFlag& StopSignal::flag() const noexcept RCLRT_NONBLOCKING { return state_.flag; }

int StopSignal::signal() const noexcept RCLRT_NONBLOCKING { return state_.first.load(); }

}  // namespace rclrt::realtime
