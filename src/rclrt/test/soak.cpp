// SPDX-License-Identifier: Apache-2.0
// Runs every executor at once, in one process and over the real middleware, during all kinds of
// events. Callbacks and nodes are added and removed, also by callbacks; priorities change; spin is
// cancelled and callbacks throw; messages, requests and triggers come in bursts. At the end the
// counters of every callback must balance.
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <std_msgs/msg/int64.hpp>
#include <std_srvs/srv/set_bool.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "soak_node.hpp"

namespace rclrt::test {
namespace {

using namespace std::chrono_literals;
using std_msgs::msg::Int64;
using std_srvs::srv::SetBool;
using Random = std::mt19937;

constexpr int kPriorities = 6;

/// A callback, and counts about it that do not depend on the executor.
struct Subject {
  std::string name;
  std::shared_ptr<executor::Callback> callback;
  std::atomic<std::uint64_t> entered{0};     // how often user code began
  std::atomic<int>* inside_group = nullptr;  // members of its exclusive group in user code now
};

/// Separate threads for each priority, with and without permission for real time. Sanitizers never
/// have it; the default then behaves as `picas`.
ExecutorOptions options(const std::string& name) {
  const bool completes = name == "picas" || name == "events" || name == "static_order";
  return {
      .name = name,
      .preemption = completes ? executor::Preemption::kByRealtime : executor::Preemption::kAlways};
}

/// One executor, its node and all events.
class Soak {
 public:
  Soak(std::string name, std::shared_ptr<Context> context, unsigned seed)
      : name_(std::move(name)),
        context_(std::move(context)),
        seed_(seed),
        node_(context_, "soak", "/" + name_),
        robot_(name_, context_),
        executor_(make_executor(name_, context_, options(name_))) {
    for (int i = 0; i < 4; ++i) {
      create(node_, i, subjects_);
    }
    for (const auto& subject : subjects_) {
      executor_->add(subject->callback);
    }
  }

  /// Runs until `end`, and on a busy machine until every event has happened at least once.
  void run(std::chrono::steady_clock::time_point end) {
    std::thread spinner([&] { keep_spinning(); });
    std::thread bursts([&] { keep_sending(); });
    Random random(seed_);
    const auto limit = end + 300s;
    while (std::chrono::steady_clock::now() < end ||
           (!has_seen_everything() && std::chrono::steady_clock::now() < limit)) {
      change(random);
    }
    stop_ = true;
    bursts.join();
    executor_->cancel();
    spinner.join();
    executor_.reset();
    check(subjects_);
    for (const auto& problem : robot_.problems()) {
      problems_.push_back(problem);
    }
  }

  bool report() const {
    std::printf("%-18s %9lu ran, %7lu exceptions, %7lu changes (%lu refused), %6lu nodes: %s\n",
                name_.c_str(), ran_.load(), caught_.load(), changes_, refused_, nodes_,
                problems_.empty() ? "the books balance" : "PROBLEMS");
    for (const auto& problem : problems_) {
      std::printf("  %s\n", problem.c_str());
    }
    return problems_.empty() && ran_ > 0 && caught_ > 0 && nodes_ > 0;
  }

  /// Called by the thread in `run`.
  bool has_seen_everything() const {
    return ran_ > 0 && caught_ > 0 && nodes_ > 0 && robot_.has_seen_everything();
  }

 private:
  using Subjects = std::vector<std::unique_ptr<Subject>>;

