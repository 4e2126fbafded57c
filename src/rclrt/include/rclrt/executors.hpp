// SPDX-License-Identifier: Apache-2.0
// The executors of the engine for nodes on rcl.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rclrt/context.hpp"
#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/kinds.hpp"
#include "rclrt/executor/options.hpp"
#include "rclrt/export.hpp"
#include "rclrt/node.hpp"

namespace rclrt {

/// Options of every executor.
using ExecutorOptions = executor::ExecutorOptions;
/// Whether threads run under SCHED_FIFO.
using Realtime = executor::Realtime;
/// The reason why a spin with a time limit returned.
using SpinResult = executor::SpinResult;
/// Options of an events executor only.
using EventsOptions = executor::EventsOptions;
/// Options of a static-order executor only.
using StaticOrderOptions = executor::StaticOrderOptions;
/// Options of a wait-set executor only.
using WaitSetOptions = executor::WaitSetOptions;
/// Options of a workshop executor only.
using WorkshopOptions = executor::WorkshopOptions;
/// Options of make_executor that only some kinds have.
using KindOptions = executor::KindOptions;
/// The order in which a wait-set executor runs ready callbacks.
using WaitSetOrder = executor::WaitSetOrder;

/// Runs the callbacks of the nodes that are added to it. Its life cycle is add, prepare, spin. Any
/// thread may call `cancel`; for thread-safety see executor::Executor. After the context is shut
/// down, `spin` returns and cannot run again.
class RCLRT_EXPORT Executor {
 public:
  virtual ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Adds all callbacks that the node has now and that were not added before; the executor keeps
  /// them alive. Skips the groups that only `add_callback_group` adds (see
  /// Node::create_callback_group). May be called at any time, from any thread. Throws the
  /// exceptions of executor::Executor::add; callbacks that were added before the throw stay.
  RCLRT_SETUP void add_node(const Node& node);
  /// Removes the node's callbacks from this executor, as executor::Executor::remove does, including
  /// those that `add_callback_group` added. Call it before you destroy objects that the callbacks
  /// use.
  RCLRT_SETUP void remove_node(const Node& node);

  /// Adds all callbacks that the node has now in this group and that were not added before, as
  /// `add_node` does. Throws std::invalid_argument for nullptr, or if the node has no callback in
  /// the group.
  RCLRT_SETUP void add_callback_group(const std::shared_ptr<CallbackGroup>& group,
                                      const Node& node);
  /// Removes the node's callbacks in this group, as `remove_node` does. After that, another
  /// executor may get the group.
  RCLRT_SETUP void remove_callback_group(const std::shared_ptr<CallbackGroup>& group,
                                         const Node& node);

  /// Adds one callback. See executor::Executor.
  RCLRT_SETUP void add(const std::shared_ptr<executor::Callback>& callback);
  /// Removes one callback. See executor::Executor.
  RCLRT_SETUP bool remove(const std::shared_ptr<executor::Callback>& callback) {
    return engine_->remove(callback);
  }
  /// Changes the priority of one callback. See executor::Executor::set_level.
  RCLRT_SETUP void set_priority(const std::shared_ptr<executor::Callback>& callback, int priority) {
    engine_->set_level(callback, priority);
  }

  /// Prepares the executor. This and the spin functions are those of executor::Executor.
  RCLRT_SETUP void prepare() { engine_->prepare(); }
  void spin() RCLRT_WAITS { engine_->spin(); }
  void spin_some() RCLRT_WAITS { engine_->spin_some(); }
  /// Runs until an instance has ended. See executor::Executor.
  bool spin_once(realtime::SaturatingNanoseconds timeout = std::chrono::nanoseconds(-1))
      RCLRT_WAITS {
    return engine_->spin_once(timeout);
  }
  /// Runs until `future` is ready. See executor::Executor.
  template <typename Future>
  SpinResult spin_until_future_complete(
      const Future& future,
      realtime::SaturatingNanoseconds timeout = std::chrono::nanoseconds(-1)) RCLRT_WAITS {
    return engine_->spin_until_future_complete(future, timeout);
  }
  /// Makes `spin` return. Thread-safe; not from a signal handler (contexts handle signals).
  void cancel() noexcept { engine_->cancel(); }

  const executor::Executor& engine() const noexcept { return *engine_; }

 protected:
  friend class Context;  // closes the context's executors at shutdown

  /// Makes an executor of the engine's `engine`.
  RCLRT_SETUP Executor(std::shared_ptr<Context> context,
                       std::unique_ptr<executor::Executor> engine);

