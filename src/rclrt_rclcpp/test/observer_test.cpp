// SPDX-License-Identifier: Apache-2.0
// What an executor reports to an observer, and how it uses a sharing of origins.
#include "rclrt_rclcpp/observer.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fixture.hpp"
#include "rclrt/executor/deadline_miss.hpp"
#include "rclrt_rclcpp/miss_details.hpp"
#include "rclrt_rclcpp/origins.hpp"

namespace rclrt_rclcpp::test {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

/// The events of an executor, and the facts of its callbacks by number.
struct Events {
  std::mutex mutex;  // guards all but the atomics
  std::vector<std::string> order;
  std::vector<CallbackFacts> facts;
  std::set<std::uint32_t> present;
  std::map<std::string, std::set<std::string>> topics;
  std::vector<std::int64_t> published_ns;
  std::map<std::uint32_t, int> records;  // by number
  std::vector<std::shared_ptr<const ObservedEntity>> entities;

  void note(const char* what) {
    const std::scoped_lock lock(mutex);
    order.emplace_back(what);
  }
  int records_of(const std::string& kind, const std::string& name) {
    const std::scoped_lock lock(mutex);
    int sum = 0;
    for (std::uint32_t i = 0; i < facts.size(); ++i) {
      sum += facts[i].kind == kind && facts[i].name == name ? records[i] : 0;
    }
    return sum;
  }
};

class EventsOfExecutor final : public ExecutorObserver {
 public:
  explicit EventsOfExecutor(std::shared_ptr<Events> events) : events_(std::move(events)) {}

  void on_engine_start(const engine::Executor& engine) override {
    EXPECT_EQ(engine.options().name, "observed");
    events_->note("engine starts");
  }
  void on_engine_end() override {
    events_->note("engine ends");
    events_->entities.clear();
  }
  void on_spin_begin() override { events_->note("spin begins"); }
  void on_spin_end() override { events_->note("spin ends"); }
  void on_second() override {}
  std::uint32_t number(const CallbackFacts& facts) override {
    const std::scoped_lock lock(events_->mutex);
    events_->facts.push_back(facts);
    return static_cast<std::uint32_t>(events_->facts.size() - 1);
  }
  void on_added(std::uint32_t number, const std::shared_ptr<engine::Callback>& callback,
                const std::shared_ptr<const ObservedEntity>& entity) override {
    const std::scoped_lock lock(events_->mutex);
    EXPECT_EQ(callback->number(), number);
    events_->present.insert(number);
    events_->entities.push_back(entity);
  }
  void on_removed(const engine::Callback& callback) override {
    const std::scoped_lock lock(events_->mutex);
    events_->present.erase(callback.number());
  }
  void on_publications(const std::string& node, const std::set<std::string>& topics) override {
    const std::scoped_lock lock(events_->mutex);
    events_->topics[node] = topics;
  }
  void on_message_taken(std::int64_t published_ns) noexcept override {
    const std::scoped_lock lock(events_->mutex);
    events_->published_ns.push_back(published_ns);
  }
  void record(const engine::InstanceRecord& record) noexcept override {
    const std::scoped_lock lock(events_->mutex);
    EXPECT_LT(record.callback->number(), events_->facts.size()) << "known before it runs";
    ++events_->records[record.callback->number()];
  }

 private:
  const std::shared_ptr<Events> events_;
};

class TestObserver final : public Observer {
 public:
  std::unique_ptr<ExecutorObserver> observe(std::string_view kind,
                                            const engine::ExecutorOptions& options,
                                            const engine::KindOptions& kind_options) override {
    if (options.best_effort_below) {
      throw std::invalid_argument("refused by the observer");
    }
    kinds.emplace_back(kind);
    is_all = kind_options.static_order.trigger == engine::trigger_all();
    return std::make_unique<EventsOfExecutor>(events);
  }

  const std::shared_ptr<Events> events = std::make_shared<Events>();
  std::vector<std::string> kinds;
  bool is_all = false;
};

class ObserverTest : public Ros {
 protected:
  Options options() {
    Options options = on_one_cpu();
    options.engine.name = "observed";
    options.recording = observer_;
    return options;
  }

