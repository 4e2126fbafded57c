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
    std::erase_if(contexts_, [](const auto& old) { return old.expired(); });
    contexts_.push_back(context);
    if (!installed_) {
      install();
    }
  }

 private:
  Signals() {
    std::thread([this] {
      pthread_setname_np(pthread_self(), "rclrt signals");
      wait();
    }).detach();
  }

  static void handle(int) {
    instance().received_.post();
  }

  void install() {
    struct sigaction action {};
    action.sa_handler = &Signals::handle;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &old_interrupt_);
    sigaction(SIGTERM, &action, &old_terminate_);
    installed_ = true;
  }

  void wait() {
    for (;;) {
      received_.wait();
      std::vector<std::weak_ptr<Context>> contexts;
      {
        const std::scoped_lock lock(mutex_);
        contexts.swap(contexts_);
        // A second signal does what it did before rclrt: the user wants out.
        sigaction(SIGINT, &old_interrupt_, nullptr);
        sigaction(SIGTERM, &old_terminate_, nullptr);
        installed_ = false;
      }
      for (const auto& weak : contexts) {
        if (const auto context = weak.lock()) {
          context->shutdown();
        }
      }
    }
  }

  realtime::Semaphore received_;
  std::mutex mutex_;  // guards all below
  bool installed_ = false;
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
  std::vector<std::weak_ptr<Context>> contexts_;
};

}  // namespace

void shut_down_on_signal(const std::shared_ptr<Context>& context) {
  Signals::instance().add(context);
}

}  // namespace rclrt::detail
