// SPDX-License-Identifier: Apache-2.0
// Two executors of each kind at once, in one process and over the real middleware, under all kinds
// of operations: nodes come, go and move from one to the other, also from within their own
// callbacks; priorities change; spins of every sort are cancelled and callbacks throw.
//   soak [SECONDS [SEED]]
// At the end every message has been taken once, every request is answered, no two members of an
// exclusive group ran at the same time, nothing that was removed ran, and everything still works.
// Exit code 0: no error was found, 1: an error was found, 2: wrong arguments.
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_action/rclcpp_action.hpp>
#include <std_msgs/msg/int64.hpp>
#include <stdexcept>
#include <string>
#include <test_msgs/action/fibonacci.hpp>
#include <test_msgs/srv/empty.hpp>
#include <thread>
#include <vector>

#include "rclrt_rclcpp/executors.hpp"
#include "soak_node.hpp"

namespace rclrt_rclcpp::test {
namespace {

Options with_threads_per_level() {
  Options options;
  options.engine.preemption = engine::Preemption::kAlways;
  return options;
}

/// Two executors of one kind, and the operations on them.
template <typename Kind>
class Soak {
 public:
  Soak(std::string name, unsigned seed)
      : name_(std::move(name)), seed_(seed), space_("/" + name_), outside_("outside", space_) {
    for (int i = 0; i < 3; ++i) {
      const std::string space = space_ + "/n" + std::to_string(i);
      relays_.push_back(outside_.create_publisher<Int64>(
          space + "/topic", rclcpp::QoS(rclcpp::KeepAll()).reliable()));
      residents_.push_back(
          std::make_unique<SoakNode>(shared_, "node", space, space + "/topic", false));
      home_.push_back(static_cast<std::size_t>(i % 2));
      executors_[home_.back()]->add_node(residents_.back()->node);
    }
    shared_.now_and_then = [this] { let_a_resident_come_back(); };
  }

  void run(std::chrono::steady_clock::time_point end) {
    std::vector<std::thread> spinners;
    for (auto& executor : executors_) {
      spinners.emplace_back([this, &executor] { keep_spinning(*executor); });
    }
    require(eventually([&] {
              return std::all_of(residents_.begin(), residents_.end(),
                                 [](const auto& each) { return each->ready(); }) &&
                     std::all_of(relays_.begin(), relays_.end(), [](const auto& each) {
                       return each->get_subscription_count() == 2;
                     });
            }),
            "discovery took a minute");
    std::thread sender([&] { keep_sending(end); });
    Random random(seed_);
    while (std::chrono::steady_clock::now() < end) {
      change(random);
    }
    sender.join();
    check_all_arrived();
    stop_ = true;
    for (auto& executor : executors_) {
      executor->cancel();
    }
    for (auto& spinner : spinners) {
      spinner.join();
    }
    executors_ = {};
    require(!shared_.two_at_once, "two members of an exclusive group at once");
    require(!shared_.ran_after_removal, "something ran after it was removed");
  }

  bool report() const {
    std::printf(
        "%-18s %9lu ran, %6lu exceptions, %6lu messages (%lu refused), %6lu requests, %5lu goals, "
        "%6lu "
        "moves, %5lu visitors: %s\n",
        name_.c_str(), shared_.ran.load(), shared_.thrown.load(), sent_[0] + sent_[1] + sent_[2],
        refused_.load(), asked_, goals_done_, moves_.load(), visitors_,
        problems_.empty() ? "all is well" : "PROBLEMS");
    for (const auto& problem : problems_) {
      std::printf("  %s\n", problem.c_str());
    }
    return problems_.empty() && shared_.thrown > 0 && visitors_ > 0 && moves_ > 0;
  }

 private:
  void require(bool condition, const std::string& otherwise) {
    if (!condition) {
      problems_.push_back(otherwise);
    }
  }

  void keep_spinning(Kind& executor) {
    Random random(seed_ + 7);
    while (!stop_) {
      try {
        switch (shared_.calm ? 7U : random() % 8) {
          case 0:
            executor.spin_some(1ms);
            break;
          case 1:
            executor.spin_all(1ms);
            break;
          case 2:
            executor.spin_once(1ms);
            break;
          default:
            executor.spin();
        }
      } catch (const Thrown&) {
        ++shared_.thrown;
      }
    }
  }

  void keep_sending(std::chrono::steady_clock::time_point end) {
    Random random(seed_ + 1);
    while (std::chrono::steady_clock::now() < end) {
      for (std::size_t i = 0; i < residents_.size(); ++i) {
        SoakNode& each = *residents_[i];
        const std::uint64_t taken = std::min(each.taken[0].load(), each.taken[1].load());
        for (auto burst = random() % 8; burst > 0 && sent_[i] - taken < kAhead; --burst) {
          publish(i);
        }
        if (each.requests - each.answers < kRequests && random() % 2 == 0) {
          each.request();
        }
        if (random() % 64 == 0) {
          each.send_goal();
        }
      }
      std::this_thread::sleep_for(1ms);
    }
  }

  void publish(std::size_t resident) {
    try {
      relays_[resident]->publish(Int64());
      ++sent_[resident];
    } catch (const rclcpp::exceptions::RCLError&) {
      ++refused_;  // its history is full, and the middleware's threads have had no CPU for 0.1 s
    }
  }

