// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/executor_choice.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace rclrt::model {
namespace {

std::string error_of(std::string_view text) {
  try {
    parse_executor(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST(ExecutorChoice, OfAKindAloneHasItsDefaultsAndItsName) {
  for (const ExecutorTraits& each : executor_kinds()) {
    const ExecutorChoice choice = parse_executor(each.name);
    EXPECT_EQ(choice, ExecutorChoice(each.kind));
    EXPECT_EQ(name_of(choice), each.name);
    EXPECT_EQ(label_of(choice), each.label);
    EXPECT_EQ(traits(choice), each);
  }
}

TEST(ExecutorChoice, ReadsTheOptionsOfItsKindInAnyOrder) {
  const ExecutorChoice choice = parse_executor("wait_set:seed=7:threads=4:order=arbitrary");
  EXPECT_EQ(choice.kind, ExecutorKind::kWaitSet);
  EXPECT_EQ(choice.threads, 4U);
  EXPECT_EQ(choice.order_seed, 7U);
  EXPECT_EQ(name_of(choice), "wait_set:threads=4:order=arbitrary:seed=7");
  EXPECT_EQ(label_of(choice), "wait set, 4 threads, order 7 (rclcpp semantics)");
  EXPECT_TRUE(parse_executor("wait_set:static").subscriptions_first);
  EXPECT_TRUE(parse_executor("events:timers_thread").timers_thread);
  EXPECT_EQ(label_of(parse_executor("events:timers_thread")),
            "events, timers apart (rclcpp semantics)");
}

TEST(ExecutorChoice, HasOneNameHoweverItIsWritten) {
  EXPECT_EQ(name_of(parse_executor("wait_set:threads=1")), "wait_set");
  EXPECT_EQ(name_of(parse_executor("wait_set:order=registration")), "wait_set");
  EXPECT_EQ(name_of(parse_executor("wait_set:order=arbitrary:seed=0")), "wait_set:order=arbitrary");
  EXPECT_EQ(parse_executor("wait_set:order=arbitrary").order_seed, 0U);
  for (const char* name :
       {"wait_set:threads=64", "wait_set:order=arbitrary:seed=18446744073709551615",
        "wait_set:static", "wait_set:static:order=arbitrary", "events:timers_thread"}) {
    EXPECT_EQ(name_of(parse_executor(name)), name);
  }
}

TEST(ExecutorChoice, SaysWhatWasExpected) {
  EXPECT_EQ(error_of("preemptiv:threads=2"),
            "unknown executor 'preemptiv'; expected one of " + executor_names());
  EXPECT_EQ(error_of("\033[31m"),
            "unknown executor '\\x1b[31m'; expected one of " + executor_names());
  EXPECT_EQ(error_of(""), "unknown executor ''; expected one of " + executor_names());
  EXPECT_EQ(error_of("preemptive:threads=2"),
            "executor preemptive has no options; expected its name alone, without 'threads=2'");
  for (const char* text : {"wait_set:", "wait_set:timers_thread", "wait_set:order=random",
                           "wait_set::threads=2", "wait_set:thread=2"}) {
    EXPECT_NE(error_of(text).find("; expected threads=N, order=registration, order=arbitrary, "
                                  "seed=N or static"),
              std::string::npos)
        << text << ": " << error_of(text);
  }
  EXPECT_EQ(error_of("events:timers_thread=1"),
            "executor events has no option 'timers_thread=1'; expected timers_thread");
  for (const char* text : {"wait_set:threads=0", "wait_set:threads=65", "wait_set:threads=",
                           "wait_set:threads", "wait_set:threads=2x", "wait_set:threads=-1"}) {
    EXPECT_NE(error_of(text).find(": expected a whole number from 1 to 64"), std::string::npos)
        << text << ": " << error_of(text);
  }
  EXPECT_EQ(error_of("wait_set:threads=2:threads=2"),
            "executor option 'threads' is given twice; expected it once");
  EXPECT_NE(error_of("wait_set:static:threads=2").find("state 'static' or 'threads'"),
            std::string::npos);
  EXPECT_EQ(error_of("wait_set:seed=1"),
            "executor option 'seed' belongs to order=arbitrary; state both");
}

}  // namespace
}  // namespace rclrt::model
