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
#include <system_error>
#include <vector>

#include "rclrt/context.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::detail {

namespace {

int checked(int descriptor, const char* what) {
  if (descriptor < 0) {
    throw std::system_error(errno, std::generic_category(), what);
  }
  return descriptor;
}

sigset_t both_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

realtime::ThreadOptions thread_options() {
  // Above every executor.
  realtime::ThreadOptions options{.name = "rclrt signals",
                                  .scheduling = {realtime::Policy::kFifo, 99}};
  if (realtime::why_refused(options.scheduling)) {
    options.scheduling = {};  // then no executor of this process is more urgent either
  }
  return options;
}

/// A thread above all executors takes the signal and shuts the contexts down, whatever they do with
/// the CPUs. It does not wait for a handler to run: the kernel chooses the thread for that, the
/// main one if it can, and that may starve. So it also waits on a signalfd, which takes a pending
/// signal before the chosen thread comes to it. The signals stay unblocked, for a process started
/// by this one would inherit that; who comes first has the signal, and both do the same with it.
/// The object lives as long as the process, so the handler never meets a destroyed one.
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
        signals_(
            checked(signalfd(-1, &kSignals, SFD_CLOEXEC | SFD_NONBLOCK), "listening to signals")),
        thread_(thread_options(), [this] { wait(); }) {}

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
    sigaction(SIGINT, &action, &old_interrupt_);
    sigaction(SIGTERM, &action, &old_terminate_);
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

  /// A second signal does what it did before rclrt, at once: the user wants out. Async-signal-safe.
  /// The old actions are written before the handler can run.
  void restore() {
    sigaction(SIGINT, &old_interrupt_, nullptr);
    sigaction(SIGTERM, &old_terminate_, nullptr);
  }

  void wait() {
    for (bool listens = false;;) {
      pollfd sources[] = {{wake_, POLLIN, 0}, {signals_, POLLIN, 0}};
      poll(sources, listens ? 2 : 1, -1);
      std::uint64_t wakes = 0;
      if (read(wake_, &wakes, sizeof wakes) < 0 && errno != EAGAIN) {
        return;  // nobody else closes it
      }
      std::vector<Registered> contexts;
      {
        const std::scoped_lock lock(mutex_);
        signalfd_siginfo signal{};
        if (installed_ && read(signals_, &signal, sizeof signal) > 0) {
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

  inline static const sigset_t kSignals = both_signals();

  std::atomic<bool> handled_{false};  // by the handler, which has restored what was there before
  std::mutex mutex_;                  // guards all below but the descriptors
  bool installed_ = false;
  struct sigaction old_interrupt_{};
  struct sigaction old_terminate_{};
  std::vector<Registered> contexts_;
  const int wake_;     // an eventfd: the thread shall look again
  const int signals_;  // a signalfd
  realtime::Thread thread_;
};

}  // namespace

void shut_down_on_signal(const std::shared_ptr<Context>& context) {
  Signals::instance().add(context);
}

void forget_on_signal(const Context* context) { Signals::instance().remove(context); }

}  // namespace rclrt::detail
