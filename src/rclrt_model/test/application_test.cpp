// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/application.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "rclrt/model/relative_deadline.hpp"

namespace rclrt::model {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::ThrowsMessage;

using std::chrono::hours;
using std::chrono::milliseconds;

Callback timer(std::string id, Nanoseconds period, Nanoseconds wcet,
               std::vector<std::string> publishes) {
  return {std::move(id),
          0,
          Timer{period, {}, OverrunPolicy::kCatchUp},
          wcet,
          std::move(publishes),
          std::nullopt,
          std::nullopt};
}

Callback subscription(std::string id, std::string topic, Nanoseconds wcet,
                      std::vector<std::string> publishes) {
  return {std::move(id),
          0,
          Subscription{{std::move(topic)}, 10, Reliability::kReliable},
          wcet,
          std::move(publishes),
          std::nullopt,
          std::nullopt};
}

Callback sync(std::string id, std::string first, std::string second, Nanoseconds wcet,
              std::vector<std::string> publishes) {
  return {std::move(id),
          0,
          Sync{{std::move(first), std::move(second)}, SyncPolicy::kExact, {}, 10},
          wcet,
          std::move(publishes),
          std::nullopt,
          std::nullopt};
}

/// Two timers and a sync that joins them; two callbacks take its output.
Application diamond() {
  Application app;
  app.callbacks = {timer("a", milliseconds(50), milliseconds(5), {"x"}),
                   timer("b", milliseconds(100), milliseconds(10), {"y"}),
                   sync("s", "x", "y", milliseconds(10), {"z", "w"}),
                   subscription("p", "z", milliseconds(10), {}),
                   subscription("q", "w", milliseconds(20), {})};
  return app;
}

TEST(Application, ExecutorsThatNameAProcessShareIt) {
  Application app;
  EXPECT_TRUE(app.processes().empty());
  app.executors = {{.name = "a"},
                   {.name = "b", .process = "far"},
                   {.name = "c"},
                   {.name = "d", .process = "main"},
                   {.name = "e", .process = "far"}};
  EXPECT_EQ(app.processes(), (std::vector<std::vector<std::size_t>>{{0, 2}, {1, 4}, {3}}));
}

TEST(Callback, KnowsItsKind) {
  const Application app = diamond();
  EXPECT_EQ(app.callbacks[0].kind(), CallbackKind::kTimer);
  EXPECT_EQ(app.callbacks[2].kind(), CallbackKind::kSync);
  EXPECT_EQ(app.callbacks[3].kind(), CallbackKind::kSubscription);
}

TEST(Callback, HasTheTopicsOfItsTriggerAsInputs) {
  const Application app = diamond();
  EXPECT_TRUE(inputs(app.callbacks[0]).empty());
  EXPECT_EQ(inputs(app.callbacks[2]), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(inputs(app.callbacks[3]), (std::vector<std::string>{"z"}));
}

TEST(EffectivePriority, IsTheHighestOfTheChainsTheCallbackIsOn) {
  Application app = diamond();
  app.chains = {{"low", {1, 2, 3}, 2, {}}, {"high", {0, 2, 4}, 5, {}}};
  EXPECT_EQ(app.effective_priority(2), 5);
  EXPECT_EQ(app.effective_priority(3), 2);
  EXPECT_EQ(app.effective_priorities(), (std::vector<int>{5, 2, 5, 2, 5}));
}

TEST(EffectivePriority, IsZeroOutsideOfAllChains) { EXPECT_EQ(diamond().effective_priority(0), 0); }

TEST(EffectivePriority, IsTheCallbacksOwnEvenBelowItsChains) {
  Application app = diamond();
  app.chains = {{"c", {0, 2, 3}, 5, {}}};
  app.callbacks[2].priority = 1;
  EXPECT_EQ(app.effective_priority(2), 1);
  EXPECT_EQ(app.effective_priorities(), (std::vector<int>{5, 0, 1, 5, 0}));
}

TEST(EffectivePriority, RefusesAnIndexWithoutACallback) {
  EXPECT_THAT(
      [&] { diamond().effective_priority(5); },
      ThrowsMessage<std::out_of_range>(HasSubstr("there is no callback 5; the application has 5")));
}

TEST(ExecutorOf, IsThatOfTheNodeUnlessTheCallbackHasItsOwn) {
  Application application = diamond();
  application.executors = {{.name = "main"}, {.name = "other"}};
  application.nodes = {{.name = "node", .name_space = "/", .executor = 0}};
  application.callbacks[1].executor = application.executors.size() - 1;
  EXPECT_EQ(application.executor_of(0), application.nodes[application.callbacks[0].node].executor);
  EXPECT_EQ(application.executor_of(1), application.executors.size() - 1);
  EXPECT_THAT([&] { application.executor_of(1000); },
              ThrowsMessage<std::out_of_range>(
                  HasSubstr("there is no callback 1000; the application has 5")));
}

TEST(Period, IsThatOfTheTimerThatStartsTheChain) {
  const Application app = diamond();
  EXPECT_EQ(app.period({"c", {1, 2, 3}, 0, {}}), milliseconds(100));
  EXPECT_EQ(app.period({"no timer", {2, 3}, 0, {}}), milliseconds(0));
  EXPECT_EQ(app.period({"empty", {}, 0, {}}), milliseconds(0));
}

TEST(Intervals, OfAnEventAreStatedAndOfATimerBothItsPeriod) {
  Callback callback;
  callback.trigger = Event{.min_interval = 20ms, .max_interval = 50ms};
  EXPECT_EQ(min_interval(callback), 20ms);
  EXPECT_EQ(max_interval(callback), 50ms);
  callback.trigger = Timer{.period = 5ms};
  EXPECT_EQ(min_interval(callback), 5ms);
  EXPECT_EQ(max_interval(callback), 5ms);
  callback.trigger = Subscription{};
  EXPECT_EQ(min_interval(callback), 0ms);
}

TEST(RelativeDeadline, IsTheStatedOneOtherwiseThePeriodOfATimerOrEvent) {
  Callback callback = timer("tick", milliseconds(20), milliseconds(1), {});
  EXPECT_EQ(relative_deadline(callback), milliseconds(20));
  callback.deadline = milliseconds(5);
  EXPECT_EQ(relative_deadline(callback), milliseconds(5));
  callback.deadline.reset();
  callback.trigger = Event{.min_interval = milliseconds(10),
                           .max_interval = milliseconds(30),
                           .period = milliseconds(20),
                           .jitter = milliseconds(10)};
  EXPECT_EQ(relative_deadline(callback), milliseconds(20));
  callback.trigger = Event{.min_interval = milliseconds(10), .max_interval = milliseconds(30)};
  EXPECT_EQ(relative_deadline(callback), milliseconds(10));
}

TEST(RelativeDeadline, OfASubscriptionIsThatWhichItStates) {
  Callback callback = subscription("follow", "points", milliseconds(1), {});
  EXPECT_EQ(relative_deadline(callback), std::nullopt);
  callback.deadline = milliseconds(7);
  EXPECT_EQ(relative_deadline(callback), milliseconds(7));
}

TEST(Rates, OfAnEventAreWhenItComesAsOftenAsItMay) {
  Application application;
  Callback& callback = application.callbacks.emplace_back();
  callback.trigger = Event{.min_interval = 20ms, .max_interval = 50ms};
  callback.wcet = 5ms;
  EXPECT_DOUBLE_EQ(application.rates().front(), 50.0);
  EXPECT_DOUBLE_EQ(application.utilisation(), 0.25);
  EXPECT_EQ(application.hyperperiod(), 20ms);
}

TEST(Rates, OfAnEventWithAPeriodAreThoseOfThePeriod) {
  Application application;
  Callback& callback = application.callbacks.emplace_back();
  callback.trigger =
      Event{.min_interval = 15ms, .max_interval = 25ms, .depth = 1, .period = 20ms, .jitter = 5ms};
  callback.wcet = 5ms;
  EXPECT_DOUBLE_EQ(application.rates().front(), 50.0);
  EXPECT_DOUBLE_EQ(application.utilisation(), 0.25);
  EXPECT_EQ(application.hyperperiod(), 20ms);
  EXPECT_EQ(application.period({"camera", {0}, 0, {}}), 20ms);
  EXPECT_EQ(min_interval(callback), 15ms);
}

TEST(Successors, AreTheCallbacksThatTakeAPublishedTopicEachOnce) {
  Application app = diamond();
  EXPECT_EQ(app.successors(0), (std::vector<std::size_t>{2}));
  EXPECT_EQ(app.successors(2), (std::vector<std::size_t>{3, 4}));
  EXPECT_TRUE(app.successors(3).empty());
  app.callbacks[0].publishes = {"x", "y"};
  EXPECT_EQ(app.successors(0), (std::vector<std::size_t>{2})) << "both inputs of one sync";
}

TEST(Rates, OfASyncIsThatOfTheSlowerInput) {
  const std::vector<double> expected = {20, 10, 10, 10, 10};  // per second
  EXPECT_EQ(diamond().rates(), expected);
}

TEST(Rates, OfASubscriptionIsTheSumOfItsPublishers) {
  Application app = diamond();
  app.callbacks[1].publishes = {"y", "z"};
  EXPECT_EQ(app.rates()[3], 20.0);  // 10 from the sync and 10 from the second timer
}

/// Two timers with one shared callback "m", which answers each on a topic of its own.
Application merged() {
  Application app;
  app.callbacks = {timer("a", milliseconds(50), milliseconds(5), {"x"}),
                   timer("b", milliseconds(100), milliseconds(10), {"y"}),
                   subscription("m", "x", milliseconds(2), {"p", "q"}),
                   subscription("c", "p", milliseconds(1), {}),
                   subscription("d", "q", milliseconds(1), {})};
  std::get<Subscription>(app.callbacks[2].trigger).topics = {"x", "y"};
  app.callbacks[2].routes = {{0}, {1}};
  return app;
}

TEST(Rates, OfASharedCallbackAreTheSumAndGoOnAlongItsRoutes) {
  const std::vector<double> routed = {20, 10, 30, 20, 10};  // per second
  EXPECT_EQ(merged().rates(), routed);
  Application app = merged();
  app.callbacks[2].routes.clear();
  const std::vector<double> multiplied = {20, 10, 30, 30, 30};
  EXPECT_EQ(app.rates(), multiplied) << "without routes every run publishes on all";
}

TEST(Sends, FollowsTheRouteOfTheInput) {
  Application app = merged();
  EXPECT_TRUE(app.callbacks[2].sends(0, 0));
  EXPECT_FALSE(app.callbacks[2].sends(0, 1));
  EXPECT_TRUE(app.callbacks[2].sends(1, 1));
  app.callbacks[2].routes = {{}, {0, 1}};
  EXPECT_FALSE(app.callbacks[2].sends(0, 0)) << "a topic that is not answered";
  EXPECT_TRUE(app.callbacks[0].sends(0, 0)) << "a callback without routes";
}

TEST(Sends, OfASyncIsEverywhereWhateverWayItsChainsGoOn) {
  Application app = diamond();
  app.callbacks[2].routes = {{0}, {1}};
  EXPECT_TRUE(app.callbacks[2].sends(0, 1));
  EXPECT_FALSE(app.callbacks[2].leads(0, 1));
  EXPECT_EQ(app.rates(), diamond().rates());
}

using Entries = std::vector<std::vector<std::size_t>>;

TEST(Entries, OfAChainAreTheInputsByWhichItComes) {
  const Application app = merged();
  EXPECT_EQ(app.entries({"fast", {0, 2, 3}, 0, {}}), (Entries{{}, {0}, {0}}));
  EXPECT_EQ(app.entries({"slow", {1, 2, 4}, 0, {}}), (Entries{{}, {1}, {0}}));
}

TEST(Entries, EndWhereTheRoutesLeadElsewhere) {
  const Application app = merged();
  EXPECT_EQ(app.entries({"crossed", {0, 2, 4}, 0, {}}), (Entries{{}, {0}, {}}));
  EXPECT_EQ(app.entries({"empty", {}, 0, {}}), Entries{});
}

TEST(Entries, TakeTheTopicByWhichTheChainCanGoOn) {
  Application app = merged();
  app.callbacks[0].publishes = {"x", "y"};  // both reach "m"; only y is answered on q
  EXPECT_EQ(app.entries({"c", {0, 2, 4}, 0, {}}), (Entries{{}, {1}, {0}}));
  EXPECT_EQ(app.entries({"c", {0, 2}, 0, {}}), (Entries{{}, {0}})) << "the first, where both do";
}

TEST(Entries, BehindASyncFollowItsRoutes) {
  Application app = diamond();
  app.callbacks[2].routes = {{0}, {1}};  // z for chains by x, w for those by y
  app.callbacks[4] = subscription("q", "z", milliseconds(20), {});
  std::get<Subscription>(app.callbacks[4].trigger).topics = {"z", "w"};
  EXPECT_EQ(app.entries({"by x", {0, 2, 4}, 0, {}}), (Entries{{}, {0}, {0}}));
  EXPECT_EQ(app.entries({"by y", {1, 2, 4}, 0, {}}), (Entries{{}, {1}, {1}}));
  EXPECT_EQ(app.entries({"astray", {1, 2, 3}, 0, {}}), (Entries{{}, {1}, {}}));
}

TEST(Entries, OfASyncAreAllThatTheCallbackBeforeItPublishes) {
  Application app;
  app.callbacks = {timer("a", milliseconds(50), milliseconds(5), {"x", "z"}),
                   timer("b", milliseconds(50), milliseconds(5), {"y"}),
                   sync("s", "x", "y", milliseconds(1), {})};
  std::get<Sync>(app.callbacks[2].trigger).topics = {"x", "y", "z"};
  EXPECT_EQ(app.entries({"c", {0, 2}, 0, {}}), (Entries{{}, {0, 2}}));
  EXPECT_EQ(app.entries({"c", {1, 2}, 0, {}}), (Entries{{}, {1}}));
}

TEST(Rates, AreZeroOnAndBehindACycle) {
  Application app;
  app.callbacks = {timer("t", milliseconds(10), milliseconds(1), {"x"}),
                   subscription("p", "x", milliseconds(1), {"x", "y"}),
                   subscription("q", "y", milliseconds(1), {})};
  EXPECT_EQ(app.rates(), (std::vector<double>{100, 0, 0}));
}

TEST(Utilisation, IsTheSumOfWcetTimesRate) {
  // 5/50 + 10/100 + 10/100 + 10/100 + 20/100
  EXPECT_DOUBLE_EQ(diamond().utilisation(), 0.6);
}

TEST(Utilisation, StaysANumberWhenRatesDoubleAtEachOfAThousandSteps) {
  Application app;
  app.callbacks = {timer("t", milliseconds(1), milliseconds(1), {"x0"})};
  for (int i = 0; i < 1100; ++i) {
    const std::string from = "x" + std::to_string(i);
    const std::string to = "x" + std::to_string(i + 1);
    app.callbacks.push_back(subscription("p" + std::to_string(i), from, {}, {to}));
    app.callbacks.push_back(subscription("q" + std::to_string(i), from, {}, {to}));
  }
  EXPECT_DOUBLE_EQ(app.utilisation(), 1.0) << "only the timer costs anything";
}

TEST(Hyperperiod, IsTheLeastCommonMultipleOfTheTimers) {
  Application app = diamond();
  EXPECT_EQ(app.hyperperiod(), milliseconds(100));
  app.callbacks.push_back(timer("c", milliseconds(120), {}, {}));
  EXPECT_EQ(app.hyperperiod(), milliseconds(600));
}

TEST(Hyperperiod, IsZeroWithoutTimers) { EXPECT_EQ(Application{}.hyperperiod(), Nanoseconds(0)); }

TEST(Hyperperiod, SaturatesInsteadOfOverflowing) {
  Application app;
  for (const std::int64_t offset : {0, 1, 2, 3}) {  // four nearly coprime periods of an hour
    app.callbacks.push_back(timer("t", Nanoseconds(hours(1)) - Nanoseconds(offset), {}, {}));
  }
  EXPECT_EQ(app.hyperperiod(), Nanoseconds::max());
  app.callbacks.push_back(timer("u", Nanoseconds(7), {}, {}));
  EXPECT_EQ(app.hyperperiod(), Nanoseconds::max()) << "and stays there";
}

}  // namespace
}  // namespace rclrt::model
