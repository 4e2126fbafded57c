// SPDX-License-Identifier: Apache-2.0
// What processes of this machine tell each other of the messages that they publish.
#include "origin_files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "origins.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt_rclcpp::test {
namespace {

namespace fs = std::filesystem;

/// Of this process alone, and of no DDS domain.
std::size_t domain() {
  static const std::size_t result = 100'000 + static_cast<std::size_t>(getpid());
  return result;
}

std::string prefix() {
  struct stat network{};
  stat("/proc/self/ns/net", &network);
  return "rclrt-origins." + std::to_string(geteuid()) + "." + std::to_string(network.st_ino) + "." +
         std::to_string(domain()) + ".";
}

std::vector<fs::path> files() {
  std::vector<fs::path> result;
  for (const auto& each : fs::directory_iterator("/dev/shm")) {
    if (each.path().filename().string().starts_with(prefix())) {
      result.push_back(each.path());
    }
  }
  return result;
}

std::int64_t realtime_ns() { return rclrt::realtime::read_clock_ns(CLOCK_REALTIME); }

class OriginFilesTest : public ::testing::Test {
 protected:
  ~OriginFilesTest() override {
    for (const fs::path& each : files()) {
      fs::remove(each);
    }
  }

  std::vector<std::shared_ptr<const OriginMapping>> of(const std::string& node) {
    files_.look();
    return files_.of(node);
  }

  OriginFiles files_{domain()};
};

TEST_F(OriginFilesTest, WhatOneTellsTheOtherReads) {
  OriginWriter writer(domain(), "/robot/filter");
  EXPECT_TRUE(of("/robot").empty());
  EXPECT_TRUE(of("/filter").empty());
  const auto found = of("/robot/filter");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(writer.is_wanted(5));
  found.front()->ring().want_until(10);
  EXPECT_TRUE(writer.is_wanted(5));

  OriginRing::Place* const place = writer.begin({42, true});
  ASSERT_NE(place, nullptr);
  const std::int64_t published_ns = realtime_ns();
  OriginWriter::end(*place);
  const auto instance = found.front()->ring().find(published_ns);
  ASSERT_TRUE(instance);
  EXPECT_EQ(instance->origin_ns, (Origin{42, true}.packed()));
  EXPECT_FALSE(found.front()->ring().find(realtime_ns() + 1));
}

TEST(Origin, IsOneNumber) {
  for (const Origin each : {Origin{}, Origin{42, true}, Origin{42, false}, Origin{INT64_MAX, true},
                            Origin{INT64_MAX, false}}) {
    const Origin same = Origin::of_packed(each.packed());
    EXPECT_EQ(same.since_ns, each.since_ns);
    EXPECT_EQ(same.is_whole, each.is_whole);
  }
  EXPECT_EQ(Origin::of_packed(INT64_MIN).since_ns, 0) << "another process may have written it";
}

TEST_F(OriginFilesTest, AnotherLookFindsTheSameMapping) {
  const OriginWriter writer(domain(), "/node");
  const auto first = of("/node");
  EXPECT_EQ(of("/node"), first);
}

TEST_F(OriginFilesTest, NodesOfOneNameAreAllFound) {
  const OriginWriter one(domain(), "/node");
  const OriginWriter two(domain(), "/node");
  EXPECT_EQ(of("/node").size(), 2U);
}

TEST_F(OriginFilesTest, AnotherDomainIsNotSeen) {
  const OriginWriter writer(domain(), "/node");
  OriginFiles other(domain() * 10);
  other.look();
  EXPECT_TRUE(other.of("/node").empty());
}

TEST_F(OriginFilesTest, IsGoneWithItsNodeButReadableByThoseWhoHaveIt) {
  auto writer = std::make_unique<OriginWriter>(domain(), "/node");
  const auto found = of("/node");
  ASSERT_EQ(found.size(), 1U);
  writer.reset();
  EXPECT_TRUE(files().empty());
  EXPECT_TRUE(of("/node").empty());
  EXPECT_FALSE(found.front()->ring().find(realtime_ns()));
}

TEST_F(OriginFilesTest, IsOfThisUserAlone) {
  const OriginWriter writer(domain(), "/node");
  ASSERT_EQ(files().size(), 1U);
  struct stat status{};
  ASSERT_EQ(stat(files().front().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(OriginFilesTest, AFileOfAProcessThatWasKilledIsRemovedAndOthersStay) {
  const OriginWriter own(domain(), "/own");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::size_t of_parent = domain();
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    OriginWriter writer(of_parent, "/killed");
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
  OriginFiles::remove_abandoned();
  EXPECT_EQ(files().size(), 2U) << "both live";
  // Of an executor that is asked for something.
  Changes changes;
  Origins origins(domain(), changes);
  const auto topic = origins.topic("/topic", nullptr);
  topic->find({}, 1, rclrt::realtime::monotonic_now_ns());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  origins.look();
  ASSERT_EQ(files().size(), 1U);
  EXPECT_EQ(of("/own").size(), 1U);
  EXPECT_TRUE(of("/killed").empty());
}

TEST_F(OriginFilesTest, WhatIsNoSuchFileIsNotUsed) {
  const OriginWriter writer(domain(), "/node");
  const fs::path real = files().front();
  const auto size = fs::file_size(real);
  const fs::path directory = "/dev/shm";
  std::ofstream(directory / (prefix() + "1.0")) << "short";
  std::ofstream(directory / (prefix() + "1.1")) << std::string(size, 'x');
  std::ofstream(directory / (prefix() + "1.2")) << std::string(size, '\0');
  fs::create_directory(directory / (prefix() + "1.3"));
  fs::create_symlink(real, directory / (prefix() + "1.4"));
  ASSERT_EQ(mkfifo((directory / (prefix() + "1.5")).c_str(), 0600), 0);
  EXPECT_EQ(of("/node").size(), 1U);
  EXPECT_TRUE(of("").empty());
  EXPECT_TRUE(of(std::string(512, 'x')).empty());
  OriginFiles::remove_abandoned();  // the files that nobody has; not the rest
  EXPECT_TRUE(fs::exists(real));
  EXPECT_FALSE(fs::exists(directory / (prefix() + "1.0")));
}

TEST_F(OriginFilesTest, ANameThatIsTooLongIsRefused) {
  EXPECT_THROW(OriginWriter(domain(), "/" + std::string(600, 'n')), std::invalid_argument);
  EXPECT_TRUE(files().empty());
}

}  // namespace
}  // namespace rclrt_rclcpp::test
