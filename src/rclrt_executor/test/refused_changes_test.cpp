// SPDX-License-Identifier: Apache-2.0
// A change that fails leaves the executor unchanged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "all_executors.hpp"
#include "spinning.hpp"

namespace rclrt::executor::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class RefusedChange : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, RefusedChange, ::testing::ValuesIn(kEventDriven), kind_name);

TEST_P(RefusedChange, LeavesTheWaitingInstancesOfAnotherExecutorAlone) {
  if (!overlaps_within_a_level(GetParam())) {
    GTEST_SKIP() << "one callback runs, or is preempted by one with a shorter deadline";
  }
  auto options = on_all_cpus();
  options.realtime = Realtime::kOff;
  options.workers_per_level = 2;
  auto owner = make(GetParam(), options);
  auto other = make(GetParam(), options);
  std::atomic<bool> go_on{false};
  std::atomic<int> started{0};
  const auto callback = std::make_shared<TestCallback>(named("c"), [&](const InstanceInfo&) {
    ++started;
    busy_until([&] { return go_on.load(); });
  });
  std::atomic<bool> marker_ran{false};
  const auto marker = std::make_shared<TestCallback>(
      named("marker"), [&](const InstanceInfo&) { marker_ran = true; });
  owner->add(callback);
  owner->add(marker);
  owner->prepare();
  other->prepare();
  {
    const Spinning spinning(*owner);
    callback->release_now();
    callback->release_now();
    callback->release_now();
    marker->release_now();
    // The marker is behind them in the lane: they wait for their group now.
    ASSERT_TRUE(eventually([&] { return started > 0 && marker_ran; }));
    EXPECT_THAT([&] { other->add(callback); },
                ThrowsMessage<std::logic_error>(
                    HasSubstr("callback \"c\" is already in executor \"test\"")));
    EXPECT_EQ(callback->counters().dropped, 0U);
    go_on = true;
    EXPECT_TRUE(eventually([&] { return callback->counters().completed == 3; }));
  }
}

/// Limits the address space to a number of additional bytes, until the end of the scope.
class AddressSpace {
 public:
  explicit AddressSpace(std::size_t more) {
    getrlimit(RLIMIT_AS, &before_);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = before_;
    limit.rlim_cur = pages * 4096 + more;
    setrlimit(RLIMIT_AS, &limit);
  }
  ~AddressSpace() { setrlimit(RLIMIT_AS, &before_); }
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

 private:
  rlimit before_{};
};

/// Leaves room for only one of the two threads that a new level needs, because two instances of its
/// callback may run at the same time.
class WithoutThreads : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers need the address space";
#endif
  }
  static constexpr std::size_t kStack = std::size_t{512} << 20;
  static constexpr std::size_t kRoomForOne = kStack + kStack / 2;
  static std::shared_ptr<Group> reentrant() {
    return std::make_shared<Group>(GroupType::kReentrant);
  }
  static ExecutorOptions options() {
    auto options = on_all_cpus();
    options.workers_per_level = 2;
    options.stack_size = kStack;
    return options;
  }
};

TEST_F(WithoutThreads, AddingALevelFailsAndCanBeTriedAgain) {
  PreemptiveExecutor executor(options());
  std::atomic<int> low_runs{0};
  std::atomic<int> high_runs{0};
  executor.add(every_millisecond([&](const InstanceInfo&) { ++low_runs; }, 1));
  const auto high = every_millisecond([&](const InstanceInfo&) { ++high_runs; }, 2, reentrant());
  executor.prepare();
  const Spinning spinning(executor);
  ASSERT_TRUE(eventually([&] { return low_runs > 0; }));
  {
    const AddressSpace room(kRoomForOne);
    // Hangs if it waits for the one thread.
    EXPECT_THAT([&] { executor.add(high); },
                ThrowsMessage<std::system_error>(HasSubstr("starting thread \"test L2")));
  }
  EXPECT_EQ(executor.callbacks().size(), 1U);
  const int before = low_runs;
  EXPECT_TRUE(eventually([&] { return low_runs > before; }));
  EXPECT_EQ(high_runs, 0);
  executor.add(high);
  EXPECT_TRUE(eventually([&] { return high_runs > 0; }));
}

TEST_F(WithoutThreads, ATimerThatCannotMoveToANewLevelStaysWhereItWas) {
  PreemptiveExecutor executor(options());
  std::atomic<int> runs{0};
  const auto timer = every_millisecond([&](const InstanceInfo&) { ++runs; }, 1, reentrant());
  executor.add(timer);
  executor.prepare();
  const Spinning spinning(executor);
  ASSERT_TRUE(eventually([&] { return runs > 0; }));
  {
    const AddressSpace room(kRoomForOne);
    EXPECT_THAT([&] { executor.set_level(timer, 2); },
                ThrowsMessage<std::system_error>(HasSubstr("starting thread \"test L2")));
  }
  EXPECT_EQ(timer->level(), 1);
  const int before = runs;
  EXPECT_TRUE(eventually([&] { return runs > before; }));
}

TEST_F(WithoutThreads, SpinFailsAndCanBeTriedAgain) {
  PreemptiveExecutor executor(options());
  std::atomic<int> runs{0};
  const auto body = [&](const InstanceInfo&) {
    ++runs;
    executor.cancel();
  };
  executor.add(every_millisecond(body, 0, reentrant()));
  executor.prepare();
  {
    const AddressSpace room(kRoomForOne);
    EXPECT_THAT([&] { executor.spin(); },
                ThrowsMessage<std::system_error>(HasSubstr("starting thread \"test L")));
  }
  executor.spin();
  EXPECT_GT(runs, 0);
}

}  // namespace
}  // namespace rclrt::executor::test
