// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/results_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <locale>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>

#include "rclrt/recorder/observed_model.hpp"
#include "sample_results.hpp"
#include "temporary_directory.hpp"

namespace rclrt::recorder {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

json parsed(const RunResults& results) { return json::parse(results_json(results)); }

TEST(ResultsJson, StatesTheRunAndItsApplication) {
  const json results = parsed(sample_results());
  EXPECT_EQ(results["rclrt_results"], 1);
  EXPECT_EQ(results["application"], (json{{"name", "vehicle"},
                                          {"file", "examples/vehicle/app.yaml"},
                                          {"sha256", std::string(64, '0')}}));
  EXPECT_EQ(results["executor"], "wait_set");
  EXPECT_EQ(results["executor_label"], "wait set (rclcpp semantics)");
  EXPECT_EQ(results["started_utc"], "2026-01-02T03:04:05Z");
  EXPECT_EQ(results["duration_s"], 0.1);
  EXPECT_EQ(results["rounds"], 1);
  EXPECT_EQ(results["t0_monotonic_ns"], kSampleStart);
}

TEST(ResultsJson, StatesTheContext) {
  EXPECT_EQ(parsed(sample_results())["context"], json::parse(R"({
    "kernel": "6.1.0 #1 SMP PREEMPT_RT", "cpus": 2, "cpu_model": "Model", "preempt_rt": true,
    "realtime": true, "realtime_reason": "SCHED_FIFO permitted", "memory_locked": true,
    "rmw": "rmw_fastrtps_cpp", "ros_distro": "jazzy",
    "versions": {"rcl": "9.2.8", "rclrt": "1.2.3"}, "steal_ms": 1.5,
    "host_stalls": {"count": 1, "total_ms": 30.0, "worst_ms": 30.0, "threshold_ms": 0.5,
                    "valid": true},
    "held_back": {"count": 0, "total_ms": 0.0, "worst_ms": 0.0, "limit": null},
    "records_dropped": 3, "foreign_messages": 2})"));
}

TEST(ResultsJson, KeepsWhatTheKernelHeldBackApartFromTheHostsStalls) {
  RunResults results = sample_results();
  results.host_stalls.limit = "100000 us of every 1000000 us, kernel.sched_rt_runtime_us";
  constexpr std::int64_t kMs = 1'000'000;
  results.host_stalls.stalls = {
      // 3 ms of the host, and 50 of the kernel; the kernel alone; below the threshold of 0.5 ms
      // each
      {.cpu = 0, .start_ns = 0, .end_ns = 53 * kMs, .waited_ns = 50 * kMs},
      {.cpu = 0, .start_ns = 60 * kMs, .end_ns = 70 * kMs, .waited_ns = 10 * kMs},
      {.cpu = 1, .start_ns = 0, .end_ns = 700'000, .waited_ns = 350'000}};
  const json context = parsed(results)["context"];
  EXPECT_EQ(context["host_stalls"], json::parse(R"({"count": 1, "total_ms": 3.0, "worst_ms": 3.0,
                                                    "threshold_ms": 0.5, "valid": true})"));
  EXPECT_EQ(context["held_back"], json::parse(R"({"count": 2, "total_ms": 60.0, "worst_ms": 50.0,
      "limit": "100000 us of every 1000000 us, kernel.sched_rt_runtime_us"})"));
}

TEST(ResultsJson, BlamesNoHostWhenTheProbeWasNotValid) {
  RunResults results = sample_results();
  results.host_stalls.valid = false;
  results.host_stalls.lost = 7;
  EXPECT_EQ(parsed(results)["context"]["host_stalls"],
            json::parse(R"({"count": 0, "total_ms": 0.0, "worst_ms": 0.0, "threshold_ms": 0.5,
                            "valid": false})"));
}

TEST(ObservedModel, HasTheTimesThatWereRecordedAndKeepsWhatNeverRan) {
  RunResults results = sample_results();
  for (InstanceRecord& record : results.records) {
    record.cpu_ns = record.end_ns - record.start_ns;
  }
  const model::Application observed = observed_model(results);
  ASSERT_TRUE(observed.callbacks[kFuse].observed);
  // It took 3 and 3.25 ms; instances that only buffered do not count.
  EXPECT_EQ(observed.callbacks[kFuse].observed->n, 2U);
  EXPECT_EQ(observed.callbacks[kFuse].observed->p50.count(), 3'000'000);
  EXPECT_EQ(observed.callbacks[kFuse].observed->max.count(), 3'250'000);
  EXPECT_EQ(observed.callbacks[kFuse].wcet.count(), 3'250'000);
  results.records.clear();
  EXPECT_EQ(observed_model(results), results.application);
}

TEST(ResultsJson, CountsStallsThatWereNotKept) {
  RunResults results = sample_results();
  results.host_stalls.lost = 7;
  EXPECT_EQ(parsed(results)["context"]["host_stalls"]["count"], 8);
}

TEST(ResultsJson, StatesEveryChain) {
  const json chains = parsed(sample_results())["chains"];
  ASSERT_EQ(chains.size(), 2U);
  // Responses of 9 and 44.25 ms: mean 26.625; 44.25 / 40 = 1.10625.
  EXPECT_EQ(chains[0], json::parse(R"({
    "id": "obstacle", "priority": 2, "period_ms": 50.0, "deadline_ms": 40.0,
    "callbacks": ["scan", "fuse", "brake"],
    "released": 2, "completed": 2, "dropped": 0, "unmatched": 0, "pending": 0,
    "missed": 1, "missed_host": 1,
    "response_ms": {"best": 9.0, "mean": 26.625, "p50": 9.0, "p99": 44.25, "worst": 44.25},
    "normalised_worst": 1.10625, "jitter_ms": 35.25})"));
  EXPECT_EQ(chains[1]["pending"], 1);
  EXPECT_EQ(chains[1]["response_ms"]["worst"], 20.0);
}

TEST(ResultsJson, StatesNoTimesOfAChainThatNeverCompleted) {
  RunResults results = sample_results();
  results.chains[0].response.reset();
  const json chain = parsed(results)["chains"][0];
  EXPECT_TRUE(chain["response_ms"].is_null());
  EXPECT_TRUE(chain["normalised_worst"].is_null());
  EXPECT_TRUE(chain["jitter_ms"].is_null());
}

TEST(ResultsJson, StatesEveryCallback) {
  const json callbacks = parsed(sample_results())["callbacks"];
  ASSERT_EQ(callbacks.size(), 5U);
  EXPECT_EQ(callbacks[kFuse], json::parse(R"({
    "id": "fuse", "node": "sensors", "kind": "sync", "priority": 2, "kernel_priority": 82,
    "released": 4, "completed": 3, "dropped": 0, "missed": 0,
    "response_ms": {"best": 3.0, "mean": 3.125, "p50": 3.0, "p99": 3.25, "worst": 3.25},
    "dispatch_ms": {"best": 0.0, "mean": 0.0, "p50": 0.0, "p99": 0.0, "worst": 0.0},
    "execution_ms": {"best": 3.0, "mean": 3.125, "p50": 3.0, "p99": 3.25, "worst": 3.25},
    "jitter_ms": 0.25, "preemptions": 2, "migrations": 2})"));
  EXPECT_EQ(callbacks[kScan]["kind"], "timer");
  EXPECT_EQ(callbacks[kPlan]["kind"], "subscription");
  EXPECT_EQ(callbacks[kPlan]["node"], "planner");
  EXPECT_EQ(callbacks[kPlan]["priority"], 1);
  EXPECT_TRUE(callbacks[kPlan]["kernel_priority"].is_null());
}

TEST(ResultsJson, StatesNoMigrationsOfCallbacksWithoutKnownCpus) {
  RunResults results = sample_results();
  EXPECT_EQ(parsed(results)["callbacks"][kScan]["migrations"], 0);
  EXPECT_EQ(parsed(results)["callbacks"][kBrake]["migrations"], 1);
  for (InstanceRecord& record : results.records) {
    record.first_cpu = kUnknownCpu;
  }
  results.callbacks =
      account_callbacks(results.application.callbacks.size(), results.records, results.cpu_parts);
  EXPECT_FALSE(parsed(results)["callbacks"][kScan].contains("migrations"));
}

TEST(ResultsJson, StatesMissesWithTheirBlame) {
  RunResults results = sample_results();
  results.callback_counts[kBrake].missed = 7;
  results.misses = {{.chain = kObstacle,
                     .instance = results.chains[kObstacle].instances[1],
                     .late_ns = 4'250'000,
                     .execution_ns = 41'250'000,
                     .delayed_ns = 3'000'000,
                     .culprits = {{.record = 7,
                                   .time_ns = 3'000'000,
                                   .cpu_ns = 2'000'000,
                                   .reason = executor::Reason::kSameLevel}}}};
  const json all = parsed(results);
  EXPECT_EQ(all["callbacks"][kBrake]["missed"], 7);
  EXPECT_EQ(all["misses"], json::parse(R"json([{
    "chain": "obstacle", "instance": 1, "release_ms": 50.0, "status": "late",
    "response_ms": 44.25, "execution_ms": 41.25, "delayed_ms": 3.0, "transit_ms": 0.0,
    "unexplained_ms": 0.0, "host_stall_ms": 30.0,
    "culprits": [{"callback": "capture", "instance": 7, "priority": 2, "reason": "same level",
                  "time_ms": 3.0, "cpu_ms": 2.0}],
    "text": "chain obstacle instance 1 missed by 4.25 ms: 3 ms capture#7 (priority 2, same level), 41.2 ms its own, 0 ms unexplained (host stalls: 30 ms)"}])json"));
}