  const std::shared_ptr<TestObserver> observer_ = std::make_shared<TestObserver>();
  Events& events_ = *observer_->events;
};

TEST_F(ObserverTest, GetsEachCallbackWithItsFactsItsInstancesAndItsEnd) {
  const std::int64_t begin_ns = rclrt::realtime::monotonic_now_ns();  // a node publishes, too
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto publisher = node->create_publisher<Message>("topic", 10);
  const auto timer = node->create_wall_timer(5ms, [&] { publisher->publish(Message()); });
  std::atomic<int> received{0};
  const auto group = node->create_callback_group(rclcpp::CallbackGroupType::Reentrant);
  rclcpp::SubscriptionOptions of_group;
  of_group.callback_group = group;
  const auto subscription =
      node->create_subscription<Message>("topic", 7, [&](const Message&) { ++received; }, of_group);
  {
    PreemptiveExecutor executor(options());
    executor.set_timing(subscription, {.deadline = 1h});
    executor.add_node(node);
    {
      const Spinning spinning(executor);
      EXPECT_TRUE(eventually([&] { return received >= 3; }));
    }
    EXPECT_TRUE(eventually([&] { return events_.records_of("subscription", "/topic") >= 3; }));
    EXPECT_GE(events_.records_of("timer", "0"), 3);
    const std::scoped_lock lock(events_.mutex);
    EXPECT_EQ(events_.present.size(), events_.facts.size());
    EXPECT_TRUE(events_.topics["/node"].contains("/topic"));
    ASSERT_GE(events_.published_ns.size(), 3U);
    for (const std::int64_t each_ns : events_.published_ns) {
      EXPECT_GE(each_ns, begin_ns - 1'000'000);  // converted between two clocks
      EXPECT_LE(each_ns, rclrt::realtime::monotonic_now_ns() + 1'000'000);
    }
    const auto of_kind = [&](const std::string& kind, const std::string& name) {
      const auto found = std::ranges::find_if(events_.facts, [&](const CallbackFacts& each) {
        return each.kind == kind && each.name == name;
      });
      return found == events_.facts.end() ? CallbackFacts() : *found;
    };
    const CallbackFacts ticks = of_kind("timer", "0");
    EXPECT_EQ(ticks.node, "/node");
    EXPECT_EQ(ticks.group, 0U);
    EXPECT_EQ(ticks.period, 5ms);
    EXPECT_TRUE(ticks.is_exclusive);
    const CallbackFacts messages = of_kind("subscription", "/topic");
    EXPECT_EQ(messages.group, 1U);
    EXPECT_EQ(messages.depth, 7U);
    EXPECT_EQ(messages.period, std::nullopt);
    EXPECT_FALSE(messages.is_exclusive);
    EXPECT_EQ(messages.timing.deadline, 1h);
  }
  EXPECT_TRUE(events_.present.empty());
  EXPECT_THAT(events_.order,
              ElementsAre("engine starts", "spin begins", "spin ends", "engine ends"));
  EXPECT_THAT(observer_->kinds, ElementsAre("preemptive"));
}

TEST_F(ObserverTest, SeesWhetherATimerGoesOn) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto timer = node->create_wall_timer(1h, [] {});
  PreemptiveExecutor executor(options());
  executor.add_node(node);
  const auto timers_going_on = [&] {
    Kept kept;
    return std::ranges::count_if(events_.entities,
                                 [&](const auto& each) { return each->goes_on(kept); });
  };
  const auto before = timers_going_on();
  timer->cancel();
  EXPECT_EQ(timers_going_on(), before - 1);
}

TEST_F(ObserverTest, GetsTheOptionsOfTheKindAndMayRefuseTheExecutor) {
  const StaticOrderExecutor executor(options(), {.trigger = engine::trigger_all()});
  EXPECT_THAT(observer_->kinds, ElementsAre("static_order"));
  EXPECT_TRUE(observer_->is_all);
  Options refused = options();
  refused.engine.best_effort_below = 1;
  EXPECT_THAT([&] { PreemptiveExecutor other(refused); },
              ThrowsMessage<std::invalid_argument>("refused by the observer"));
}

/// Origins that are kept in this process.
class OneProcess final : public OriginSharing {
 public:
  struct State {
    std::atomic<std::int64_t> written_ns{0};  // the latest origin
    std::atomic<int> running{0};              // begun, and not ended
    std::atomic<int> scans{0};
    std::atomic<std::int64_t> answer_ns{0};  // of the reader; 0: asks for a scan
  };

  OneProcess(State& state, UnknownPublisherListener& listener)
      : state_(state), listener_(listener) {}
  std::shared_ptr<OriginWriter> writer(const std::string& /*node*/) override {
    return std::make_shared<Writer>(state_);
  }
  std::shared_ptr<OriginReader> reader(
      const std::string& /*topic*/,
      const std::shared_ptr<rclcpp::node_interfaces::NodeBaseInterface>& /*node*/) override {
    return std::make_shared<Reader>(state_, listener_);
  }
  void scan() override { ++state_.scans; }

 private:
  class Writer final : public OriginWriter {
   public:
    explicit Writer(State& state) : state_(state) {}
    bool is_wanted(std::int64_t /*now_ns*/) const noexcept override { return true; }
    void* begin(Origin origin) noexcept override {
      state_.written_ns = origin.since_ns;
      ++state_.running;
      return &state_;
    }
    void end(void* place) noexcept override { --static_cast<State*>(place)->running; }

