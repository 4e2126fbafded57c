// SPDX-License-Identifier: Apache-2.0
// What a recording leaves when its process is killed, and when the disk is full.
#include "rclrt/recorder/snapshot_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "found_robot.hpp"
#include "rclrt/recorder/results_directory.hpp"
#include "rclrt/recorder/results_writer.hpp"
#include "temporary_directory.hpp"

namespace rclrt::recorder {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Json = nlohmann::json;

/// A recording that is written while it goes on.
class Recorded {
 public:
  explicit Recorded(const std::filesystem::path& out)
      : frame_(frame_of(stated_robot(), 0)), stream_(frame_, 2, false, kSmall), writer_(out) {}

  /// Records so many periods, and writes the results so far. Returns what the writer returns.
  std::optional<std::string> record(int periods) {
    std::vector<LoggedInstance> instances;
    for (int i = 0; i < periods; ++i) {
      source_.next(instances);
    }
    stream_.add(instances);
    RunResults results = frame_;
    results.end = RunEnd::kRunning;
    results.window.end_ns = stream_.advance();
    stream_.fill(results, {true, true, true, true});
    return writer_.write(results);
  }

  std::string written() const { return writer_.written(); }

 private:
  std::mt19937 random_ = repeatable_random(1);
  RobotSource source_{random_};
  RunResults frame_;
  RecordingStream stream_;
  SnapshotWriter writer_;
};

/// Returns the status of a process that runs `task`; its result is the exit code.
int status_of(const std::function<int()>& task) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(task());
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

/// Mounts a file system of 4 MB that only this process sees. Returns false if that is not allowed.
bool mount_small_disk(const std::filesystem::path& place) {
  if (unshare(CLONE_NEWNS) != 0) {
    const std::string user = "0 " + std::to_string(getuid()) + " 1";
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
      return false;
    }
    std::ofstream("/proc/self/uid_map") << user;
  }
  return mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", place.c_str(), "tmpfs", 0, "size=4m") == 0;
}

Json json_of(const std::filesystem::path& directory) {
  return Json::parse(content_of(directory / kResultsFile));
}

TEST(SnapshotWriter, AProcessThatIsKilledLeavesWhatWasMeasured) {
  const TemporaryDirectory temporary("snapshot_writer_killed");
  const std::filesystem::path out = temporary.path() / "out";
  const int status = status_of([&] {
    Recorded recorded(out);
    for (int i = 0; i < 10; ++i) {
      if (recorded.record(500)) {
        return 1;
      }
    }
    // It dies while it writes: the directory is staged, and half of it is there.
    ResultsDirectory half(out);
    std::ofstream(half.staging() / kResultsFile) << "{";
    return std::raise(SIGKILL);
  });
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  const Json results = json_of(out);
  EXPECT_EQ(results["ended"], "running");
  // All but the second in which instances wait for those that started before them.
  EXPECT_GT(results["streamed"]["instances"].get<int>(), 4'500 * 4);
  EXPECT_GT(results["chains"][0]["completed"].get<int>(), 4'000);
  for (const char* const file : {kChainsFile, kInstancesFile, kHistogramsFile, kModelFile}) {
    EXPECT_GT(std::filesystem::file_size(out / file), 100U) << file;
  }
}

TEST(SnapshotWriter, AFullDiskIsReportedOnceAndKeepsTheEarlierResults) {
  const TemporaryDirectory temporary("snapshot_writer_full");
  constexpr int kNotAllowed = 77;
  const int status = status_of([&] {
    if (!mount_small_disk(temporary.path())) {
      return kNotAllowed;
    }
    const std::filesystem::path out = temporary.path() / "out";
    Recorded recorded(out);
    EXPECT_EQ(recorded.record(500), std::nullopt);
    const Json before = json_of(out);
    std::ofstream filler(temporary.path() / "filler");
    filler << std::string(std::size_t{8} << 20, 'x') << std::flush;
    EXPECT_FALSE(filler);
    const auto problem = recorded.record(500);
    EXPECT_TRUE(problem);
    EXPECT_THAT(problem.value_or(""), HasSubstr("No space left on device"));
    EXPECT_EQ(recorded.record(500), std::nullopt) << "a second failure in a row";
    EXPECT_EQ(json_of(out), before);
    EXPECT_THAT(recorded.written(), HasSubstr("; the results of the first 3 s are in "));
    EXPECT_EQ(names_in(temporary.path()), (std::set<std::string>{"filler", "out"}));
    filler.close();
    std::filesystem::remove(temporary.path() / "filler");
    EXPECT_EQ(recorded.record(500), std::nullopt);
    // It has the instances of the time in which the disk was full, too.
    EXPECT_GT(json_of(out)["chains"][0]["released"], 1'800);
    return testing::Test::HasFailure() ? 1 : 0;
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotAllowed) {
    GTEST_SKIP() << "this user may not mount a file system";
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(SnapshotWriter, OtherFilesInTheDirectoryStayAndNothingIsLeftBesideIt) {
  const TemporaryDirectory temporary("snapshot_writer_refused");
  const std::filesystem::path out = temporary.path() / "out";
  Recorded recorded(out);
  EXPECT_EQ(recorded.record(500), std::nullopt);
  const Json before = json_of(out);
  std::ofstream(out / "notes.txt") << "precious";
  EXPECT_THAT(recorded.record(500).value_or(""), HasSubstr("has \"notes.txt\""));
  EXPECT_EQ(recorded.record(500), std::nullopt) << "a second failure in a row";
  EXPECT_EQ(names_in(temporary.path()), (std::set<std::string>{"out"}));
  EXPECT_EQ(json_of(out), before);
  EXPECT_EQ(content_of(out / "notes.txt"), "precious");
  std::filesystem::remove(out / "notes.txt");
  EXPECT_EQ(recorded.record(500), std::nullopt);
  EXPECT_NE(json_of(out), before);
}

TEST(SnapshotWriter, SaysNothingOfResultsThatDoNotExist) {
  EXPECT_THAT(SnapshotWriter("/nonexistent/out").written(), IsEmpty());
}

}  // namespace
}  // namespace rclrt::recorder