TEST(ResultsJson, StatesEveryThread) {
  EXPECT_EQ(parsed(sample_results())["threads"], json::parse(R"([
    {"name": "main L2", "tid": 4711, "policy": "fifo", "priority": 82, "cpus": [1]},
    {"name": "slow L1", "tid": 4712, "policy": "other", "priority": 0, "cpus": []}])"));
}

TEST(ResultsJson, WritesTimesWithTheDigitsOfNanoseconds) {
  RunResults results = sample_results();
  results.chains[0].response = Summary{.best_ns = 1,
                                       .mean_ns = 1.0 / 3,
                                       .p50_ns = 123'456'789,
                                       .p99_ns = 100'000,
                                       .worst_ns = 3'600'000'000'001,
                                       .count = 1};
  EXPECT_THAT(results_json(results),
              HasSubstr("\"best\": 1e-06,\n        \"mean\": 0.0,\n        \"p50\": 123.456789,\n"
                        "        \"p99\": 0.1,\n        \"worst\": 3600000.000001\n"));
}

TEST(ResultsJson, ReplacesBytesThatAreNotUtf8) {
  RunResults results = sample_results();
  results.application_file = "bad\xFFname";
  EXPECT_EQ(parsed(results)["application"]["file"], "bad\xEF\xBF\xBDname");
}

