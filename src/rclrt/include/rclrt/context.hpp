// SPDX-License-Identifier: Apache-2.0
// The life of ROS in this process: arguments, middleware, signals.
#pragma once

#include <rcl/context.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rclrt/detail/intra_topics.hpp"
#include "rclrt/export.hpp"
#include "rclrt/realtime/mutex.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt {

class Executor;

namespace detail {
class EventWatcher;
class QosWarner;
}  // namespace detail

/// Options of a context, besides the ROS arguments.
struct ContextOptions {
  /// true: SIGINT and SIGTERM shut the context down. A second signal has the effect that it would
  /// have without rclrt; by default it ends the process.
  bool handle_signals = true;
  /// Overrides ROS_DOMAIN_ID.
  std::optional<std::size_t> domain_id;
};

/// Hold it in a shared_ptr: nodes keep it alive. All member functions are thread-safe.
class RCLRT_EXPORT Context : public std::enable_shared_from_this<Context> {
 public:
  /// Makes a context from ROS arguments (`--ros-args ...`) and starts the middleware. Throws Error,
  /// for example if an argument cannot be parsed.
  RCLRT_SETUP static std::shared_ptr<Context> make(int argc = 0, const char* const* argv = nullptr,
                                                   const ContextOptions& options = {});
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Ends every running `spin` of this context's executors and stops the middleware. Callbacks that
  /// run at this time finish, but messages that they publish after it are not sent.
  RCLRT_SETUP void shutdown();

  /// Returns false as soon as `shutdown` has begun.
  bool ok() const noexcept;

  /// Returns the arguments that are not for ROS, without the program's name.
  const std::vector<std::string>& arguments() const noexcept { return arguments_; }

  rcl_context_t* rcl() noexcept { return &context_; }
  /// Returns the topics within the process, for publishers and subscriptions.
  detail::IntraTopics& intra_topics() noexcept { return intra_topics_; }
  /// Returns the event watcher. The first call makes it.
  RCLRT_SETUP detail::EventWatcher& event_watcher();
  /// Returns the object that warns of publishers and subscriptions with incompatible QoS.
  detail::QosWarner& qos_warner() noexcept { return *qos_warner_; }

 private:
  friend class Executor;

  Context();
  void add(Executor* executor);
  void remove(Executor* executor);

  rcl_context_t context_{};
  detail::IntraTopics intra_topics_;
  std::vector<std::string> arguments_;
  bool handles_signals_ = false;
  // Set before any executor is closed. So when `spin` returns because of a shutdown, `ok()` already
  // returns false.
  std::atomic<bool> shut_down_{false};
  // Guards executors_, and allows only one shutdown at a time. Not locked while callbacks are
  // released or run. It has priority inheritance because after a signal a thread above all
  // executors waits for it.
  realtime::PiMutex mutex_;
  std::vector<Executor*> executors_;
  std::mutex watcher_mutex_;  // guards the making of event_watcher_
  std::unique_ptr<detail::EventWatcher> event_watcher_;
  const std::unique_ptr<detail::QosWarner> qos_warner_;  // outlives every endpoint: they keep this
};

}  // namespace rclrt