  /// Creates one callback of each kind; `index` chooses group, priority and overload policy.
  void create(Node& node, int index, Subjects& subjects) {
    const auto next = [&](const std::string& kind) {
      subjects.push_back(std::make_unique<Subject>());
      Subject& subject = *subjects.back();
      subject.name = kind + std::to_string(index);
      // Two exclusive groups, a reentrant one, and none, which is exclusive by itself.
      const int group = index % 4;
      if (group < 2) {
        subject.inside_group = &inside_[static_cast<std::size_t>(group)];
      }
      return &subject;
    };
    const auto options = [&](const Subject& subject, Overload overload = Overload::kQueue) {
      return CallbackOptions{.priority = static_cast<int>(subjects.size()) % kPriorities,
                             .group = groups_[static_cast<std::size_t>(index % 4)],
                             .overload = overload,
                             .deadline = 1ms * (static_cast<int>(subjects.size()) % kPriorities),
                             .name = subject.name};
    };
    const auto overload = static_cast<Overload>(index % 3);
    const QoS qos(3 + static_cast<std::size_t>(index));

    Subject* subject = next("timer");
    subject->callback = node.create_wall_timer(
        1ms * (index + 1), [this, subject] { user_code(*subject); }, options(*subject, overload));
    subject = next("subscription");
    subject->callback = node.create_subscription<Int64>(
        "topic", qos, [this, subject](const Int64&) { user_code(*subject); },
        options(*subject, overload));
    subject = next("by_reference");
    CallbackOptions by_reference = options(*subject, overload);
    by_reference.intra_process = true;
    subject->callback = node.create_subscription<Int64>(
        "topic", qos, [this, subject](const Int64&) { user_code(*subject); }, by_reference);
    subject = next("guard");
    const auto guard =
        node.create_guard_condition([this, subject] { user_code(*subject); }, options(*subject));
    subject->callback = guard;
    subject = next("service");
    subject->callback = node.create_service<SetBool>(
        "serve" + std::to_string(index),
        [this, subject](const SetBool::Request&, SetBool::Response&) { user_code(*subject); }, 10,
        options(*subject));
    subject = next("client");
    const auto client =
        node.create_client<SetBool>("serve" + std::to_string(index), 10, options(*subject));
    subject->callback = client;
    if (&node == &node_) {
      guards_.push_back(guard);
      clients_.emplace_back(client, subject);
    }
  }

  void user_code(Subject& subject) {
    ++subject.entered;
    const std::uint64_t count = ++ran_;
    struct Inside {
      std::atomic<int>* const members;
      const bool alone = members == nullptr || members->fetch_add(1) == 0;
      ~Inside() {
        if (members != nullptr) {
          --*members;
        }
      }
    } const inside{subject.inside_group};
    if (!inside.alone) {
      two_at_once_ = true;
    }
    if (count % 64 == 0) {  // long enough for others to become ready meanwhile
      const auto end = std::chrono::steady_clock::now() + 300us;
      while (std::chrono::steady_clock::now() < end) {
      }
    }
    if (count % 509 == 0) {
      executor_->remove(subject.callback);
    }
    if (count % 251 == 0) {
      throw Thrown();
    }
  }

  void keep_spinning() {
    while (!stop_) {
      try {
        executor_->spin();
      } catch (const Thrown&) {
        ++caught_;
      }
    }
  }

  void keep_sending() {
    const auto publisher = node_.create_publisher<Int64>("topic", 20);
    Random random(seed_ + 1);
    while (!stop_) {
      for (auto left = random() % 30; left > 0; --left) {
        switch (random() % 20) {
          case 0:
            robot_.send(random);
            break;
          case 1:
          case 2:
          case 3:
          case 4:
            guards_[random() % guards_.size()]->trigger();
            break;
          case 5:
          case 6:
          case 7:
          case 8: {
            auto& [client, subject] = clients_[random() % clients_.size()];
            Subject* const of = subject;
            client->async_send_request(SetBool::Request{},
                                       [this, of](const SetBool::Response&) { user_code(*of); });
            break;
          }
          case 9:
          case 10:
          case 11:
          case 12:
            publisher->publish(publisher->borrow());
            break;
          default:
            publisher->publish(Int64{});
        }
      }
      if (random() % 16 == 0) {  // requests without an answer: no service, or a failure
        clients_[random() % clients_.size()].first->prune_pending_requests();
      }
      std::this_thread::sleep_for(1ms);
    }
  }

