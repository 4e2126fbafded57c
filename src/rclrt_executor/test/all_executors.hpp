// SPDX-License-Identifier: Apache-2.0
// Every kind of executor by its name, made in the same way. A test takes the name as its parameter,
// so that it is compiled once for all kinds.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "fake_readiness.hpp"
#include "rclrt/executor/kinds.hpp"
#include "test_callback.hpp"

namespace rclrt::executor::test {

/// The base of fixtures of which each test runs for several kinds. GetParam() is the kind's name.
class KindTest : public ::testing::TestWithParam<std::string_view> {};

/// The kinds to which ready work is announced, and which have threads for each level or a pool.
inline constexpr std::array<std::string_view, 5> kEventDriven{"preemptive", "producer_consumer",
                                                              "thread_dispatch", "edf", "workshop"};
inline constexpr std::array<std::string_view, 6> kEventDrivenAndWaitSet{
    "preemptive", "producer_consumer", "thread_dispatch", "edf", "workshop", "wait_set"};

/// Whether two callbacks of one level may run at the same time, given two workers.
inline bool overlaps_within_a_level(std::string_view kind) {
  return kind != "wait_set" && kind != "edf";
}
/// Whether callbacks run to completion, on one thread.
inline bool never_preempts(std::string_view kind) {
  return kind == "static_order" || kind == "events" || kind == "picas";
}
/// Whether priorities decide, and not deadlines or releases alone.
inline bool has_levels(std::string_view kind) { return kind != "edf" && kind != "events"; }
/// Whether the number of levels is limited by that of SCHED_FIFO priorities.
inline bool maps_levels(std::string_view kind) {
  return has_levels(kind) && !never_preempts(kind) && kind != "wait_set";
}

/// Returns an executor of the kind. Stores the source of a wait_set executor in `source`.
inline std::unique_ptr<Executor> make(std::string_view kind, ExecutorOptions options,
                                      FakeReadiness** source = nullptr) {
  if (never_preempts(kind)) {
    options.preemption = Preemption::kByRealtime;  // this executor has no other
  }
  return make_executor(kind, std::move(options), {}, [source] {
    auto made = std::make_unique<FakeReadiness>();
    if (source != nullptr) {
      *source = made.get();
    }
    return made;
  });
}

/// Names a test after its kind.
inline std::string kind_name(const ::testing::TestParamInfo<std::string_view>& info) {
  return std::string(info.param);
}

}  // namespace rclrt::executor::test
