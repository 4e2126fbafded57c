// SPDX-License-Identifier: Apache-2.0
// Exchange between the processes of this machine about their published messages.
#include "origin_segments.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "origins.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt_robot::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

namespace fs = std::filesystem;

/// Returns a domain for this process alone, which is no DDS domain.
std::size_t domain() {
  static const std::size_t result = 100'000 + static_cast<std::size_t>(getpid());
  return result;
}

/// Returns the identifiers of the existing segments that this process has made.
std::vector<int> segments_of(pid_t process) {
  std::vector<int> result;
  shm_info info{};
  const int last = shmctl(0, SHM_INFO, reinterpret_cast<shmid_ds*>(&info));
  for (int index = 0; index <= last; ++index) {
    shmid_ds status{};
    const int number = shmctl(index, SHM_STAT, &status);
    if (number >= 0 && status.shm_cpid == process) {
      result.push_back(number);
    }
  }
  return result;
}
std::vector<int> own_segments() { return segments_of(getpid()); }

std::int64_t realtime_ns() { return rclrt::realtime::read_clock_ns(CLOCK_REALTIME); }

class OriginSegmentsTest : public ::testing::Test {
 protected:
  std::vector<std::shared_ptr<const OriginMapping>> of(const std::string& node) {
    segments_.scan();
    return segments_.of(node);
  }

  OriginSegments segments_{domain()};
};

TEST_F(OriginSegmentsTest, WhatOneTellsTheOtherReads) {
  SegmentWriter writer(domain(), "/robot/filter");
  EXPECT_TRUE(of("/robot").empty());
  EXPECT_TRUE(of("/filter").empty());
  const auto found = of("/robot/filter");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(writer.is_wanted(5));
  found.front()->ring().want_until(10);
  EXPECT_TRUE(writer.is_wanted(5));

  void* const place = writer.begin({42, true});
  ASSERT_NE(place, nullptr);
  const std::int64_t published_ns = realtime_ns();
  writer.end(place);
  const auto instance = found.front()->ring().find(published_ns);
  ASSERT_TRUE(instance);
  EXPECT_EQ(instance->origin_ns, pack({42, true}));
  EXPECT_FALSE(found.front()->ring().find(realtime_ns() + 1));
}

TEST(Origin, IsOneNumber) {
  for (const Origin each : {Origin{}, Origin{42, true}, Origin{42, false}, Origin{INT64_MAX, true},
                            Origin{INT64_MAX, false}}) {
    const Origin same = unpack(pack(each));
    EXPECT_EQ(same.since_ns, each.since_ns);
    EXPECT_EQ(same.is_whole, each.is_whole);
  }
  EXPECT_EQ(unpack(INT64_MIN).since_ns, 0) << "another process may have written it";
}

TEST_F(OriginSegmentsTest, AnotherLookFindsTheSameMapping) {
  const SegmentWriter writer(domain(), "/node");
  const auto first = of("/node");
  EXPECT_EQ(of("/node"), first);
}

TEST_F(OriginSegmentsTest, NodesOfOneNameAreAllFound) {
  const SegmentWriter one(domain(), "/node");
  const SegmentWriter two(domain(), "/node");
  EXPECT_EQ(of("/node").size(), 2U);
}

TEST_F(OriginSegmentsTest, AnotherDomainIsNotSeen) {
  const SegmentWriter writer(domain(), "/node");
  OriginSegments other(domain() * 10);
  other.scan();
  EXPECT_TRUE(other.of("/node").empty());
}

TEST_F(OriginSegmentsTest, IsGoneWithItsNodeButReadableByThoseWhoHaveIt) {
  auto writer = std::make_unique<SegmentWriter>(domain(), "/node");
  const auto found = of("/node");
  ASSERT_EQ(found.size(), 1U);
  writer.reset();
  EXPECT_TRUE(of("/node").empty());
  EXPECT_FALSE(found.front()->ring().find(realtime_ns()));
}

TEST_F(OriginSegmentsTest, IsOfThisUserAloneAndGoesWithTheLastWhoHasIt) {
  {
    const SegmentWriter writer(domain(), "/node");
    ASSERT_EQ(own_segments().size(), 1U);
    shmid_ds status{};
    ASSERT_EQ(shmctl(own_segments().front(), IPC_STAT, &status), 0);
    EXPECT_EQ(status.shm_perm.mode & 0777U, 0600U);
    EXPECT_NE(status.shm_perm.mode & SHM_DEST, 0U) << "the kernel removes it";
  }
  EXPECT_TRUE(own_segments().empty());
}

TEST_F(OriginSegmentsTest, NobodyCanTakeItsMemoryAway) {
  // A file in /dev/shm could be truncated by any process of this user: SIGBUS in a callback.
  SegmentWriter writer(domain(), "/node");
  const auto found = of("/node");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(shmctl(own_segments().front(), IPC_RMID, nullptr), 0);
  for (const auto& each : fs::directory_iterator("/dev/shm")) {
    EXPECT_EQ(each.path().string().find("rclrt-origins"), std::string::npos) << each.path();
  }
  void* const place = writer.begin({42, true});
  ASSERT_NE(place, nullptr);
  writer.end(place);
  EXPECT_FALSE(found.front()->ring().find(realtime_ns() + 1));
}

TEST_F(OriginSegmentsTest, OfAProcessThatWasKilledNothingIsUsedAndNothingStays) {
  const SegmentWriter own(domain(), "/own");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::size_t of_parent = domain();
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    SegmentWriter writer(of_parent, "/killed");
    writer.begin({1, true});  // which never ends
    const char done = 1;
    (void)!write(ends[1], &done, 1);
    pause();
    _exit(0);
  }
  ASSERT_GT(child, 0);
  close(ends[1]);
  char done = 0;
  EXPECT_EQ(read(ends[0], &done, 1), 1);
  close(ends[0]);
  auto found = of("/killed");
  EXPECT_EQ(found.size(), 1U);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(of("/killed").empty()) << "though this process has it attached";
  EXPECT_EQ(of("/own").size(), 1U);
  found.clear();
  EXPECT_TRUE(segments_of(child).empty());
}

TEST_F(OriginSegmentsTest, WhatIsNoSuchSegmentIsNotUsed) {
  const SegmentWriter writer(domain(), "/node");
  shmid_ds status{};
  ASSERT_EQ(shmctl(own_segments().front(), IPC_STAT, &status), 0);
  const std::size_t size = status.shm_segsz;
  std::vector<void*> attached;
  for (const auto& [bytes, content] :
       {std::pair(size, 'x'), {size, '\0'}, {size - 1, '\0'}, {size + 1, '\0'}, {1, 'x'}}) {
    const int number = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
    ASSERT_GE(number, 0);
    void* const address = shmat(number, nullptr, 0);
    shmctl(number, IPC_RMID, nullptr);
    ASSERT_NE(address, reinterpret_cast<void*>(-1));
    std::memset(address, content, bytes);
    attached.push_back(address);
  }
  EXPECT_EQ(of("/node").size(), 1U);
  EXPECT_TRUE(of("").empty());
  EXPECT_TRUE(of(std::string(512, 'x')).empty());
  for (void* const each : attached) {
    shmdt(each);
  }
}

TEST_F(OriginSegmentsTest, ANameThatIsTooLongIsRefused) {
  EXPECT_THAT([&] { SegmentWriter(domain(), "/" + std::string(600, 'n')); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("is too long")));
  EXPECT_TRUE(own_segments().empty());
}

}  // namespace
}  // namespace rclrt_robot::test
