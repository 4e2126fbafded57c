// SPDX-License-Identifier: Apache-2.0
// The parts of an executor.
#pragma once

#include <memory>
#include <utility>

#include "callback_set.hpp"
#include "dispatcher.hpp"
#include "instance_runner.hpp"
#include "rclrt/executor/executor.hpp"
#include "spin_control.hpp"
#include "spin_state.hpp"
#include "stall_watch.hpp"
#include "thread_settings.hpp"

namespace rclrt::executor {

/// One object of each part, in the order in which they use each other.
struct Executor::Engine {
  /// Makes an engine with a dispatcher of type `D`, made of its context and `arguments`.
  template <typename D, typename... Arguments>
  static std::unique_ptr<Engine> with(ExecutorOptions options, Arguments&&... arguments) {
    auto engine = std::make_unique<Engine>(std::move(options));
    engine->use(
        std::make_unique<D>(DispatcherContext{engine->options, engine->threads, engine->callbacks,
                                              engine->runner, engine->state},
                            std::forward<Arguments>(arguments)...));
    return engine;
  }

  explicit Engine(ExecutorOptions executor_options)
      : options(std::move(executor_options)),
        threads(options),
        runner(options, threads, state),
        callbacks(options, threads, runner, state),
        stalls(options, callbacks, runner.running()) {}
  /// Clears the callbacks before the dispatcher is destroyed, because after that no entity may
  /// release work into the dispatcher.
  ~Engine() { callbacks.clear(); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void use(std::unique_ptr<Dispatcher> made) {
    dispatcher = std::move(made);
    callbacks.set_dispatcher(*dispatcher);
    spins =
        std::make_unique<SpinControl>(options.name, callbacks, *dispatcher, runner, state, stalls);
  }

  const ExecutorOptions options;
  SpinState state;
  ThreadSettings threads;
  InstanceRunner runner;
  CallbackSet callbacks;
  StallWatch stalls;
  std::unique_ptr<Dispatcher> dispatcher;
  std::unique_ptr<SpinControl> spins;
};

}  // namespace rclrt::executor
