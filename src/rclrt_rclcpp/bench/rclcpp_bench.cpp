// SPDX-License-Identifier: Apache-2.0
// rclrt's executors beside rclcpp's, on rclcpp nodes: each case runs every contender in turn, round
// after round, in this one process.
//
//   rclrt_rclcpp_bench [--rounds N] [--seconds S] [--cpus N] [--case NAME] [--json]
//
// A figure is the median over the rounds; max and "worst lost" are the worst round's. The JSON has
// the figures of each round, too, so that what was measured in turn can be compared pair by pair. A
// round of whose time the host took more than kStolen_ms is made again, whatever it showed, kTries
// times at most.
//
// All executors run under SCHED_FIFO where it is permitted: rclcpp's in a thread at priority 80,
// the pair of best practice at 80 and 70. So what differs is the executor.
#include <sys/resource.h>

#include <rclcpp/version.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <test_msgs/msg/basic_types.hpp>
#include <thread>
#include <type_traits>
#include <vector>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt/recorder/machine_context.hpp"
#include "rclrt_rclcpp/executors.hpp"

#if __has_include(<rclcpp/executors/events_cbg_executor/events_cbg_executor.hpp>)
#include <rclcpp/executors/events_cbg_executor/events_cbg_executor.hpp>
#define RCLRT_HAS_EVENTS_CBG 1
#endif

namespace {

std::atomic<std::uint64_t> g_allocations{0};

}  // namespace

// Not inlined: gcc would take what allocates and what frees for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) {
    return memory;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace std::chrono_literals;
using Message = test_msgs::msg::BasicTypes;
using rclrt::realtime::monotonic_now_ns;

constexpr std::int64_t kPeriod_ns = 1'000'000;
constexpr std::int64_t kBusy_ns = 10'000'000;

/// What one contender showed in one round of a case.
struct Round {
  double p50_us = 0;
  double p99_us = 0;
  double max_us = 0;
  double lost_percent = 0;
  double cpu_us = 0;       // per release, of the whole process, the sender included
  double allocations = 0;  // ditto
};

/// The node under test: an urgent callback in one group, the rest in another.
class Bench : public rclcpp::Node {
 public:
  Bench() : Node("bench") {
    urgent = create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
    rest = create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
    latencies_ns.reserve(1'000'000);
  }

  void add_timer() {
    timers.push_back(create_wall_timer(
        std::chrono::nanoseconds(kPeriod_ns),
        [this](const rclcpp::TimerInfo& info) {
          note(monotonic_now_ns() - info.expected_call_time.nanoseconds());
        },
        urgent));
  }
  void add_burner() {
    timers.push_back(create_wall_timer(
        20ms,
        [] {
          const std::int64_t end = monotonic_now_ns() + kBusy_ns;
          while (monotonic_now_ns() < end) {
          }
        },
        rest));
  }
  void add_subscription() {
    rclcpp::SubscriptionOptions options;
    options.callback_group = urgent;
    subscription = create_subscription<Message>(
        "bench", 100,
        [this](const Message& message) { note(monotonic_now_ns() - message.int64_value); },
        options);
    publisher = create_publisher<Message>("bench", 100);
  }
  void note(std::int64_t latency_ns) {
    if (measuring.load(std::memory_order_relaxed)) {
      latencies_ns.push_back(latency_ns);
    }
  }

  rclcpp::CallbackGroup::SharedPtr urgent;
  rclcpp::CallbackGroup::SharedPtr rest;
  std::vector<rclcpp::TimerBase::SharedPtr> timers;
  rclcpp::Subscription<Message>::SharedPtr subscription;
  rclcpp::Publisher<Message>::SharedPtr publisher;
  std::atomic<bool> measuring{false};
  std::vector<std::int64_t> latencies_ns;
};

bool g_realtime = false;
std::vector<int> g_cpus;

rclrt::realtime::ThreadOptions thread_at(const char* name, int priority) {
  rclrt::realtime::ThreadOptions options{.name = name, .scheduling = {}};
  options.scheduling.cpus = g_cpus;
  if (g_realtime) {
    options.scheduling.policy = rclrt::realtime::Policy::kFifo;
    options.scheduling.priority = priority;
  }
  return options;
}

using Body = std::function<void()>;
struct Contender {
  const char* name;
  std::function<void(const std::shared_ptr<Bench>&, const Body&)> run;
};