TEST(ChainsCsv, HasARowPerChainInstance) {
  std::ostringstream out;
  write_chains_csv(out, sample_results());
  // Planning 1: pending at 100 ms, 30 ms of its 50 ms stalled; "plan" may run on any CPU.
  EXPECT_EQ(out.str(),
            "chain,instance,release_ns,completion_ns,response_ns,status,host_stall_ns\n"
            "obstacle,0,0,9000000,9000000,completed,0\n"
            "obstacle,1,50000000,94250000,44250000,late,30000000\n"
            "planning,0,0,20000000,20000000,completed,0\n"
            "planning,1,50000000,,,pending,30000000\n");
}

TEST(InstancesCsv, HasARowPerCallbackInstance) {
  std::ostringstream out;
  RunResults results = sample_results();
  results.records[0].release_ns -= 1'000'000'500;  // before the start of the window
  write_instances_csv(out, results);
  EXPECT_THAT(
      out.str(),
      testing::StartsWith(
          "id,callback,priority,thread,release_ns,ready_ns,start_ns,end_ns,cpu_ns,preemptions,"
          "outcome,tokens,cpus\n"
          "0,scan,2,main L2 #0,-1000000500,0,0,2000000,2000000,0,ran,obstacle:0,1\n"
          "1,fuse,2,main L2 #0,2000000,2000000,2000000,2010000,10000,0,buffered,obstacle:0,\n"
          "2,capture,2,main L2 #0,2010000,2010000,2010000,5000000,2990000,0,ran,planning:0,1\n"
          "3,fuse,2,main L2 #0,5000000,5000000,5000000,8000000,3000000,0,ran,"
          "obstacle:0;planning:0,1\n"));
}

TEST(InstancesCsv, HasTheCpusOfInstancesThatMoved) {
  std::ostringstream out;
  write_instances_csv(out, sample_results());
  EXPECT_THAT(out.str(), HasSubstr(",ran,obstacle:1;planning:1,"
                                   "1:90000000-91000000;0:91000000-92000000;1:92000000-93250000\n"
                                   "9,"));
  EXPECT_THAT(out.str(), testing::EndsWith(",94250000,1000000,0,ran,obstacle:1;planning:1,1;0\n"));
}

