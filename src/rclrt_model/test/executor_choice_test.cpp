// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/executor_choice.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace rclrt::model {
namespace {

std::string error_of_executor(std::string_view text) {
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

/// Returns the option with a value, as it may be written.
std::string written(const ExecutorOption& option) {
  const std::string name(option.name());
  return option.value() == "N"          ? name + "=" + std::to_string(option.lowest + 1)
         : option.value() == "CALLBACK" ? name + "=planner"
                                        : std::string(option.text);
}

TEST(ExecutorChoice, TakesEachOptionOfTheRegistry) {
  for (const ExecutorTraits& kind : executor_kinds()) {
    for (const ExecutorOption& option : kind.options) {
      std::string name(kind.name);
      name += option.belongs_to.empty() ? "" : ":" + std::string(option.belongs_to);
      name += ":" + written(option);
      const ExecutorChoice choice = parse_executor(name);
      EXPECT_EQ(choice == ExecutorChoice(kind.kind), option.is_default) << name;
      EXPECT_EQ(name_of(choice), option.is_default ? std::string(kind.name) : name);
      EXPECT_EQ(why_no_bounds(choice).value_or(""), option.no_bounds) << name;
      EXPECT_FALSE(option.help.empty()) << name;
    }
    EXPECT_EQ(why_no_bounds(kind.kind), std::nullopt);
  }
}

TEST(ExecutorChoice, HasNoBoundsUnderATriggerWithoutAName) {
  ExecutorChoice choice = ExecutorKind::kStaticOrder;
  choice.trigger = SetTrigger::kCallback;
  EXPECT_NE(why_no_bounds(choice), std::nullopt);
}

TEST(ExecutorChoice, OfStaticOrderHasATrigger) {
  const ExecutorChoice all = parse_executor("static_order:let:trigger=all");
  EXPECT_EQ(all.trigger, SetTrigger::kAll);
  EXPECT_TRUE(all.logical_execution_time);
  EXPECT_EQ(name_of(all), "static_order:trigger=all:let");
  EXPECT_EQ(label_of(all), "static_order, trigger all, LET");
  const ExecutorChoice one = parse_executor("static_order:trigger_on=all");
  EXPECT_EQ(one.trigger, SetTrigger::kCallback);
  EXPECT_EQ(one.trigger_callback, "all");
  EXPECT_EQ(name_of(one), "static_order:trigger_on=all");
  EXPECT_EQ(label_of(one), "static_order, trigger all");
  EXPECT_EQ(name_of(parse_executor("static_order:trigger=any")), "static_order");
  for (const char* text :
       {"static_order:trigger=some", "static_order:trigger_on=", "static_order:trigger_on=../x",
        "static_order:trigger_on", "static_order:LET", "static_order:threads=2"}) {
    EXPECT_NE(error_of_executor(text).find(
                  "; expected trigger=any, trigger=all, trigger_on=CALLBACK or let"),
              std::string::npos)
        << text << ": " << error_of_executor(text);
  }
  EXPECT_NE(
      error_of_executor("static_order:trigger_on=a:trigger=all").find("expected one of the two"),
      std::string::npos);
}

TEST(ExecutorChoice, TheCallbackOfATriggerIsOneOfTheApplication) {
  Application application;
  application.callbacks.resize(2);
  application.callbacks[0].id = "a";
  application.callbacks[1].id = "b";
  EXPECT_EQ(trigger_callback(application, parse_executor("static_order:trigger_on=b")), 1U);
  EXPECT_EQ(trigger_callback(application, parse_executor("static_order:trigger=all")),
            std::nullopt);
  try {
    trigger_callback(application, parse_executor("static_order:trigger_on=c"));
    FAIL() << "an unknown callback must be refused";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "executor option trigger_on: the application has no callback 'c'; expected one of "
                 "its ids");
  }
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
  EXPECT_EQ(error_of_executor("preemptiv:threads=2"),
            "unknown executor 'preemptiv'; expected one of " + executor_names());
  EXPECT_EQ(error_of_executor("\033[31m"),
            "unknown executor '\\x1b[31m'; expected one of " + executor_names());
  EXPECT_EQ(error_of_executor(""), "unknown executor ''; expected one of " + executor_names());
  EXPECT_EQ(error_of_executor("preemptive:threads=2"),
            "executor preemptive has no options; expected its name alone, without 'threads=2'");
  for (const char* text : {"wait_set:", "wait_set:timers_thread", "wait_set:order=random",
                           "wait_set::threads=2", "wait_set:thread=2"}) {
    EXPECT_NE(error_of_executor(text).find("; expected threads=N, static, order=registration, "
                                           "order=arbitrary or seed=N"),
              std::string::npos)
        << text << ": " << error_of_executor(text);
  }
  EXPECT_EQ(error_of_executor("events:timers_thread=1"),
            "executor events has no option 'timers_thread=1'; expected timers_thread");
  for (const char* text : {"wait_set:threads=0", "wait_set:threads=65", "wait_set:threads=",
                           "wait_set:threads", "wait_set:threads=2x", "wait_set:threads=-1"}) {
    EXPECT_NE(error_of_executor(text).find(": expected a whole number from 1 to 64"),
              std::string::npos)
        << text << ": " << error_of_executor(text);
  }
  EXPECT_EQ(error_of_executor("wait_set:threads=2:threads=2"),
            "executor option 'threads' is given twice; expected it once");
  EXPECT_NE(error_of_executor("wait_set:static:threads=2").find("state 'static' or 'threads'"),
            std::string::npos);
  EXPECT_EQ(error_of_executor("wait_set:seed=1"),
            "executor option 'seed' belongs to order=arbitrary; state both");
}

}  // namespace
}  // namespace rclrt::model
