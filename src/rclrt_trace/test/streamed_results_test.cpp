// SPDX-License-Identifier: Apache-2.0
// Results of traces of any length: the same counts and times as with all runs in memory.
#include "streamed_results.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "long_trace.hpp"
#include "traced_results.hpp"

namespace rclrt::trace {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kIterations = 2'000;

struct Imported {
  recorder::RunResults results;
  std::vector<std::string> notes{};
};

Imported import(const fs::path& directory, const RunLimits& limits,
                const ReadAgain& read_again = {}) {
  TracedSystem system(limits);
  const ReadCounts counts =
      read_trace(directory, [&](const TraceEvent& event) { system.take(event); });
  system.finish();
  TracedModel model = build_model(system, "robot");
  Imported result;
  const ReadAgain read = [&](const auto& handle) { read_trace(directory, handle); };
  result.results = system.streams()
                       ? stream_results(system, std::move(model), model::ExecutorKind::kWaitSet,
                                        counts, read_again ? read_again : read, result.notes)
                       : trace_results(system, std::move(model), model::ExecutorKind::kWaitSet,
                                       counts, result.notes);
  return result;
}

class StreamedResults : public testing::Test {
 protected:
  void SetUp() override { LongTrace(path_).write(kIterations, 100'000); }
  void TearDown() override { fs::remove_all(path_); }

  const fs::path path_ =
      fs::temp_directory_path() / ("rclrt_streamed_results_" + std::to_string(getpid()));
  static constexpr RunLimits kFew{.all = 600, .latest = 200};
};

void expect_equal(const std::optional<recorder::Summary>& exact,
                  const std::optional<recorder::Summary>& streamed) {
  ASSERT_TRUE(exact && streamed);
  EXPECT_EQ(streamed->count, exact->count);
  EXPECT_EQ(streamed->best_ns, exact->best_ns);
  EXPECT_EQ(streamed->worst_ns, exact->worst_ns);
  EXPECT_NEAR(streamed->mean_ns, exact->mean_ns, 1);
  EXPECT_GE(streamed->p99_ns, exact->p99_ns);
  EXPECT_LE(static_cast<double>(streamed->p99_ns), 1.001 * static_cast<double>(exact->p99_ns) + 1);
}

TEST_F(StreamedResults, HaveTheCountsAndTimesOfAllRuns) {
  const Imported exact = import(path_, {});
  const Imported streamed = import(path_, kFew);
  EXPECT_EQ(streamed.notes, exact.notes);
  const recorder::RunResults& one = exact.results;
  const recorder::RunResults& other = streamed.results;
  EXPECT_FALSE(one.streamed);
  ASSERT_TRUE(other.streamed);
  EXPECT_EQ(other.streamed->instances, 4 * kIterations);
  EXPECT_EQ(other.window.start_ns, one.window.start_ns);
  EXPECT_EQ(other.window.end_ns, one.window.end_ns);
  ASSERT_EQ(one.chains.size(), 2U);
  ASSERT_EQ(other.chains.size(), 2U);
  for (std::size_t i = 0; i < one.chains.size(); ++i) {
    EXPECT_EQ(other.chains[i].released, one.chains[i].released);
    EXPECT_EQ(one.chains[i].completed, kIterations);
    EXPECT_EQ(other.chains[i].completed, one.chains[i].completed);
    EXPECT_EQ(other.chains[i].missed, one.chains[i].missed);
    expect_equal(one.chains[i].response, other.chains[i].response);
  }
  ASSERT_EQ(one.callbacks.size(), 4U);
  for (std::size_t i = 0; i < one.callbacks.size(); ++i) {
    EXPECT_EQ(other.callback_counts[i].released, one.callback_counts[i].released);
    EXPECT_EQ(other.callback_counts[i].completed, kIterations);
    expect_equal(one.callbacks[i].response, other.callbacks[i].response);
    expect_equal(one.callbacks[i].execution, other.callbacks[i].execution);
  }
}

TEST_F(StreamedResults, ATraceThatHasChangedIsRefused) {
  const ReadAgain read_another = [this](const auto& handle) {
    read_trace(path_, [&](const TraceEvent& event) {
      TraceEvent changed = event;
      changed.tid += event.kind == EventKind::kCallbackStart ? event.time_ns % 1000 : 0;
      handle(changed);
      changed.kind = event.kind == EventKind::kCallbackStart ? EventKind::kCallbackEnd : event.kind;
      handle(changed);
    });
  };
  EXPECT_THAT([&] { import(path_, kFew, read_another); },
              testing::ThrowsMessage<TraceError>(testing::HasSubstr("changed while it was read")));
}

}  // namespace
}  // namespace rclrt::trace
