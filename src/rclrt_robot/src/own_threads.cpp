// SPDX-License-Identifier: Apache-2.0
#include "own_threads.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace rclrt_robot {

using rclrt::realtime::PlannedThread;
using rclrt::realtime::ThreadPlan;
using rclrt::realtime::ThreadPlanReport;
using rclrt::realtime::ThreadRule;

namespace {

/// The types of the functions that rclrt's own threads run. The thread plan leaves these threads
/// alone, because executors give them their scheduling.
constexpr std::array<const char*, 5> kOwnThreads = {
    "rclrt::realtime::Thread::RunOf<rclrt::executor::*",
    "rclrt::realtime::Thread::RunOf<rclrt::recorder::*",
    "rclrt::realtime::Thread::RunOf<rclrt_rclcpp::*",
    "rclrt::realtime::Thread::RunOf<rclrt_robot::*",
    "rclrt::realtime::Thread::RunOf<rclrt::realtime::PeriodicDrain::*"};

}  // namespace

ThreadPlan with_own_threads(ThreadPlan plan) {
  std::vector<ThreadRule> rules;
  for (const char* const function : kOwnThreads) {
    rules.push_back({.function = function, .keep = true});
  }
  plan.rules.insert(plan.rules.begin(), rules.begin(), rules.end());
  return plan;
}

std::size_t own_thread_rules() noexcept { return kOwnThreads.size(); }

ThreadPlanReport without_own_threads(ThreadPlanReport report) {
  std::erase_if(report.threads,
                [](const PlannedThread& each) { return each.rule < kOwnThreads.size(); });
  for (PlannedThread& each : report.threads) {
    each.rule -= kOwnThreads.size();
  }
  std::erase_if(report.unused_rules, [](const std::string& rule) {
    return std::ranges::any_of(kOwnThreads, [&](const char* own) {
      return rule == to_string(ThreadRule{.function = own});
    });
  });
  return report;
}

}  // namespace rclrt_robot
