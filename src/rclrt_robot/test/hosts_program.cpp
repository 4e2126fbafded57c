// SPDX-License-Identifier: Apache-2.0
// The processes of two hosts with clocks of their own: one publishes data that it stamps, the other
// judges their age. They run beside `rclrt clock`, and know the truth, because both are on one
// machine and share its CLOCK_MONOTONIC_RAW.
//   rclrt_robot_hosts publish PERIOD_US    its clock is wrong by RCLRT_TEST_CLOCK: offset_ms,
//   step_ms rclrt_robot_hosts judge                judges each instance, and compares it with the
//   truth rclrt_robot_hosts monitor ROBOT.yaml   the monitor of rclrt_robot; prints its statuses
// They end after SIGINT or SIGTERM. `judge` and `monitor` print a JSON document on each line.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <diagnostic_msgs/msg/diagnostic_array.hpp>
#include <exception>
#include <geometry_msgs/msg/pose_stamped.hpp>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host_clocks.hpp"
#include "rclrt/realtime/boot_number.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt_robot/robot.hpp"
#include "remote_age.hpp"

namespace rclrt_robot::test {
namespace {

using namespace std::chrono_literals;
using diagnostic_msgs::msg::DiagnosticArray;
using geometry_msgs::msg::PoseStamped;
using rclrt_msgs::msg::ClockInterval;
using Json = nlohmann::ordered_json;

constexpr std::int64_t kMillisecond_ns = 1'000'000;
constexpr std::int64_t kBillion = 1'000'000'000;
constexpr const char* kPeer = "right";

std::int64_t raw_now_ns() { return rclrt::realtime::read_clock_ns(CLOCK_MONOTONIC_RAW); }

void print(const Json& line) {
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

/// The clock of this host, wrong by RCLRT_TEST_CLOCK.
class WrongClock {
 public:
  WrongClock() {
    const char* const text = std::getenv("RCLRT_TEST_CLOCK");
    std::istringstream words(text == nullptr ? "" : text);
    for (std::string word; words >> word;) {
      Step step;
      double at_s = 0;
      if (std::sscanf(word.c_str(), "offset_ms=%lf", &step.by_ms) != 1 &&
          std::sscanf(word.c_str(), "step_ms=%lf@%lf", &step.by_ms, &at_s) != 2) {
        throw std::runtime_error("RCLRT_TEST_CLOCK: '" + word + "' is unknown here");
      }
      step.at_ns = static_cast<std::int64_t>(at_s * 1e9);
      steps_.push_back(step);
    }
  }

  std::int64_t now_ns() const {
    const std::int64_t monotonic_ns = rclrt::realtime::monotonic_now_ns();
    double wrong_ms = 0;
    for (const Step& each : steps_) {
      wrong_ms += monotonic_ns >= each.at_ns ? each.by_ms : 0;
    }
    return rclrt::realtime::read_clock_ns(CLOCK_REALTIME) +
           static_cast<std::int64_t>(wrong_ms * kMillisecond_ns);
  }

 private:
  struct Step {
    double by_ms = 0;
    std::int64_t at_ns = 0;
  };
  std::vector<Step> steps_;
};

/// A number in two doubles, which have 53 bits each.
void put(std::int64_t number, double& high, double& low) {
  high = static_cast<double>(number / kBillion);
  low = static_cast<double>(number % kBillion);
}
std::int64_t get(double high, double low) {
  return static_cast<std::int64_t>(high) * kBillion + static_cast<std::int64_t>(low);
}

void publish(std::chrono::microseconds period) {
  const auto node = std::make_shared<rclcpp::Node>("sensor");
  const auto publisher = node->create_publisher<PoseStamped>("/points", rclcpp::QoS(100));
  const WrongClock clock;
  const auto timer = node->create_wall_timer(period, [&] {
    PoseStamped message;
    const std::int64_t before_ns = raw_now_ns();
    const std::int64_t stamp_ns = clock.now_ns();
    const std::int64_t after_ns = raw_now_ns();
    message.header.stamp = rclcpp::Time(stamp_ns);
    put(before_ns, message.pose.position.x, message.pose.position.y);
    put(after_ns - before_ns, message.pose.orientation.x, message.pose.orientation.y);
    publisher->publish(message);
  });
  rclcpp::spin(node);
}

/// When the data of a message were stamped, by CLOCK_MONOTONIC_RAW: between the two.
struct Stamped {
  std::int64_t before_ns = 0;
  std::int64_t after_ns = 0;
};

/// Judges all instances, and counts what is wrong.
class Judge {
 public:
  Judge() {
    subscription_ = node_->create_subscription<PoseStamped>(
        "/points", rclcpp::QoS(100), [this](const PoseStamped& message) {
          const std::int64_t before_ns = get(message.pose.position.x, message.pose.position.y);
          const std::int64_t took_ns = get(message.pose.orientation.x, message.pose.orientation.y);
          const std::scoped_lock lock(mutex_);
          stamped_[rclcpp::Time(message.header.stamp).nanoseconds()] = {before_ns,
                                                                        before_ns + took_ns};
        });
    reports_ = listener_->create_subscription<ClockInterval>(
        kClockTopic, rclcpp::QoS(1000).best_effort(), [](const ClockInterval&) {});
    rclrt_rclcpp::Options options;
    executor_ = rclrt_rclcpp::make_executor("preemptive", options);
    executor_->add_node(node_);
    executor_->set_timing(subscription_, {.max_age = 1s, .stamped_by = kPeer});
  }

  void run() {
    std::thread judging([this] {
      while (rclcpp::ok()) {
        std::this_thread::sleep_for(100ms);
        step();
      }
      executor_->cancel();
    });
    executor_->spin();
    judging.join();
  }

 private:
  void step() {
    ClockInterval report;
    rclcpp::MessageInfo info;
    while (reports_->take(report, info)) {
      clocks_.take(report, raw_now_ns(),
                   publisher_number(info.get_rmw_message_info().publisher_gid));
    }
    for (const auto& each : executor_->callbacks()) {
      rclrt_rclcpp::StampedEnd end;
      while (each.stamped_ends && each.stamped_ends->take(end)) {
        pending_.push_back(end);
      }
    }
    std::vector<rclrt_rclcpp::StampedEnd> rest;
    for (const auto& end : pending_) {
      if (!judge(end)) {
        rest.push_back(end);
      }
    }
    pending_ = std::move(rest);
    if (raw_now_ns() > next_print_ns_) {
      next_print_ns_ = raw_now_ns() + kBillion;
      print({{"judged", judged_},
             {"known", known_},
             {"unknown", judged_ - known_},
             {"outside", outside_},
             {"wrong_verdicts", wrong_verdicts_},
             {"met_on_a_guess", met_on_a_guess_},
             {"widest_ms", static_cast<double>(widest_ns_) / 1e6},
             {"changes", clocks_.of(kPeer).changes()},
             {"fault", clocks_.fault()}});
    }
  }

  std::optional<Stamped> truth_of(std::int64_t stamp_ns) {
    const std::scoped_lock lock(mutex_);
    const auto found = stamped_.find(stamp_ns);
    if (found == stamped_.end()) {
      return std::nullopt;
    }
    const Stamped result = found->second;
    stamped_.erase(found);
    return result;
  }

  /// Returns false if the next report decides.
  bool judge(const rclrt_rclcpp::StampedEnd& end) {
    const PeerClock& clock = clocks_.of(kPeer);
    const std::int64_t now_ns = raw_now_ns();
    const JudgedAge judged = judge_age(end, clock, kBillion, now_ns);
    if (judged.verdict == AgeVerdict::kPending) {
      return false;
    }
    const auto truth = truth_of(end.stamp_ns);
    ++judged_;
    if (!truth || !judged.is_known) {
      wrong_verdicts_ += judged.verdict == AgeVerdict::kFuture ? 1 : 0;  // none is from the future
      return true;
    }
    ++known_;
    const std::int64_t least_ns = end.end_ns - truth->after_ns;
    const std::int64_t most_ns = end.end_ns - truth->before_ns;
    outside_ += judged.low_ns > most_ns || judged.high_ns < least_ns ? 1 : 0;
    widest_ns_ = std::max(widest_ns_, judged.high_ns - judged.low_ns);
    // Deadlines at the truth, in the interval, and around it.
    for (const std::int64_t limit_ns :
         {most_ns, least_ns - 1, std::midpoint(judged.low_ns, judged.high_ns), judged.low_ns - 1,
          judged.high_ns, judged.high_ns - 1}) {
      const AgeVerdict verdict = judge_age(end, clock, limit_ns, now_ns).verdict;
      const bool is_within = judged.low_ns <= limit_ns && limit_ns < judged.high_ns;
      met_on_a_guess_ += verdict == AgeVerdict::kMet && is_within ? 1 : 0;
      wrong_verdicts_ += verdict == AgeVerdict::kMet && limit_ns < least_ns ? 1 : 0;
      wrong_verdicts_ += verdict == AgeVerdict::kMissed && limit_ns >= most_ns ? 1 : 0;
    }
    return true;
  }

  const std::shared_ptr<rclcpp::Node> node_ = std::make_shared<rclcpp::Node>("node");
  // No executor runs it, as in the monitor.
  const std::shared_ptr<rclcpp::Node> listener_ = std::make_shared<rclcpp::Node>("listener");
  rclcpp::Subscription<PoseStamped>::SharedPtr subscription_;
  rclcpp::Subscription<ClockInterval>::SharedPtr reports_;
  std::shared_ptr<rclrt_rclcpp::Executor> executor_;
  std::mutex mutex_;                                   // guards stamped_
  std::unordered_map<std::int64_t, Stamped> stamped_;  // by the stamp
  HostClocks clocks_{"left", rclrt::realtime::boot_number()};
  std::vector<rclrt_rclcpp::StampedEnd> pending_;
  std::uint64_t judged_ = 0;
  std::uint64_t known_ = 0;
  std::uint64_t outside_ = 0;         // intervals without the truth
  std::uint64_t wrong_verdicts_ = 0;  // met, missed or future against the truth
  std::uint64_t met_on_a_guess_ = 0;  // though the deadline is within the interval
  std::int64_t widest_ns_ = 0;
  std::int64_t next_print_ns_ = 0;
};

/// Runs the monitor of rclrt_robot on data of the other host, and prints each status of them.
/// Counts the ages that the callback itself finds.
void monitor(const std::string& file) {
  RobotOptions options = load_robot(file);
  Robot robot(options);
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<std::uint64_t> taken{0};
  const auto subscription = node->create_subscription<PoseStamped>(
      "/points", rclcpp::QoS(100), [&](const PoseStamped&) { ++taken; });
  const auto statuses = node->create_subscription<DiagnosticArray>(
      "/diagnostics", 100, [&](const DiagnosticArray& message) {
        for (const auto& status : message.status) {
          if (status.name != "rclrt: /node subscription /points") {
            continue;
          }
          Json line = {{"message", status.message}, {"taken", taken.load()}};
          for (const auto& value : status.values) {
            line[value.key] = value.value;
          }
          print(line);
        }
      });
  robot.executor().add_node(node);
  robot.spin();
}

}  // namespace

int run(const std::vector<std::string>& arguments) {
  const std::string role = arguments.empty() ? "" : arguments.front();
  if (role == "publish" && arguments.size() == 2) {
    publish(std::chrono::microseconds(std::stoll(arguments[1])));
  } else if (role == "judge" && arguments.size() == 1) {
    Judge().run();
  } else if (role == "monitor" && arguments.size() == 2) {
    monitor(arguments[1]);
  } else {
    std::fprintf(stderr, "expected publish PERIOD_US, judge, or monitor ROBOT.yaml\n");
    return 2;
  }
  return 0;
}

}  // namespace rclrt_robot::test

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  int code = 1;
  try {
    code = rclrt_robot::test::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  rclcpp::shutdown();
  return code;
}
