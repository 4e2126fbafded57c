// SPDX-License-Identifier: Apache-2.0
#include "refusal.hpp"

#include <gmock/gmock.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

namespace rclrt::realtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Scheduling kFifo80{Policy::kFifo, 80};

/// A user without any limit raised, on a kernel that budgets no control group.
SchedulingPermission nobody() { return {.global_us = 950'000}; }

std::string explained(const SchedulingPermission& permission, int error = EPERM) {
  return explain(kFifo80, error, permission);
}

TEST(Refusal, OfAUserWithoutRtprioNamesTheEntryForLogInUnitAndContainer) {
  EXPECT_EQ(explained(nobody()),
            "add \"rtprio 80\" for this user in /etc/security/limits.d and log in again "
            "(LimitRTPRIO=80 in a systemd unit, --ulimit rtprio=80 for a container), or run with "
            "CAP_SYS_NICE");
}

TEST(Refusal, AboveALimitNamesTheLimitAndThePriorityThatFits) {
  SchedulingPermission permission = nobody();
  permission.rtprio = permission.rtprio_hard = permission.permitted = 37;
  EXPECT_THAT(explained(permission), AllOf(HasSubstr("priority 37 (rtprio): use at most 37 "
                                                     "(top_priority: 37 for an executor), or add"),
                                           HasSubstr("\"rtprio 80\"")));
  permission.rtprio = permission.rtprio_hard = permission.permitted = 1;
  EXPECT_THAT(explained(permission),
              AllOf(HasSubstr("use at most 1, or add"), Not(HasSubstr("top_priority"))))
      << "an executor needs two priorities";
}

TEST(Refusal, BelowTheHardLimitNamesWhatRaisesTheSoftOne) {
  SchedulingPermission permission = nobody();
  permission.rtprio_hard = 99;
  EXPECT_THAT(explained(permission), AllOf(HasSubstr("ulimit -r 80"), Not(HasSubstr("limits.d"))));
}

TEST(Refusal, OfRootNamesNoEntryForAUser) {
  SchedulingPermission permission = nobody();
  permission.root = true;
  EXPECT_THAT(explained(permission),
              AllOf(HasSubstr("--cap-add=SYS_NICE"), Not(HasSubstr("limits.d"))));
}

TEST(Refusal, ByABudgetOfZeroNamesItsFileWhateverTheUserMayDo) {
  SchedulingPermission permission = nobody();
  permission.root = permission.capability = true;
  permission.budget_file = "/sys/fs/cgroup/cpu/robot/cpu.rt_runtime_us";
  permission.budget_us = 0;
  EXPECT_THAT(explained(permission),
              AllOf(HasSubstr("/sys/fs/cgroup/cpu/robot/cpu.rt_runtime_us is 0"),
                    HasSubstr("--cpu-rt-runtime"), Not(HasSubstr("limits.d"))));
  permission.root = permission.capability = false;
  EXPECT_THAT(explained(permission),
              AllOf(HasSubstr("limits.d"), HasSubstr("; and the control group")))
      << "both must change";
  permission.budget_us = 50'000;
  EXPECT_THAT(explained(permission), Not(HasSubstr("control group")));
}

TEST(Refusal, WithoutAnObstacleNamesWhatElseRefuses) {
  SchedulingPermission permission = nobody();
  permission.capability = true;
  EXPECT_THAT(explained(permission),
              AllOf(HasSubstr("user namespace"), Not(HasSubstr("limits.d"))));
  permission.seccomp = true;
  EXPECT_THAT(explained(permission), HasSubstr("seccomp"));
  permission.unified_group = "/system.slice/robot.service";
  EXPECT_THAT(explained(permission),
              AllOf(HasSubstr("/system.slice/robot.service"), HasSubstr("rt_group_sched=0")));
  permission.global_us = 0;
  EXPECT_THAT(explained(permission), HasSubstr("sysctl -w kernel.sched_rt_runtime_us=950000"));
}

TEST(Refusal, ForWantOfRoomSaysNothingOfScheduling) {
  EXPECT_THAT(explained(nobody(), EAGAIN),
              AllOf(HasSubstr("no room for another thread"), Not(HasSubstr("rtprio"))));
}

TEST(Refusal, OfADeadlineNeedsTheCapability) {
  EXPECT_THAT(explain({.policy = Policy::kDeadline}, EPERM, nobody()), HasSubstr("CAP_SYS_NICE"));
}

/// Files of /proc and /sys in a separate directory.
class BudgetFile : public testing::Test {
 protected:
  ~BudgetFile() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  std::string found() const {
    const std::filesystem::path file = realtime_budget_file(root_);
    return file.empty() ? "" : file.lexically_relative(root_).string();
  }

  const std::filesystem::path root_ =
      testing::TempDir() + "rclrt_refusal_" + std::to_string(getpid());
};

TEST_F(BudgetFile, IsThatOfTheOwnGroup) {
  write("proc/self/cgroup", "5:cpuset:/other\n3:cpu,cpuacct:/robot/arm\n0::/x\n");
  write("proc/self/mountinfo",
        "30 25 0:26 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.rt_runtime_us", "950000\n");
  write("sys/fs/cgroup/cpu,cpuacct/robot/arm/cpu.rt_runtime_us", "0\n");
  EXPECT_EQ(found(), "sys/fs/cgroup/cpu,cpuacct/robot/arm/cpu.rt_runtime_us");
  EXPECT_EQ(read_permission({}, root_).budget_us, 0);
}

TEST_F(BudgetFile, LimitsRealTimeWhereItIsLessThanThatOfTheMachine) {
  EXPECT_EQ(realtime_limit_below(root_), std::nullopt) << "a kernel without the setting";
  write("proc/sys/kernel/sched_rt_runtime_us", "950000\n");
  write("proc/sys/kernel/sched_rt_period_us", "1000000\n");
  const std::string global = "950000 us of every 1000000 us, kernel.sched_rt_runtime_us";
  EXPECT_EQ(realtime_limit_below(root_), global);
  write("proc/self/cgroup", "1:cpu:/robot\n");
  write("proc/self/mountinfo", "31 25 0:27 / /sys/fs/cgroup/cpu rw - cgroup cpu rw,cpu\n");
  write("sys/fs/cgroup/cpu/robot/cpu.rt_runtime_us", "30000\n");
  write("sys/fs/cgroup/cpu/robot/cpu.rt_period_us", "100000\n");
  EXPECT_EQ(realtime_limit_below(root_),
            "30000 us of every 100000 us, " +
                (root_ / "sys/fs/cgroup/cpu/robot/cpu.rt_runtime_us").string());
  write("sys/fs/cgroup/cpu/robot/cpu.rt_runtime_us", "95000\n");
  EXPECT_EQ(realtime_limit_below(root_), global);
  write("proc/sys/kernel/sched_rt_runtime_us", "-1\n");
  EXPECT_EQ(realtime_limit_below(root_), std::nullopt);
}

TEST_F(BudgetFile, InAContainerIsThatAtTheRootOfTheMount) {
  write("proc/self/cgroup", "1:cpu:/docker/4711\n");
  write("proc/self/mountinfo",
        "31 25 0:27 /docker/4711 /sys/fs/cgroup/cpu rw - cgroup cpu rw,cpu\n");
  write("sys/fs/cgroup/cpu/cpu.rt_runtime_us", "0\n");
  EXPECT_EQ(found(), "sys/fs/cgroup/cpu/cpu.rt_runtime_us");
}

TEST_F(BudgetFile, IsMissingInVersion2AndOnAKernelWithoutGroups) {
  write("proc/self/cgroup", "0::/system.slice/robot.service\n");
  write("proc/self/mountinfo", "31 25 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(found(), "");
  EXPECT_EQ(read_permission({}, root_).unified_group, "/system.slice/robot.service");
  write("proc/self/cgroup", "1:cpu:/robot\n");
  write("proc/self/mountinfo", "31 25 0:27 / /sys/fs/cgroup/cpu rw - cgroup cpu rw,cpu\n");
  EXPECT_EQ(found(), "") << "mounted, without real-time groups";
}

}  // namespace
}  // namespace rclrt::realtime
