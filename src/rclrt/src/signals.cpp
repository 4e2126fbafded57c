// SPDX-License-Identifier: Apache-2.0
#include "signals.hpp"

#include <pthread.h>

#include <csignal>
#include <mutex>
#include <thread>
#include <vector>

#include "rclrt/context.hpp"
#include "rclrt/realtime/semaphore.hpp"

namespace rclrt::detail {

namespace {

/// A handler may only do what is async-signal-safe: it posts a semaphore, and a thread that waits
/// for it shuts the contexts down. The object lives as long as the process, so the handler never
/// meets a destroyed semaphore.
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

  Signals() {
    std::thread([this] {
      pthread_setname_np(pthread_self(), "rclrt signals");
      wait();
    }).detach();
  }

  static void handle(int) {
    // A second signal does what it did before rclrt, at once: the user wants out.
    instance().restore();
    instance().received_.post();
  }

  void install() {
    struct sigaction action{};
    action.sa_handler = &Signals::handle;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &old_interrupt_);
    sigaction(SIGTERM, &action, &old_terminate_);
    installed_ = true;
  }

  /// Async-signal-safe. The old actions are written before the handler can run.
  void restore() {
    sigaction(SIGINT, &old_interrupt_, nullptr);
    sigaction(SIGTERM, &old_terminate_, nullptr);
  }

  void wait() {
    for (;;) {
      received_.wait();
      std::vector<Registered> contexts;
      {
        const std::scoped_lock lock(mutex_);
        contexts.swap(contexts_);
        installed_ = false;  // the handler has restored what was there before
      }
      for (const Registered& registered : contexts) {
        if (const auto context = registered.alive.lock()) {
          context->shutdown();
        }
      }
    }
  }

  realtime::Semaphore received_;
  std::mutex mutex_;  // guards all below
  bool installed_ = false;
  struct sigaction old_interrupt_{};
  struct sigaction old_terminate_{};
  std::vector<Registered> contexts_;
};

}  // namespace

void shut_down_on_signal(const std::shared_ptr<Context>& context) {
  Signals::instance().add(context);
}

void forget_on_signal(const Context* context) { Signals::instance().remove(context); }

}  // namespace rclrt::detail