   private:
    State& state_;
  };
  class Reader final : public OriginReader {
   public:
    Reader(State& state, UnknownPublisherListener& listener) : state_(state), listener_(listener) {}
    Origin find(const Gid& /*publisher*/, std::int64_t /*published_ns*/,
                std::int64_t /*now_ns*/) noexcept override {
      const std::int64_t answer_ns = state_.answer_ns;
      if (answer_ns == 0) {
        listener_.on_unknown_publisher();
      }
      return {answer_ns, answer_ns != 0};
    }

   private:
    State& state_;
    UnknownPublisherListener& listener_;
  };

  State& state_;
  UnknownPublisherListener& listener_;
};

using OriginHook = Ros;

TEST_F(OriginHook, MessagesCountFromTheReadersAnswerAndInstancesAreWrittenWithTheirOrigin) {
  OneProcess::State state;
  Options options = on_one_cpu();
  options.origins = [&](std::size_t domain, UnknownPublisherListener& listener) {
    EXPECT_EQ(domain, rclcpp::contexts::get_global_default_context()->get_domain_id());
    return std::make_unique<OneProcess>(state, listener);
  };
  PreemptiveExecutor executor(options);
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<std::int64_t> since_ns{0};
  std::atomic<std::int64_t> written_ns{0};
  std::atomic<int> running{0};
  const auto subscription = node->create_subscription<Message>("plain", 10, [&](const Message&) {
    since_ns = engine::current_instance()->since_ns;
    written_ns = state.written_ns.load();
    running = state.running.load();
  });
  const auto publisher = node->create_publisher<Message>("plain", 10);
  executor.set_timing(subscription, {.max_age = 1h});
  executor.add_node(node);
  const Spinning spinning(executor);
  const auto publish_until = [&](const auto& condition) {
    return eventually([&] {
      publisher->publish(Message());
      return condition();
    });
  };
  const int before = state.scans;
  EXPECT_TRUE(publish_until([&] { return since_ns != 0 && state.scans > before + 1; }))
      << "an unknown publisher causes scans";
  const std::int64_t answer_ns = rclrt::realtime::monotonic_now_ns() - 12'345'678;
  state.answer_ns = answer_ns;
  EXPECT_TRUE(publish_until([&] { return since_ns == answer_ns; }));
  EXPECT_EQ(written_ns, answer_ns) << "what it publishes counts from the same time";
  EXPECT_EQ(running, 1);
}

/// Keeps the details of the latest miss.
class Misses final : public engine::MissHandler {
 public:
  void missed(const engine::DeadlineMiss& miss) noexcept override {
    const std::scoped_lock lock(mutex_);
    details_ = details_of(miss);
    ++count_;
  }
  std::pair<int, MissDetails> latest() {
    const std::scoped_lock lock(mutex_);
    return {count_, details_};
  }

 private:
  std::mutex mutex_;  // guards the others
  int count_ = 0;
  MissDetails details_;
};

using DetailsOfAMiss = Ros;

TEST_F(DetailsOfAMiss, AreTheRunAndThePublisherOfTheMessage) {
  for (const bool is_measured : {true, false}) {
    Misses misses;
    Options options = on_one_cpu();
    options.engine.on_miss = &misses;
    options.measure_responses = is_measured;
    PreemptiveExecutor executor(options);
    const auto node = std::make_shared<rclcpp::Node>("node");
    const auto subscription = node->create_subscription<Message>("plain", 10, [](const Message&) {
      const std::int64_t end_ns = rclrt::realtime::thread_cpu_now_ns() + 2'000'000;
      while (rclrt::realtime::thread_cpu_now_ns() < end_ns) {
      }
    });
    const auto publisher = node->create_publisher<Message>("plain", 10);
    executor.set_timing(subscription, {.max_age = 1us});  // from the publication
    executor.add_node(node);
    const Spinning spinning(executor);
    ASSERT_TRUE(eventually([&] {
      publisher->publish(Message());
      return misses.latest().first > 0;
    }));
    const MissDetails details = misses.latest().second;
    EXPECT_EQ(details.itself.time_ns >= 2'000'000, is_measured) << details.itself.time_ns;
    const rmw_gid_t& gid = publisher->get_gid();
    EXPECT_TRUE(std::equal(details.origin.publisher.begin(), details.origin.publisher.end(),
                           std::begin(gid.data)));
    EXPECT_GT(details.origin.in_middleware.time_ns, 0);
  }
}

}  // namespace
}  // namespace rclrt_rclcpp::test
