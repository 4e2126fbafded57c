// SPDX-License-Identifier: Apache-2.0
/// Every kind of the registry of executors runs random graphs in the order of their simulation, and
/// no simulated response is above its bound. A new kind is tested as soon as it is in the registry.
///
/// Time stands still: the first callback is released once, and the messages of earlier callbacks
/// release all others. The order then depends on the executor alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <rclrt/analysis/chain_bounds.hpp>
#include <rclrt/analysis/simulation.hpp>
#include <rclrt/model/executor_choice.hpp>
#include <rclrt/model/parse.hpp>
#include <rclrt/model/write.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "rclrt/executor/kinds.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt/recorder/model_conversion.hpp"

namespace rclrt::simulator {
namespace {

constexpr std::uint64_t kGraphs = 50;
constexpr std::int64_t kPeriod_ns = 1'000'000'000;

/// Returns the names of all kinds that run, and of each with an option that leaves it bounds.
std::vector<std::string> names_in_registry() {
  std::vector<std::string> names;
  for (const model::ExecutorTraits& kind : model::executor_kinds()) {
    if (kind.simulated_only) {
      continue;
    }
    names.emplace_back(kind.name);
    for (const model::ExecutorOption& option : kind.options) {
      if (option.no_bounds.empty() && !option.is_default) {
        std::string name(kind.name);
        name += option.belongs_to.empty() ? "" : ":" + std::string(option.belongs_to);
        name += ":" + std::string(option.name());
        name += option.value().empty()  ? ""
                : option.value() == "N" ? "=7"
                                        : "=" + std::string(option.value());
        names.push_back(name);
      }
    }
  }
  return names;
}

/// Returns a timer c0 and callbacks of messages c1 ... on one executor. Each publishes to some of
/// those after it, in any order; some share groups.
model::Application random_application(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random);
  };
  const std::size_t count = 3 + up_to(6);
  std::vector<std::vector<std::size_t>> publishes(count);
  for (std::size_t i = 1; i < count; ++i) {
    publishes[up_to(i - 1)].push_back(i);
    if (const std::size_t other = up_to(i - 1); up_to(2) == 0 && publishes[other].empty()) {
      publishes[other].push_back(i);
    }
  }
  std::string text =
      "rclrt: 1\nname: conformance\nexecutors: [{name: only, cpus: [0]}]\n"
      "nodes: [{name: n, executor: only}]\ncallbacks:\n";
  for (std::size_t i = 0; i < count; ++i) {
    std::ranges::shuffle(publishes[i], random);
    const std::size_t priority = up_to(3);
    // The deadlines are so far apart that the time of a run does not matter.
    text += "  - {id: c" + std::to_string(i) + ", node: n, " +
            (i == 0 ? "timer: {period_ms: 1000, offset_ms: 0}"
                    : "subscription: {topic: t" + std::to_string(i) + ", depth: 100}") +
            ", wcet_ms: 1, priority: " + std::to_string(priority) +
            ", deadline_ms: " + std::to_string((9 - priority) * 100'000);
    if (const std::size_t group = up_to(5); group < 2) {
      text += ", group: g" + std::to_string(group);
    }
    for (std::size_t k = 0; k < publishes[i].size(); ++k) {
      text += (k == 0 ? ", publishes: [t" : ", t") + std::to_string(publishes[i][k]);
    }
    text += publishes[i].empty() ? "}\n" : "]}\n";
  }
  text += "chains:\n";
  for (const std::size_t next : publishes[0]) {
    text += "  - {id: to_c" + std::to_string(next) + ", callbacks: [c0, c" + std::to_string(next) +
            "], deadline_ms: 1000, priority: 1}\n";
  }
  const auto parsed = model::parse_application(text);
  EXPECT_TRUE(parsed.application) << text;
  return parsed.application.value();
}

/// The callbacks in the order of their starts, and in that of their ends.
struct Order {
  std::vector<std::size_t> starts;
  std::vector<std::size_t> ends;

