// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/instance_log.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include "rclrt/executor/callback.hpp"

namespace rclrt::recorder {
namespace {

class Nothing : public executor::Callback {
 public:
  Nothing() : Callback({.name = "nothing"}) {}

 protected:
  executor::Outcome run(executor::InstanceInfo&) override { return executor::Outcome::kRan; }
};

TEST(InstanceLog, KeepsWhatSeveralThreadsRecordWithTheTokensOfEach) {
  const Nothing first;
  const Nothing second;
  InstanceLog log;
  log.map(&first, 4);
  log.map(&second, 9);
  InstanceLog::Sink sink(log, 1);
  std::vector<std::thread> threads;
  for (const executor::Callback* callback : {static_cast<const executor::Callback*>(&first),
                                             static_cast<const executor::Callback*>(&second)}) {
    threads.emplace_back([&sink, callback, &first] {
      for (std::uint64_t i = 0; i < 1000; ++i) {
        if (callback == &first) {
          ChainTokens tokens;
          tokens.add({2, i, 5});
          InstanceLog::set_tokens(tokens);
        }
        executor::InstanceRecord record;
        record.callback = callback;
        record.info.id = i;
        sink.record(record);
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  const auto instances = log.finish();
  ASSERT_EQ(instances.size() + log.dropped(), 2000U);
  EXPECT_GT(instances.size(), 0U);
  for (const LoggedInstance& instance : instances) {
    EXPECT_EQ(instance.executor, 1U);
    const auto tokens = instance.record.tokens.all();
    if (instance.record.callback == 4) {
      ASSERT_EQ(tokens.size(), 1U);
      EXPECT_EQ(tokens[0], (ChainToken{2, instance.record.id, 5}));
    } else {
      EXPECT_EQ(instance.record.callback, 9U);
      EXPECT_TRUE(tokens.empty());
    }
  }
}

TEST(InstanceLog, KeepsTheCpusOfAnInstance) {
  const Nothing callback;
  InstanceLog log;
  log.map(&callback, 0);
  InstanceLog::Sink sink(log, 0);
  executor::InstanceRecord record;
  record.callback = &callback;
  sink.record(record);
  record.start_cpu = 3;
  record.end_cpu = 1;
  sink.record(record);
  const auto instances = log.finish();
  ASSERT_EQ(instances.size(), 2U);
  EXPECT_EQ(instances[0].record.first_cpu, kUnknownCpu);
  EXPECT_EQ(instances[0].record.last_cpu, kUnknownCpu);
  EXPECT_EQ(instances[1].record.first_cpu, 3);
  EXPECT_EQ(instances[1].record.last_cpu, 1);
}

TEST(InstanceLog, TokensBelongToTheNextRecordOnly) {
  const Nothing callback;
  InstanceLog log;
  log.map(&callback, 0);
  InstanceLog::Sink sink(log, 0);
  ChainTokens tokens;
  tokens.add({});
  InstanceLog::set_tokens(tokens);
  executor::InstanceRecord record;
  record.callback = &callback;
  sink.record(record);
  sink.record(record);
  const auto instances = log.finish();
  ASSERT_EQ(instances.size(), 2U);
  EXPECT_EQ(instances[0].record.tokens.all().size(), 1U);
  EXPECT_TRUE(instances[1].record.tokens.all().empty());
}

/// Returns the record of an instance that ended at `id`.
executor::InstanceRecord record_of(const executor::Callback& callback, std::uint64_t id) {
  executor::InstanceRecord record;
  record.callback = &callback;
  record.info.id = id;
  record.end_ns = static_cast<std::int64_t>(id);
  return record;
}

TEST(InstanceLog, SaysSinceWhenItIsFull) {
  const Nothing callback;
  InstanceLog log(3);
  log.map(&callback, 0);
  InstanceLog::Sink sink(log, 0);
  for (const std::uint64_t id : {1, 2, 3}) {
    sink.record(record_of(callback, id));
  }
  EXPECT_FALSE(log.full_since_ns());
  for (const std::uint64_t id : {5, 4, 6}) {  // a preempted instance is recorded later
    sink.record(record_of(callback, id));
  }
  EXPECT_EQ(log.finish().size(), 3U);
  EXPECT_EQ(log.dropped(), 3U);
  EXPECT_EQ(log.full_since_ns(), 4);
}

TEST(InstanceLogDeathTest, WithoutMemoryItIsFullAndTheProgramGoesOn) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers end a program that is refused memory";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run_short_of_memory = [] {
    const Nothing callback;
    InstanceLog log;
    log.map(&callback, 0);
    InstanceLog::Sink sink(log, 0);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t size = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + 64 * 1024 * 1024;
    const rlimit limit{size, size};
    setrlimit(RLIMIT_AS, &limit);
    for (std::uint64_t id = 1; !log.full_since_ns(); ++id) {
      sink.record(record_of(callback, id));
      if (id % 1000 == 0) {
        std::this_thread::yield();
      }
    }
    const bool kept = !log.finish().empty();
    std::exit(kept && log.dropped() > 0 ? 0 : 1);
  };
  EXPECT_EXIT(run_short_of_memory(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace rclrt::recorder
