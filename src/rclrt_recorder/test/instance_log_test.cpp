// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/instance_log.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace rclrt::recorder