  bool operator==(const Order&) const = default;
};

void PrintTo(const Order& order, std::ostream* out) {
  for (const auto* callbacks : {&order.starts, &order.ends}) {
    *out << (callbacks == &order.starts ? "starts" : ", ends");
    for (const std::size_t callback : *callbacks) {
      *out << " c" << callback;
    }
  }
}

/// Collects the order of a simulation.
class SimulatedOrder final : public analysis::SimulationObserver {
 public:
  void ended(const analysis::SimulatedInstance& instance) override {
    starts_[{instance.start_ns, instance.id}] = instance.callback;
    ends_.push_back(instance.callback);
  }
  Order order() const {
    Order result{.starts = {}, .ends = ends_};
    for (const auto& [start, callback] : starts_) {
      result.starts.push_back(callback);
    }
    return result;
  }

 private:
  std::map<std::pair<std::int64_t, std::uint64_t>, std::size_t> starts_;
  std::vector<std::size_t> ends_;
};

/// The messages of the callbacks of a polling executor.
class Messages final : public executor::ReadinessSource {
 public:
  void watch(const std::vector<executor::Callback*>& callbacks) override { callbacks_ = callbacks; }
  void wait(std::int64_t deadline_ns, const std::vector<bool>& asked,
            std::vector<bool>& ready) override {
    std::unique_lock lock(mutex_);
    for (;;) {
      bool any = std::exchange(woken_, false);
      for (std::size_t i = 0; i < callbacks_.size(); ++i) {
        ready[i] = asked[i] && waiting_[callbacks_[i]] > 0;
        any = any || ready[i];
      }
      if (any || realtime::monotonic_now_ns() >= deadline_ns) {
        return;
      }
      changed_.wait(lock);
    }
  }
  void wake() noexcept override {
    const std::scoped_lock lock(mutex_);
    woken_ = true;
    changed_.notify_all();
  }
  void add(const executor::Callback& callback) {
    const std::scoped_lock lock(mutex_);
    ++waiting_[&callback];
    changed_.notify_all();
  }
  void take(const executor::Callback& callback) {
    const std::scoped_lock lock(mutex_);
    --waiting_[&callback];
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<executor::Callback*> callbacks_;
  std::map<const executor::Callback*, int> waiting_;
  bool woken_ = false;
};

/// The application on the engine, on one CPU. The first callback is released twice. The order is
/// that of the second time, when all threads have slept: a thread that has only started is not
/// behind those that became ready before it.
class EngineRun {
 public:
  EngineRun(const model::Application& application, const model::ExecutorChoice& choice,
            std::size_t instances)
      : application_(application),
        instances_(instances),
        starts_(2 * instances),
        ends_(2 * instances) {
    executor::ExecutorOptions options{.name = "conformance",
                                      .cpus = {cpu_},
                                      .spare_workers = 0,
                                      .stall_period = std::chrono::milliseconds(0)};
    executor_ = executor::make_executor(traits(choice).name, std::move(options),
                                        recorder::to_engine(choice), [this] {
                                          auto messages = std::make_unique<Messages>();
                                          messages_ = messages.get();
                                          return messages;
                                        });
    std::map<std::string, std::shared_ptr<executor::Group>> groups;
    for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
      const model::Callback& stated = application.callbacks[i];
      executor::CallbackOptions own{.name = stated.id,
                                    .level = application.effective_priorities()[i],
                                    .credits = 100,
                                    .deadline_ns = stated.deadline.value().count()};
      if (stated.group) {
        own.group =
            groups.try_emplace(*stated.group, std::make_shared<executor::Group>()).first->second;
      }
      callbacks_.push_back(std::make_shared<Callback>(*this, i, std::move(own)));
      executor_->add(callbacks_.back());
    }
  }

  Order run() {
    executor_->prepare();
    publish(0);
    {
      // On the same CPU, with normal scheduling: it runs when the executor's threads sleep.
      const realtime::Thread second({.name = "release", .scheduling = {.cpus = {cpu_}}}, [this] {
        while (ended_ < instances_) {
          std::this_thread::yield();
        }
        publish(0);
      });
      executor_->spin();
    }
    const auto half = static_cast<std::ptrdiff_t>(instances_);
    return {.starts = {starts_.begin() + half, starts_.end()},
            .ends = {ends_.begin() + half, ends_.end()}};
  }

