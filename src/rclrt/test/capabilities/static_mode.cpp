// SPDX-License-Identifier: Apache-2.0
// Heap and locks in the steady state.
#include "../watch.hpp"
#include "capability.hpp"

namespace rclrt::test {
namespace {

using namespace std::chrono_literals;

class SteadyState : public Capability {
 protected:
  /// Returns the reports of both workers: a timer publishes, a subscription receives by reference.
  /// The two reports are the same under `events`, `picas` and `static_order`.
  std::pair<realtime::RtReport, realtime::RtReport> publish_and_receive() {
    // A late machine runs all waiting releases of a timer before their messages. No message may be
    // replaced by a newer one: the instance that misses it would ask the middleware.
    constexpr std::size_t kDepth = 100;
    const auto publisher = node.create_publisher<Int64>("topic", kDepth, {.loans = 2});
    Watch publishing;
    Watch receiving;
    node.create_wall_timer(100us,
                           [&] {
                             publisher->publish(publisher->borrow());
                             if (has_two_workers()) {
                               publishing();
                             }
                           },
                           {.deadline = 2h});
    node.create_subscription<Int64>("topic", kDepth,
                                    [&](const Int64&) {
                                      if (receiving()) {
                                        done();
                                      }
                                    },
                                    {.priority = 1, .deadline = 1h, .intra_process = true});
    auto options = one_cpu();
    options.workers_per_level = 1;
    if (is("workshop")) {  // one thread of the pool: the watch is per thread
      options.preemption = executor::Preemption::kNever;
    } else if (has_two_workers()) {
      options.preemption = executor::Preemption::kAlways;  // also without permission for real time
    }
    spin(*executor(options));
    return {has_two_workers() ? publishing.report() : receiving.report(), receiving.report()};
  }

 private:
  bool has_two_workers() const { return !has_one_thread() && !is("picas") && !is("workshop"); }
};
INSTANTIATE_TEST_SUITE_P(Every, SteadyState, ::testing::ValuesIn(executor_names()), parameter_name);

TEST_P(SteadyState, NoAllocationAndNoLockWithoutInheritanceFromPublishToCallback) {
  if (is("wait_set")) {
    RCLRT_NOT_OFFERED("rcl_wait allocates and locks");
  }
  if (is("thread_dispatch")) {
    RCLRT_NOT_OFFERED("it creates a thread for each instance");
  }
  if (const char* const blind = realtime::RtGuard::blind()) {
    GTEST_SKIP() << "cannot be shown here: " << blind;
  }
  const auto [publishing, receiving] = publish_and_receive();
  EXPECT_TRUE(publishing.clean()) << publishing.text();
  EXPECT_TRUE(receiving.clean()) << receiving.text();
}

}  // namespace
}  // namespace rclrt::test
