// SPDX-License-Identifier: Apache-2.0
// The interface of an observer of executors, such as a recording (rclrt_robot/recording.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/instance.hpp"
#include "rclrt/executor/kinds.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt_rclcpp/executors.hpp"
#include "rclrt_rclcpp/export.hpp"

namespace rclrt_rclcpp {

/// Objects that must not end while a lock is held, because their destructors may run user code.
using Kept = std::vector<std::shared_ptr<void>>;

/// Facts about a callback that an observer gets before its first instance.
struct CallbackFacts {
  std::string node;                                ///< as in CallbackInfo, and the next three
  std::string kind;                                ///< timer, subscription, ...
  std::string name;                                ///< topic, service or index
  std::size_t group = 0;                           ///< index in its node
  std::optional<std::chrono::nanoseconds> period;  ///< of a timer
  std::size_t depth = 0;                           ///< of a subscription's QoS; otherwise 0
  bool is_exclusive = false;                       ///< its group
  Timing timing;                                   ///< as stated
};

/// The entity of a callback, as an observer sees it. Thread-safe.
class RCLRT_RCLCPP_EXPORT ObservedEntity {
 public:
  virtual ~ObservedEntity() = default;
  /// Returns whether the entity would be released again; false for a cancelled timer. Adds the
  /// entity to `kept`, because the caller may hold a lock, and the entity must not be destroyed
  /// meanwhile.
  virtual bool goes_on(Kept& kept) const = 0;
};

/// Observes one executor. The executor calls all functions except `record` and `on_message_taken`
/// while it holds its locks, so they must not call functions of the executor.
class RCLRT_RCLCPP_EXPORT ExecutorObserver : public engine::InstanceSink {
 public:
  /// Notes that the engine is prepared.
  virtual void on_engine_start(const engine::Executor& engine) = 0;
  /// Notes that the engine is about to end; on_removed() follows for each of its callbacks.
  virtual void on_engine_end() = 0;
  virtual void on_spin_begin() = 0;  ///< before the callbacks of a spin run
  virtual void on_spin_end() = 0;    ///< when no callback runs any more
  virtual void on_second() = 0;      ///< once a second, on a thread of normal priority
  /// Returns the number of a callback for its instances (engine::CallbackOptions::number).
  virtual std::uint32_t number(const CallbackFacts& facts) = 0;
  /// Reports that the engine now has this callback, with the number that `number` returned. The
  /// observer must not keep `entity` after on_removed().
  virtual void on_added(std::uint32_t number, const std::shared_ptr<engine::Callback>& callback,
                        const std::shared_ptr<const ObservedEntity>& entity) = 0;
  /// Notes that a callback has left the engine.
  virtual void on_removed(const engine::Callback& callback) = 0;
  /// Notes the topics on which a node has publishers; about once a second during a spin.
  virtual void on_publications(const std::string& node, const std::set<std::string>& topics) = 0;
  /// Reports that the calling thread is about to run user code with a message that was published at
  /// `published_ns` (CLOCK_MONOTONIC).
  virtual void on_message_taken(std::int64_t published_ns) noexcept = 0;
};

/// Observes executors, see Options::recording. Thread-safe.
class RCLRT_RCLCPP_EXPORT Observer {
 public:
  virtual ~Observer() = default;
  /// Returns an observer for an executor with this kind and these options. The observer must pass
  /// each record on to the sink in `options`, too. Throws std::invalid_argument if it cannot
  /// observe such an executor.
  virtual std::unique_ptr<ExecutorObserver> observe(std::string_view kind,
                                                    const engine::ExecutorOptions& options,
                                                    const engine::KindOptions& kind_options) = 0;
};

}  // namespace rclrt_rclcpp