  void change(Random& random) {
    ++changes_;
    const auto& callback = subjects_[random() % subjects_.size()]->callback;
    switch (random() % 16) {
      case 0:
      case 1:
      case 2:
      case 3:
        executor_->remove(callback);
        break;
      case 4:
        executor_->cancel();
        break;
      case 5:
        let_a_node_come_and_go(random);
        break;
      case 6:
        robot_.come_or_go(*executor_);
        break;
      case 7:
      case 8:
        count_logic_error([&] {  // it may be removed now
          executor_->set_priority(callback, static_cast<int>(random() % kPriorities));
        });
        break;
      default:
        count_logic_error([&] { executor_->add(callback); });  // it may be added already
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
  }

  template <typename Change>
  void count_logic_error(const Change& change) {
    try {
      change();
    } catch (const std::logic_error&) {
      ++refused_;
    }
  }

  void let_a_node_come_and_go(Random& random) {
    ++nodes_;
    Subjects subjects;
    Node node(context_, "visitor", "/" + name_);
    create(node, static_cast<int>(random() % 4), subjects);
    executor_->add_node(node);
    std::this_thread::sleep_for(5ms);
    executor_->remove_node(node);
    check(subjects);
  }

  /// Checks callbacks that are in no executor any more.
  void check(const Subjects& subjects) {
    if (two_at_once_.exchange(false)) {
      problems_.push_back("two members of an exclusive group at once");
    }
    for (const auto& subject : subjects) {
      const executor::Counters counters = subject->callback->counters();
      if (counters.pending() != 0 || counters.completed != subject->entered) {
        problems_.push_back(subject->name + ": released " + std::to_string(counters.released) +
                            ", completed " + std::to_string(counters.completed) + ", dropped " +
                            std::to_string(counters.dropped) + ", user code entered " +
                            std::to_string(subject->entered));
      }
    }
  }

  const std::string name_;
  const std::shared_ptr<Context> context_;
  const unsigned seed_;
  const std::array<std::shared_ptr<CallbackGroup>, 4> groups_ = {
      std::make_shared<CallbackGroup>(), std::make_shared<CallbackGroup>(),
      std::make_shared<CallbackGroup>(CallbackGroupType::kReentrant), nullptr};
  std::array<std::atomic<int>, 2> inside_{};
  std::atomic<bool> stop_{false};
  std::atomic<bool> two_at_once_{false};
  std::atomic<std::uint64_t> ran_{0};
  std::atomic<std::uint64_t> caught_{0};
  Subjects subjects_;
  std::vector<std::shared_ptr<GuardCondition>> guards_;
  std::vector<std::pair<std::shared_ptr<Client<SetBool>>, Subject*>> clients_;
  Node node_;
  SoakNode robot_;
  std::unique_ptr<Executor> executor_;
  // The rest belongs to the thread in `run`.
  std::uint64_t changes_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t nodes_ = 0;
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
  const auto context = make_context();
  std::vector<std::unique_ptr<Soak>> soaks;
  for (const auto& name : executor_names()) {
    soaks.push_back(std::make_unique<Soak>(name, context, seed++));
  }
  const auto end = std::chrono::steady_clock::now() + duration;
  std::vector<std::thread> threads;
  for (const auto& one : soaks) {
    threads.emplace_back([&one, end] { one->run(end); });
  }
  bool well = true;
  for (std::size_t i = 0; i < soaks.size(); ++i) {
    threads[i].join();
    well = soaks[i]->report() && well;
  }
  return well ? 0 : 1;
}

}  // namespace
}  // namespace rclrt::test

int main(int argc, char** argv) {
  try {
    if (argc > 3) {
      throw std::invalid_argument("usage: soak [SECONDS [SEED]]");
    }
    return rclrt::test::soak(std::chrono::seconds(argc > 1 ? rclrt::test::number(argv[1]) : 600),
                             argc > 2 ? rclrt::test::number(argv[2]) : 1);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