 private:
  void add_absent(const Node& node,
                  const std::function<bool(const executor::Callback&)>& is_wanted);

  const std::shared_ptr<Context> context_;
  const std::unique_ptr<executor::Executor> engine_;
};

/// The default. See executor::PreemptiveExecutor.
class RCLRT_EXPORT PreemptiveExecutor final : public Executor {
 public:
  /// Makes the executor; see executor::PreemptiveExecutor.
  RCLRT_SETUP explicit PreemptiveExecutor(std::shared_ptr<Context> context,
                                          ExecutorOptions options = {});
};

/// See executor::ProducerConsumerExecutor.
class RCLRT_EXPORT ProducerConsumerExecutor final : public Executor {
 public:
  /// Makes the executor; see executor::ProducerConsumerExecutor.
  RCLRT_SETUP explicit ProducerConsumerExecutor(std::shared_ptr<Context> context,
                                                ExecutorOptions options = {});
};

/// See executor::ThreadDispatchExecutor.
class RCLRT_EXPORT ThreadDispatchExecutor final : public Executor {
 public:
  /// Makes the executor; see executor::ThreadDispatchExecutor.
  RCLRT_SETUP explicit ThreadDispatchExecutor(std::shared_ptr<Context> context,
                                              ExecutorOptions options = {});
};

/// Runs callbacks by deadline instead of priority, on one CPU. See executor::EdfExecutor.
class RCLRT_EXPORT EdfExecutor final : public Executor {
 public:
  /// Makes the executor; see executor::EdfExecutor.
  RCLRT_SETUP explicit EdfExecutor(std::shared_ptr<Context> context, ExecutorOptions options = {});
};

/// Runs the most urgent ready callback to its end. See executor::PicasExecutor.
class RCLRT_EXPORT PicasExecutor final : public Executor {
 public:
  /// Makes the executor; see executor::PicasExecutor.
  RCLRT_SETUP explicit PicasExecutor(std::shared_ptr<Context> context,
                                     ExecutorOptions options = {});
};

/// Runs each callback group on its own thread. See executor::PerGroupExecutor.
class RCLRT_EXPORT PerGroupExecutor final : public Executor {
 public:
  /// Makes the executor; see executor::PerGroupExecutor.
  RCLRT_SETUP explicit PerGroupExecutor(std::shared_ptr<Context> context,
                                        ExecutorOptions options = {});
};

/// Runs callbacks in order of release, on one thread. See executor::EventsExecutor.
class RCLRT_EXPORT EventsExecutor final : public Executor {
 public:
  /// Makes the executor; see executor::EventsExecutor.
  RCLRT_SETUP explicit EventsExecutor(std::shared_ptr<Context> context,
                                      ExecutorOptions options = {}, EventsOptions events = {});
};

/// Runs one set at a time in a fixed order, as rclc does. See executor::StaticOrderExecutor.
class RCLRT_EXPORT StaticOrderExecutor final : public Executor {
 public:
  /// Makes the executor; see executor::StaticOrderExecutor.
  RCLRT_SETUP explicit StaticOrderExecutor(std::shared_ptr<Context> context,
                                           ExecutorOptions options = {},
                                           StaticOrderOptions static_order = {});
};

/// Runs callbacks on a pool of threads. A thread takes the priority of the callback that it runs.
/// See executor::WorkshopExecutor.
class RCLRT_EXPORT WorkshopExecutor final : public Executor {
 public:
  /// Makes the executor; see executor::WorkshopExecutor.
  RCLRT_SETUP explicit WorkshopExecutor(std::shared_ptr<Context> context,
                                        ExecutorOptions options = {},
                                        WorkshopOptions workshop = {});
};

/// The baseline: runs callbacks on rcl_wait. See executor::WaitSetExecutor.
class RCLRT_EXPORT WaitSetExecutor final : public Executor {
 public:
  /// Makes the executor; see executor::WaitSetExecutor.
  RCLRT_SETUP explicit WaitSetExecutor(std::shared_ptr<Context> context,
                                       ExecutorOptions options = {}, WaitSetOptions wait_set = {});
};

/// Returns the names that `make_executor` takes, the baseline first.
RCLRT_EXPORT const std::vector<std::string>& executor_names();

/// Returns a new executor of the kind with this name, as in files and on command lines. Throws
/// std::invalid_argument with a list of the valid names, and the exceptions of the constructor of
/// that executor.
RCLRT_EXPORT RCLRT_SETUP std::unique_ptr<Executor> make_executor(
    std::string_view name, std::shared_ptr<Context> context, ExecutorOptions options = {},
    const KindOptions& kind_options = {});

}  // namespace rclrt