/// Spins `executor` beside `body`.
void spin_beside(rclcpp::Executor& executor, int priority, const Body& body) {
  rclrt::realtime::Thread thread(thread_at("spin", priority), [&] { executor.spin(); });
  body();
  executor.cancel();
  thread.join();
}

/// The executor is made in the thread that spins: threads of its own are then scheduled alike.
template <typename E>
std::function<void(const std::shared_ptr<Bench>&, const Body&)> plain() {
  return [](const std::shared_ptr<Bench>& node, const Body& body) {
    std::promise<rclcpp::Executor*> made;
    std::promise<void> cancelled;
    rclrt::realtime::Thread thread(thread_at("spin", 80), [&] {
      E executor;
      executor.add_node(node);
      made.set_value(&executor);
      executor.spin();
      cancelled.get_future().wait();
      executor.remove_node(node);
    });
    rclcpp::Executor* const executor = made.get_future().get();
    body();
    executor->cancel();
    cancelled.set_value();
    thread.join();
  };
}

template <typename E>
std::function<void(const std::shared_ptr<Bench>&, const Body&)> ours() {
  return [](const std::shared_ptr<Bench>& node, const Body& body) {
    rclrt_rclcpp::Options options;
    options.engine.cpus = g_cpus;
    if (std::is_same_v<E, rclrt_rclcpp::EdfExecutor>) {
      options.engine.cpus.resize(1);
    }
    options.engine.top_priority = 81;  // the most urgent level is at 80
    E executor(options);
    executor.add_node(node);
    executor.set_priority(node->urgent, 2);
    executor.set_priority(node->rest, 1);
    if (std::is_same_v<E, rclrt_rclcpp::EdfExecutor>) {
      executor.set_timing(
          node->urgent,
          {.priority = {}, .deadline = std::chrono::nanoseconds(kPeriod_ns), .overload = {}});
    }
    spin_beside(executor, 50, body);
    executor.remove_node(node);
  };
}

void split_pair(const std::shared_ptr<Bench>& node, const Body& body) {
  rclcpp::executors::SingleThreadedExecutor high;
  rclcpp::executors::SingleThreadedExecutor low;
  high.add_callback_group(node->urgent, node->get_node_base_interface());
  low.add_callback_group(node->rest, node->get_node_base_interface());
  spin_beside(high, 80, [&] { spin_beside(low, 70, body); });
  high.remove_callback_group(node->urgent);
  low.remove_callback_group(node->rest);
}

const std::vector<Contender>& contenders() {
  static const std::vector<Contender> all{
      {"rclcpp SingleThreaded", plain<rclcpp::executors::SingleThreadedExecutor>()},
      {"rclcpp MultiThreaded", plain<rclcpp::executors::MultiThreadedExecutor>()},
      {"rclcpp Events", plain<rclcpp::experimental::executors::EventsExecutor>()},
#ifdef RCLRT_HAS_EVENTS_CBG
      {"rclcpp EventsCBG", plain<rclcpp::executors::EventsCBGExecutor>()},
#endif
      {"two SingleThreaded at 80/70", split_pair},
      {"rclrt preemptive", ours<rclrt_rclcpp::PreemptiveExecutor>()},
      {"rclrt producer_consumer", ours<rclrt_rclcpp::ProducerConsumerExecutor>()},
      {"rclrt edf", ours<rclrt_rclcpp::EdfExecutor>()},
  };
  return all;
}

std::int64_t cpu_now_ns() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ns = [](const timeval& time) {
    return (static_cast<std::int64_t>(time.tv_sec) * 1'000'000 + time.tv_usec) * 1'000;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

struct Case {
  const char* name;
  bool timer;
  bool burner;
  bool message;
};
constexpr Case kCases[] = {
    {"timer", true, false, false},
    {"timer beside a burner", true, true, false},
    {"message", false, false, true},
    {"message beside a burner", false, true, true},
};

double percentile_us(const std::vector<std::int64_t>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto index = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1));
  return static_cast<double>(sorted[index]) / 1e3;
}