 private:
  /// Publishes at its end.
  class Callback final : public executor::Callback {
   public:
    Callback(EngineRun& run, std::size_t index, executor::CallbackOptions options)
        : executor::Callback(std::move(options)), run_(run), index_(index) {}

   protected:
    executor::Outcome run(executor::InstanceInfo& info) override {
      info.start_ns = realtime::monotonic_now_ns();
      run_.run_callback(index_);
      return executor::Outcome::kRan;
    }

   private:
    EngineRun& run_;
    std::size_t index_;
  };

  void run_callback(std::size_t index) {
    if (const std::size_t place = started_++; place < starts_.size()) {
      starts_[place] = index;
    }
    if (messages_ != nullptr) {
      messages_->take(*callbacks_[index]);
    }
    for (const std::string& topic : application_.callbacks[index].publishes) {
      for (std::size_t i = 0; i < callbacks_.size(); ++i) {
        const std::vector<std::string> inputs = model::inputs(application_.callbacks[i]);
        if (std::ranges::find(inputs, topic) != inputs.end()) {
          publish(i);
        }
      }
    }
    const std::size_t place = ended_++;
    if (place < ends_.size()) {
      ends_[place] = index;
    }
    if (place + 1 >= ends_.size()) {
      executor_->cancel();
    }
  }

  /// Delivers a message to a callback.
  void publish(std::size_t callback) {
    if (messages_ != nullptr) {
      messages_->add(*callbacks_[callback]);
    } else {
      const std::int64_t now = realtime::monotonic_now_ns();
      callbacks_[callback]->release(now, now);
    }
  }

  const int cpu_ = realtime::allowed_cpus().front();
  const model::Application& application_;
  const std::size_t instances_;
  std::vector<std::size_t> starts_;
  std::vector<std::size_t> ends_;
  std::atomic<std::size_t> started_{0};
  std::atomic<std::size_t> ended_{0};
  Messages* messages_ = nullptr;  // of the executor, if it polls
  std::vector<std::shared_ptr<Callback>> callbacks_;
  std::unique_ptr<executor::Executor> executor_;
};

class Conformance : public testing::TestWithParam<std::string> {
 protected:
  const model::ExecutorChoice choice = model::parse_executor(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Every, Conformance, testing::ValuesIn(names_in_registry()),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::ranges::replace_if(
                               name, [](char c) { return c == ':' || c == '='; }, '_');
                           return name;
                         });

TEST_P(Conformance, TheEngineRunsInTheOrderOfTheSimulation) {
  if (!traits(choice).one_at_a_time) {
    if (const auto reason = realtime::why_no_realtime(model::kTopPriority)) {
      GTEST_SKIP() << "callbacks run to completion: " << *reason;
    }
  }
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    const model::Application application = random_application(seed);
    SimulatedOrder expected;
    const auto result = simulate(analysis::simulated_system(application, choice),
                                 {.horizon_ns = kPeriod_ns}, &expected);
    EngineRun engine(application, choice, result.instances);
    ASSERT_EQ(engine.run(), expected.order()) << "seed " << seed << "\n"
                                              << model::to_yaml(application);
  }
}

TEST_P(Conformance, NoSimulatedResponseIsAboveItsBound) {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    const model::Application application = random_application(seed);
    const auto bounds = analysis::chain_bounds(application, choice.kind);
    const auto result =
        simulate(analysis::simulated_system(application, choice), {.horizon_ns = 4 * kPeriod_ns});
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      ASSERT_TRUE(bounds[i].bound) << "seed " << seed << ": " << bounds[i].note;
      ASSERT_LE(result.chains[i].response.worst_ns, *bounds[i].bound) << "seed " << seed;
    }
  }
}

TEST(Registry, TheEngineHasTheKindsOfTheRegistry) {
  std::vector<std::string_view> expected;
  for (const model::ExecutorTraits& kind : model::executor_kinds()) {
    if (!kind.simulated_only) {
      expected.push_back(kind.name);
    }
  }
  const auto names = executor::executor_names();
  EXPECT_EQ(std::vector<std::string_view>(names.begin(), names.end()), expected);
}

}  // namespace
}  // namespace rclrt::simulator
