// SPDX-License-Identifier: Apache-2.0
#include "signals.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <vector>

#include "rclrt/context.hpp"
#include "rclrt/realtime/mutex.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt/realtime/throw_errno.hpp"

namespace rclrt::detail {

namespace {

int checked(int descriptor, const char* what) {
  if (descriptor < 0) {
    realtime::throw_errno(what);
  }
  return descriptor;
}

int signalfd_of_none() {
  sigset_t none;
  sigemptyset(&none);
  return signalfd(-1, &none, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// Shuts the contexts down on SIGINT or SIGTERM. A thread above all executors does so, even if the
/// executors use all CPUs. That thread cannot only wait for the signal handler: the kernel chooses
/// the thread that runs the handler (the main thread if possible), and this thread may get no CPU
/// time. So it also waits on a signalfd, which takes a pending signal before the chosen thread
/// does. Handler and signalfd have the same effect, and the first of the two gets the signal. The
/// signals are not blocked, because a process that this one starts would inherit the blocked mask.
///
/// If other code (rclcpp, Python, the application) installs its own handler later, the signal
/// belongs to that code: the thread ignores it, and the handler stays. The object is never
/// destroyed, so the handler can always use it.
class Signals {
 public:
  static Signals& instance() {
    static auto* signals = new Signals;  // leaked on purpose, see above
    return *signals;
  }

  void add(const std::shared_ptr<Context>& context) {
    const std::scoped_lock lock(mutex_);
    contexts_.push_back({context.get(), context});
    if (!installed_) {
      install();
    }
  }

  void remove(const Context* context) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(contexts_, [context](const auto& each) { return each.context == context; });
    if (installed_ && contexts_.empty()) {
      restore();
      installed_ = false;
    }
  }

 private:
  struct Registered {
    const Context* context;
    std::weak_ptr<Context> alive;
  };

  Signals()
      : wake_(checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "listening to signals")),
        signals_(checked(signalfd_of_none(), "listening to signals")),
        thread_({.name = "rclrt signals", .scheduling = realtime::most_urgent_permitted()},
                [this] { wait(); }) {}

  static void handle(int) {
    const int saved = errno;
    instance().restore();
    instance().handled_.store(true);
    instance().wake();
    errno = saved;
  }

  void install() {
    struct sigaction action{};
    action.sa_handler = &Signals::handle;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, nullptr, &old_interrupt_);  // written before the handler can run
    sigaction(SIGTERM, nullptr, &old_terminate_);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked_);
    listen_to_ours();
    installed_ = true;
    wake();
  }

  /// Async-signal-safe.
  void wake() {
    const std::uint64_t one = 1;
    if (write(wake_, &one, sizeof one) < 0) {
      return;  // it is full: the thread is awake
    }
  }

  /// Returns whether our handler is still installed. Async-signal-safe.
  static bool is_ours(int signal) {
    struct sigaction now{};
    return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == &Signals::handle;
  }

  /// Restores the signal handlers from before rclrt, so that a second signal ends the program at
  /// once, as the user then expects. Async-signal-safe.
  void restore() {
    if (is_ours(SIGINT)) {
      sigaction(SIGINT, &old_interrupt_, nullptr);
    }
    if (is_ours(SIGTERM)) {
      sigaction(SIGTERM, &old_terminate_, nullptr);
    }
  }

  /// Sets the signalfd to those of SIGINT and SIGTERM that have our handler and that were not
  /// blocked by the thread that installed the handler. (Code that blocks a signal takes it by
  /// itself, with sigwait.) Other signals must not wake this thread: it would delay their owners.
  void listen_to_ours() {
    sigset_t ours;
    sigemptyset(&ours);
    for (const int signal : {SIGINT, SIGTERM}) {
      if (is_ours(signal) && sigismember(&blocked_, signal) == 0) {
        sigaddset(&ours, signal);
      }
    }
    signalfd(signals_, &ours, 0);
  }

  bool take_pending() {
    listen_to_ours();  // another handler may have been installed meanwhile
    signalfd_siginfo signal{};
    return read(signals_, &signal, sizeof signal) > 0;
  }

  void wait() {
    for (bool listens = false;;) {
      pollfd sources[] = {{wake_, POLLIN, 0}, {signals_, POLLIN, 0}};
      poll(sources, listens ? 2 : 1, -1);
      std::uint64_t wakes = 0;
      if (read(wake_, &wakes, sizeof wakes) < 0 && errno != EAGAIN) {
        return;  // no other code closes it
      }
      std::vector<Registered> contexts;
      {
        const std::scoped_lock lock(mutex_);
        if (installed_ && take_pending()) {
          restore();
        } else if (!handled_.exchange(false)) {
          listens = installed_;  // else a signal is none of ours
          continue;
        }
        contexts.swap(contexts_);
        listens = installed_ = false;
      }
      for (const Registered& registered : contexts) {
        if (const auto context = registered.alive.lock()) {
          context->shutdown();
        }
      }
    }
  }

  std::atomic<bool> handled_{false};  // by the handler, which has restored the earlier one
  // Guards all members below except the descriptors. It has priority inheritance because the thread
  // that holds it may get no CPU time.
  realtime::PiMutex mutex_;
  bool installed_ = false;
  struct sigaction old_interrupt_{};
  struct sigaction old_terminate_{};
  sigset_t blocked_{};  // in the thread that has installed the handler
  std::vector<Registered> contexts_;
  const int wake_;     // an eventfd: the thread shall check again
  const int signals_;  // a signalfd
  realtime::Thread thread_;
};

}  // namespace

void shut_down_on_signal(const std::shared_ptr<Context>& context) {
  Signals::instance().add(context);
}

void forget_on_signal(const Context* context) { Signals::instance().remove(context); }

}  // namespace rclrt::detail