/// The node runs for so long.
Round run_once(const Case& what, const Contender& contender, std::chrono::nanoseconds time) {
  const auto node = std::make_shared<Bench>();
  if (what.timer) node->add_timer();
  if (what.burner) node->add_burner();
  if (what.message) {
    node->add_subscription();
    while (node->publisher->get_subscription_count() == 0) std::this_thread::sleep_for(1ms);
  }
  std::uint64_t sent = 0;
  std::int64_t cpu_ns = 0;
  std::uint64_t allocations = 0;
  contender.run(node, [&] {
    std::this_thread::sleep_for(50ms);  // threads, caches, discovery
    const std::int64_t start_ns = monotonic_now_ns();
    cpu_ns = cpu_now_ns();
    allocations = g_allocations.load();
    node->measuring.store(true);
    if (what.message) {
      // The sender is as urgent as a sensor's driver: above all that runs here.
      rclrt::realtime::Thread sender(thread_at("sender", 90), [&] {
        Message message;
        for (std::int64_t next_ns = start_ns + kPeriod_ns; next_ns < start_ns + time.count();
             next_ns += kPeriod_ns) {
          rclrt::realtime::sleep_until_ns(next_ns);
          message.int64_value = monotonic_now_ns();
          node->publisher->publish(message);
          ++sent;
        }
      });
      sender.join();
      std::this_thread::sleep_for(20ms);
    } else {
      std::this_thread::sleep_for(time);
      sent = static_cast<std::uint64_t>((monotonic_now_ns() - start_ns) / kPeriod_ns);
    }
    node->measuring.store(false);
    cpu_ns = cpu_now_ns() - cpu_ns;
    allocations = g_allocations.load() - allocations;
  });
  std::vector<std::int64_t>& latencies_ns = node->latencies_ns;
  std::sort(latencies_ns.begin(), latencies_ns.end());
  const auto releases = static_cast<double>(sent);
  const auto got = static_cast<double>(latencies_ns.size());
  return {.p50_us = percentile_us(latencies_ns, 0.5),
          .p99_us = percentile_us(latencies_ns, 0.99),
          .max_us = percentile_us(latencies_ns, 1),
          // At both ends one release may be counted on one side alone.
          .lost_percent = releases > got + 2 ? 100 * (releases - got) / releases : 0,
          .cpu_us = static_cast<double>(cpu_ns) / 1e3 / releases,
          .allocations = static_cast<double>(allocations) / releases};
}

constexpr double kStolen_ms = 10;  // what the kernel counts in
constexpr int kTries = 5;

Round run_undisturbed(const Case& what, const Contender& contender, std::chrono::nanoseconds time,
                      int& repeated) {
  for (int tries = 1;; ++tries) {
    const double before_ms = rclrt::recorder::read_steal_ms().value_or(0);
    Round round = run_once(what, contender, time);
    if (rclrt::recorder::read_steal_ms().value_or(0) - before_ms <= kStolen_ms || tries == kTries) {
      return round;
    }
    ++repeated;
  }
}

using Rounds = std::vector<Round>;