  void change(Random& random) {
    SoakNode& resident = *residents_[random() % residents_.size()];
    auto& executor = *executors_[random() % 2];
    switch (random() % 8) {
      case 0:
        executor.cancel();
        break;
      case 1:
        let_a_visitor_come_and_go(executor);
        break;
      case 2:
        executor.set_priority(resident.node, static_cast<int>(random() % 4));
        break;
      case 3:
        executor.set_priority(random() % 2 == 0 ? resident.exclusive : resident.reentrant,
                              static_cast<int>(random() % 4));
        break;
      default:
        move_a_resident(random);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
  }

  /// Moves a node from one executor to the other.
  void move_a_resident(Random& random) {
    const std::scoped_lock lock(move_mutex_);
    const std::size_t i = random() % residents_.size();
    SoakNode& resident = *residents_[i];
    executors_[home_[i]]->remove_node(resident.node);
    resident.is_gone();
    if (random() % 4 == 0) {
      std::this_thread::sleep_for(2ms);  // messages come while there is no listener
    }
    resident.is_back();
    home_[i] = 1 - home_[i];
    executors_[home_[i]]->add_node(resident.node);
    ++moves_;
  }

  /// Moves a node from within a callback, which cannot wait for running callbacks: so to the same
  /// executor.
  void let_a_resident_come_back() {
    const std::unique_lock lock(move_mutex_, std::try_to_lock);
    if (lock) {  // the thread that has the lock may be waiting for this callback
      const std::size_t i = moves_ % residents_.size();
      executors_[home_[i]]->remove_node(residents_[i]->node);
      executors_[home_[i]]->add_node(residents_[i]->node);
      ++moves_;
    }
  }

  void let_a_visitor_come_and_go(Kind& executor) {
    ++visitors_;
    auto visitor = std::make_unique<SoakNode>(shared_, "visitor" + std::to_string(visitors_),
                                              space_, space_ + "/n0/topic", visitors_ % 2 == 0);
    executor.add_node(visitor->node);
    std::this_thread::sleep_for(5ms);
    executor.remove_node(visitor->node);
    visitor->is_gone();
  }

  /// Waits until everything has arrived, and checks that everything still works.
  void check_all_arrived() {
    shared_.calm = true;
    for (std::size_t i = 0; i < residents_.size(); ++i) {
      SoakNode& each = *residents_[i];
      const std::string who = "node" + std::to_string(i) + ": ";
      const auto in_time =
          eventually([&] { return each.taken[0] == sent_[i] && each.taken[1] == sent_[i]; });
      require(in_time, who + std::to_string(each.taken[0]) + " and " +
                           std::to_string(each.taken[1]) + " of " + std::to_string(sent_[i]) +
                           " messages were taken");
      require(eventually([&] { return each.answers == each.requests; }),
              who + std::to_string(each.answers) + " of " + std::to_string(each.requests) +
                  " requests were answered");
      const std::uint64_t ticks = each.ticks;
      require(eventually([&] { return each.ticks > ticks + 10; }), who + "its timers stand still");
      const std::uint64_t results = each.results;
      each.send_goal();
      require(eventually([&] { return each.results > results; }), who + "a goal had no result");
      asked_ += each.requests;
      goals_done_ += each.results;
    }
  }

  const std::string name_;
  const unsigned seed_;
  const std::string space_;
  Shared shared_;
  rclcpp::Node outside_;  // in no executor
  // The second one has threads of its own for each level also without permission for real time.
  std::array<std::unique_ptr<Kind>, 2> executors_{std::make_unique<Kind>(),
                                                  std::make_unique<Kind>(with_threads_per_level())};
  std::vector<std::unique_ptr<SoakNode>> residents_;
  std::vector<rclcpp::Publisher<Int64>::SharedPtr> relays_;
  std::mutex move_mutex_;          // guards home_; held while a node moves
  std::vector<std::size_t> home_;  // in which of the two executors each resident is
  std::atomic<bool> stop_{false};
  std::array<Count, 3> sent_{};
  Count refused_{0};
  Count moves_{0};
  // The other members belong to the thread in `run`.
  std::uint64_t visitors_ = 0;
  std::uint64_t asked_ = 0;
  std::uint64_t goals_done_ = 0;
  std::vector<std::string> problems_;
};

unsigned number(const char* text) {
  unsigned value = 0;
  const char* const end = text + std::strlen(text);
  if (const auto [rest, error] = std::from_chars(text, end, value);
      error != std::errc{} || rest != end || value == 0) {
    throw std::invalid_argument("soak: \"" + std::string(text) + "\" is no number above 0");
  }
  return value;
}

int soak(std::chrono::seconds duration, unsigned seed) {
  Soak<PreemptiveExecutor> preemptive("preemptive", seed);
  Soak<ProducerConsumerExecutor> producer_consumer("producer_consumer", seed + 1);
  Soak<ThreadDispatchExecutor> thread_dispatch("thread_dispatch", seed + 2);
  Soak<EdfExecutor> edf("edf", seed + 3);
  const auto end = std::chrono::steady_clock::now() + duration;
  std::vector<std::thread> threads;
  const auto start = [&](auto& each) { threads.emplace_back([&each, end] { each.run(end); }); };
  start(preemptive);
  start(producer_consumer);
  start(thread_dispatch);
  start(edf);
  for (auto& thread : threads) {
    thread.join();
  }
  bool all_well = preemptive.report();
  all_well = producer_consumer.report() && all_well;
  all_well = thread_dispatch.report() && all_well;
  return edf.report() && all_well ? 0 : 1;
}

}  // namespace
}  // namespace rclrt_rclcpp::test

int main(int argc, char** argv) {
  try {
    if (argc > 3) {
      throw std::invalid_argument("usage: soak [SECONDS [SEED]]");
    }
    const unsigned seconds = argc > 1 ? rclrt_rclcpp::test::number(argv[1]) : 10;
    const unsigned seed = argc > 2 ? rclrt_rclcpp::test::number(argv[2]) : 1;
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    rclcpp::init(0, nullptr);
    const int code = rclrt_rclcpp::test::soak(std::chrono::seconds(seconds), seed);
    rclcpp::shutdown();
    return code;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
