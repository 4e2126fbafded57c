// SPDX-License-Identifier: Apache-2.0
// Every executor, made in the same way.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fake_readiness.hpp"
#include "rclrt/executor/kinds.hpp"
#include "test_callback.hpp"

namespace rclrt::executor::test {

using EventDrivenExecutors =
    ::testing::Types<PreemptiveExecutor, ProducerConsumerExecutor, ThreadDispatchExecutor,
                     EdfExecutor, WorkshopExecutor>;
using AllExecutors =
    ::testing::Types<PreemptiveExecutor, ProducerConsumerExecutor, ThreadDispatchExecutor,
                     EdfExecutor, WorkshopExecutor, WaitSetExecutor>;
/// All of these, and those with one thread for each group, or with a single thread.
using AllAndFixedThreads =
    ::testing::Types<PreemptiveExecutor, ProducerConsumerExecutor, ThreadDispatchExecutor,
                     EdfExecutor, WorkshopExecutor, WaitSetExecutor, PerGroupExecutor,
                     StaticOrderExecutor, EventsExecutor, PicasExecutor>;

/// Whether two callbacks of one level may run at the same time, given two workers.
template <typename E>
inline constexpr bool kOverlapsWithinALevel =
    !std::is_same_v<E, WaitSetExecutor> && !std::is_same_v<E, EdfExecutor>;
/// Whether callbacks run to completion, on one thread.
template <typename E>
inline constexpr bool kNeverPreempts =
    std::is_same_v<E, StaticOrderExecutor> || std::is_same_v<E, EventsExecutor> ||
    std::is_same_v<E, PicasExecutor>;
/// Whether priorities decide, and not deadlines or releases alone.
template <typename E>
inline constexpr bool kHasLevels =
    !std::is_same_v<E, EdfExecutor> && !std::is_same_v<E, EventsExecutor>;
/// Whether the number of levels is limited by that of SCHED_FIFO priorities.
template <typename E>
inline constexpr bool kMapsLevels =
    kHasLevels<E> && !kNeverPreempts<E> && !std::is_same_v<E, WaitSetExecutor>;

template <typename E>
std::unique_ptr<E> make(ExecutorOptions options) {
  if constexpr (kNeverPreempts<E>) {
    options.preemption = Preemption::kByRealtime;  // this executor has no other
  }
  if constexpr (std::is_same_v<E, WaitSetExecutor>) {
    return std::make_unique<E>(options, std::make_unique<FakeReadiness>());
  } else {
    return std::make_unique<E>(options);
  }
}

struct ExecutorName {
  template <typename E>
  static std::string GetName(int) {
    if (std::is_same_v<E, PreemptiveExecutor>) {
      return "Preemptive";
    }
    if (std::is_same_v<E, ProducerConsumerExecutor>) {
      return "ProducerConsumer";
    }
    if (std::is_same_v<E, ThreadDispatchExecutor>) {
      return "ThreadDispatch";
    }
    if (std::is_same_v<E, EdfExecutor>) {
      return "Edf";
    }
    if (std::is_same_v<E, PerGroupExecutor>) {
      return "PerGroup";
    }
    if (std::is_same_v<E, StaticOrderExecutor>) {
      return "StaticOrder";
    }
    if (std::is_same_v<E, WorkshopExecutor>) {
      return "Workshop";
    }
    if (std::is_same_v<E, EventsExecutor>) {
      return "Events";
    }
    if (std::is_same_v<E, PicasExecutor>) {
      return "Picas";
    }
    return "WaitSet";
  }
};

}  // namespace rclrt::executor::test