TEST(StallsCsv, HasARowPerStallOfTheHostAndNoneThatAnotherThreadMayHaveCaused) {
  RunResults results = sample_results();
  std::ostringstream out;
  write_stalls_csv(out, results);
  EXPECT_EQ(out.str(), "cpu,start_ns,end_ns,waited_ns\n1,55000000,85000000,0\n");
  results.host_stalls.valid = false;
  std::ostringstream nothing;
  write_stalls_csv(nothing, results);
  EXPECT_EQ(nothing.str(), "cpu,start_ns,end_ns,waited_ns\n");
}

TEST(Csv, DoesNotFollowTheProgramsLocale) {
  struct Grouping : std::numpunct<char> {
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::ostringstream out;
  out.imbue(std::locale(std::locale::classic(), new Grouping));
  write_chains_csv(out, sample_results());
  EXPECT_THAT(out.str(), HasSubstr("obstacle,0,0,9000000,9000000,completed,0\n"));
}

TEST(Csv, QuotesNamesThatHoldItsOwnSigns) {
  RunResults results = sample_results();
  results.thread_tracks[0] = "main, \"fast\"\nL2 #0";
  results.application.chains[0].id = "a,b";
  std::ostringstream instances;
  write_instances_csv(instances, results);
  EXPECT_THAT(
      instances.str(),
      HasSubstr(
          "\n0,scan,2,\"main, \"\"fast\"\"\nL2 #0\",0,0,0,2000000,2000000,0,ran,\"a,b:0\",1\n"));
  std::ostringstream chains;
  write_chains_csv(chains, results);
  EXPECT_THAT(chains.str(), HasSubstr("\n\"a,b\",0,0,9000000,9000000,completed,0\n"));
}

class ResultsFiles : public testing::Test {
 protected:
  const TemporaryDirectory directory_{"results_writer_test"};
};

TEST_F(ResultsFiles, HoldTheJsonAndTheThreeTables) {
  const RunResults results = sample_results();
  write_results(directory_.path(), results);
  EXPECT_THAT(
      names_in(directory_.path()),
      ElementsAre("chains.csv", "instances.csv", "observed.yaml", "results.json", "stalls.csv"));
  EXPECT_EQ(content_of(directory_.path() / "results.json"), results_json(results));
  std::ostringstream chains;
  write_chains_csv(chains, results);
  EXPECT_EQ(content_of(directory_.path() / "chains.csv"), chains.str());
}

TEST_F(ResultsFiles, AreRefusedByNameWhereThereIsNoDirectory) {
  try {
    write_results(directory_.path() / "none", sample_results());
    FAIL() << "expected std::system_error";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ENOENT);
    EXPECT_THAT(error.what(), HasSubstr("none/results.json"));
  }
}

TEST_F(ResultsFiles, ReportADiskWithoutRoomAndLeaveNothing) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{.rlim_cur = 10, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  std::error_code code;
  std::string text;
  try {
    write_results(directory_.path(), sample_results());
  } catch (const std::system_error& error) {
    code = error.code();
    text = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old);
  EXPECT_EQ(code.value(), EFBIG);
  EXPECT_THAT(text, AllOf(HasSubstr("results.json: "), HasSubstr("; make room on its disk")));
  EXPECT_THAT(names_in(directory_.path()), IsEmpty());
}

TEST_F(ResultsFiles, AreNotWrittenThroughALink) {
  const std::filesystem::path victim = directory_.path() / "victim";
  std::ofstream(victim) << "untouched";
  std::filesystem::create_symlink(victim, directory_.path() / "chains.csv");
  write_results(directory_.path(), sample_results());
  EXPECT_EQ(content_of(victim), "untouched");
  EXPECT_THAT(content_of(directory_.path() / "chains.csv"), HasSubstr("release_ns"));
}

TEST_F(ResultsFiles, AreRefusedForResultsThatDoNotFitTheApplication) {
  RunResults results = sample_results();
  results.chains.pop_back();
  EXPECT_THAT(
      [&] { write_results(directory_.path(), results); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("results have 1 chain results; expected 2")));
  results = sample_results();
  results.records[0].thread_track = 9;
  EXPECT_THAT([&] { write_results(directory_.path(), results); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("is of a callback or thread track that does not exist")));
}

}  // namespace
}  // namespace rclrt::recorder
