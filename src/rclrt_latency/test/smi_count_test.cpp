// SPDX-License-Identifier: Apache-2.0
#include "smi_count.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace rclrt::latency {
namespace {

class SmiCount : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(devices_); }

  /// Makes a file that is read as the registers of a CPU.
  void make_registers(int cpu, std::uint64_t smi_count) const {
    const auto directory = devices_ / std::to_string(cpu);
    std::filesystem::create_directories(directory);
    std::string registers(0x34, '\xff');
    registers.resize(registers.size() + sizeof smi_count);
    std::memcpy(registers.data() + 0x34, &smi_count, sizeof smi_count);
    std::ofstream(directory / "msr", std::ios::binary) << registers;
  }

  const std::filesystem::path devices_ =
      std::filesystem::path(testing::TempDir()) /
      ("smi_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(SmiCount, IsThatOfTheCpuThatHadMost) {
  make_registers(0, 17);
  make_registers(3, 19);
  EXPECT_EQ(read_smi_count(std::vector{0, 3}, devices_), 19U);
}

TEST_F(SmiCount, HasThirtyTwoBits) {
  make_registers(0, 0xABCD'0000'0007U);
  EXPECT_EQ(read_smi_count(std::vector{0}, devices_), 7U);
}

TEST_F(SmiCount, IsUnknownWhereOneCpuHasNone) {
  make_registers(0, 17);
  EXPECT_EQ(read_smi_count(std::vector{0, 1}, devices_), std::nullopt);
}

}  // namespace
}  // namespace rclrt::latency