double median(const Rounds& rounds, double Round::* figure) {
  std::vector<double> all;
  for (const Round& round : rounds) all.push_back(round.*figure);
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

double worst(const Rounds& rounds, double Round::* figure) {
  double most = 0;
  for (const Round& round : rounds) most = std::max(most, round.*figure);
  return most;
}

/// `"p50_us_rounds": [21.250, 19.875]`
void print_rounds(const char* name, const Rounds& rounds, double Round::* figure) {
  std::printf(", \"%s_rounds\": [", name);
  const char* separator = "";
  for (const Round& round : rounds) {
    std::printf("%s%.3f", separator, round.*figure);
    separator = ", ";
  }
  std::printf("]");
}

int usage(const std::string& problem) {
  std::fprintf(stderr,
               "rclrt_rclcpp_bench: %s\n"
               "usage: rclrt_rclcpp_bench [--rounds N] [--seconds S] [--cpus N] [--case NAME] "
               "[--json]\n",
               problem.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  long rounds = 5;
  long seconds = 2;
  long cpus = 1;
  bool json = false;
  std::vector<Case> cases(std::begin(kCases), std::end(kCases));
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--json") {
      json = true;
      continue;
    }
    if (option == "--case") {
      const std::string name = i + 1 < argc ? argv[++i] : "";
      std::erase_if(cases, [&](const Case& each) { return each.name != name; });
      if (cases.empty()) return usage("--case needs the name of one, such as \"message\"");
      continue;
    }
    long* const value = option == "--rounds"    ? &rounds
                        : option == "--seconds" ? &seconds
                        : option == "--cpus"    ? &cpus
                                                : nullptr;
    if (value == nullptr) return usage("unknown option " + option);
    char* end = nullptr;
    *value = i + 1 < argc ? std::strtol(argv[++i], &end, 10) : 0;
    if (end == nullptr || *end != '\0' || *value < 1 || *value > 3600) {
      return usage(option + " needs a number from 1 to 3600");
    }
  }
  const std::vector<int> allowed = rclrt::realtime::allowed_cpus();
  if (static_cast<std::size_t>(cpus) > allowed.size()) {
    return usage("--cpus: this process may use " + std::to_string(allowed.size()));
  }
  g_cpus.assign(allowed.begin(), allowed.begin() + cpus);
  const auto reason = rclrt::realtime::why_no_realtime(90);
  g_realtime = !reason;
  if (reason) {
    std::fprintf(stderr, "rclrt_rclcpp_bench: without real-time scheduling: %s\n", reason->c_str());
  }
  rclcpp::init(0, nullptr);

  std::vector<std::vector<Rounds>> results(cases.size(), std::vector<Rounds>(contenders().size()));
  int repeated = 0;
  for (long round = 0; round < rounds; ++round) {
    for (std::size_t c = 0; c < cases.size(); ++c) {
      for (std::size_t i = 0; i < contenders().size(); ++i) {
        // Each begins a round in turn, so that no place among the others is anybody's own.
        const std::size_t e = (i + static_cast<std::size_t>(round)) % contenders().size();
        results[c][e].push_back(
            run_undisturbed(cases[c], contenders()[e], std::chrono::seconds(seconds), repeated));
      }
    }
  }

  if (json) {
    std::printf(
        "{\"rclcpp\": \"%s\", \"realtime\": %s, \"cpus\": %ld, \"rounds\": %ld, "
        "\"seconds\": %ld, \"repeated\": %d, \"results\": [",
        RCLCPP_VERSION_STR, g_realtime ? "true" : "false", cpus, rounds, seconds, repeated);
  } else {
    std::printf("rclcpp %s, %s, %ld CPU(s), %ld rounds of %ld s, %d made again\n",
                RCLCPP_VERSION_STR, g_realtime ? "SCHED_FIFO" : "normal scheduling", cpus, rounds,
                seconds, repeated);
  }
  bool first = true;
  for (std::size_t c = 0; c < cases.size(); ++c) {
    if (!json) {
      std::printf("\n%-28s %9s %9s %9s %7s %11s %8s %8s\n", cases[c].name, "p50 us", "p99 us",
                  "max us", "lost %", "worst lost", "cpu us", "allocs");
    }
    for (std::size_t e = 0; e < contenders().size(); ++e) {
      const Rounds& all = results[c][e];
      const double p50 = median(all, &Round::p50_us);
      const double p99 = median(all, &Round::p99_us);
      const double most = worst(all, &Round::max_us);
      const double lost = median(all, &Round::lost_percent);
      const double worst_lost = worst(all, &Round::lost_percent);
      const double cpu = median(all, &Round::cpu_us);
      const double allocations = median(all, &Round::allocations);
      if (json) {
        std::printf(
            "%s{\"case\": \"%s\", \"executor\": \"%s\", \"p50_us\": %.3f, "
            "\"p99_us\": %.3f, \"max_us\": %.3f, \"lost_percent\": %.4f, "
            "\"worst_lost_percent\": %.4f, \"cpu_us\": %.3f, \"allocations\": %.3f",
            first ? "" : ", ", cases[c].name, contenders()[e].name, p50, p99, most, lost,
            worst_lost, cpu, allocations);
        print_rounds("p50_us", all, &Round::p50_us);
        print_rounds("p99_us", all, &Round::p99_us);
        print_rounds("cpu_us", all, &Round::cpu_us);
        std::printf("}");
      } else {
        std::printf("%-28s %9.1f %9.1f %9.1f %7.2f %11.2f %8.1f %8.2f\n", contenders()[e].name, p50,
                    p99, most, lost, worst_lost, cpu, allocations);
      }
      first = false;
    }
  }
  if (json) {
    std::printf("]}\n");
  }
  rclcpp::shutdown();
  return 0;
}
