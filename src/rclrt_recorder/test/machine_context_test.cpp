// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/machine_context.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/utsname.h>

namespace rclrt::recorder {
namespace {

using testing::MatchesRegex;
using testing::StartsWith;

TEST(CpuModel, IsTheModelNameOfTheFirstX86Cpu) {
  EXPECT_EQ(parse_cpu_model("processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763\n"
                            "processor\t: 1\nmodel name\t: other\n"),
            "AMD EPYC 7763");
}

TEST(CpuModel, IsTheModelOfAnArmBoard) {
  EXPECT_EQ(parse_cpu_model("processor\t: 0\nCPU part\t: 0xd08\n\nHardware\t: BCM2835\n"
                            "Model\t\t: Raspberry Pi 4 Model B Rev 1.4\n"),
            "Raspberry Pi 4 Model B Rev 1.4");
}

TEST(CpuModel, IsEmptyWhenNothingNamesIt) {
  EXPECT_EQ(parse_cpu_model("processor\t: 0\nCPU part\t: 0xd08\n"), "");
  EXPECT_EQ(parse_cpu_model(""), "");
}

TEST(Steal, IsTheEighthNumberOfTheFirstLine) {
  EXPECT_EQ(parse_steal_ticks("cpu  100 2 30 4000 5 6 7 88 9 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n"), 88U);
}

TEST(Steal, IsUnknownWhenTheLineIsShortOrAnother) {
  EXPECT_EQ(parse_steal_ticks("cpu  100 2 30 4000 5 6 7\n"), std::nullopt);
  EXPECT_EQ(parse_steal_ticks("cpu0 100 2 30 4000 5 6 7 88 9 10\n"), std::nullopt);
  EXPECT_EQ(parse_steal_ticks(""), std::nullopt);
}

TEST(Steal, DoesNotShrink) {
  const auto before = read_steal_ms();
  const auto after = read_steal_ms();
  ASSERT_TRUE(before && after);
  EXPECT_GE(*after, *before);
}

TEST(PreemptRt, IsStatedByTheKernelsFileOrItsVersion) {
  EXPECT_TRUE(is_preempt_rt("1\n", "#1 SMP"));
  EXPECT_TRUE(is_preempt_rt("", "#1 SMP PREEMPT_RT Debian 6.1.90-1 (2024-05-03)"));
  EXPECT_TRUE(is_preempt_rt("", "#1 SMP PREEMPT RT Fri Jan 1 2021"));  // kernels before 5.15
  EXPECT_FALSE(is_preempt_rt("0\n", "#1 SMP PREEMPT_DYNAMIC"));
  EXPECT_FALSE(is_preempt_rt("", "#1 SMP PREEMPT_DYNAMIC"));
}

TEST(MachineContext, DescribesThisMachine) {
  utsname names{};
  ASSERT_EQ(uname(&names), 0);
  const MachineContext context = read_machine_context();
  EXPECT_THAT(context.kernel, StartsWith(names.release));
  EXPECT_GE(context.cpus, 1);
  EXPECT_FALSE(context.cpu_model.empty());
}

TEST(LockedMemory, IsNotThatOfOnePage) {
  alignas(4096) static char page[4096];
  page[0] = 1;
  if (mlock(page, sizeof page) != 0) {
    GTEST_SKIP() << "this process may lock no memory";
  }
  EXPECT_FALSE(memory_is_locked());
  munlock(page, sizeof page);
}

TEST(LockedMemory, IsAllOfIt) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizers lock no memory";
#endif
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    GTEST_SKIP() << "this process may not lock its memory";
  }
  EXPECT_TRUE(memory_is_locked());
  munlockall();
}

TEST(UtcNow, IsAnIso8601Time) {
  EXPECT_THAT(utc_now(), MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
}

}  // namespace
}  // namespace rclrt::recorder
