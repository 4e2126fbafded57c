// SPDX-License-Identifier: Apache-2.0
#include "exercise/session.hpp"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/process.hpp"
#include "rclrt/realtime/replacing_file.hpp"
#include "rclrt/realtime/stop_signal.hpp"

namespace rclrt::demos {

namespace {

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

/// Opens an output file before the run, so that a wrong name is reported early.
std::unique_ptr<realtime::ReplacingFile> open_output(const char* option,
                                                     const std::filesystem::path& path) {
  if (path.empty()) {
    return nullptr;
  }
  try {
    return std::make_unique<realtime::ReplacingFile>(path);
  } catch (const realtime::WriteError& error) {
    throw text::UsageError(std::string(option) + ": " + error.what());
  }
}

void report_conditions(const Session& session, const Results& results) {
  if (!session.realtime()) {
    std::fprintf(stderr,
                 "exercise %s: runs without real-time scheduling, so its results do not show what "
                 "the exercise is about: %s\n",
                 results.exercise.c_str(), results.no_realtime.c_str());
  }
  // A missing permission costs page faults, which may be visible in a figure.
  const realtime::PreparedProcess prepared =
      realtime::prepare_process({.cpu_wake_up = std::nullopt});
  for (const std::string& problem : prepared.problems()) {
    std::fprintf(stderr, "exercise %s: %s\n", results.exercise.c_str(), problem.c_str());
  }
}

std::uint64_t dropped(const Results& results) {
  std::uint64_t sum = 0;
  for (const Track& track : results.tracks) {
    for (const Slice& slice : track.slices()) {
      sum += slice.dropped();
    }
  }
  return sum;
}

void run_and_write(const Exercise& exercise, const Options& options,
                   void (*run)(Session& session)) {
  const realtime::StopSignal stop(std::chrono::seconds(30));  // writing takes a while
  const auto json = open_output("--json", options.json);
  open_output("--trace", options.trace);  // the trace has a writer of its own
  Session session(exercise, options, stop.flag());
  Results& results = session.results();
  report_conditions(session, results);
  run(session);
  if (const std::uint64_t lost = dropped(results)) {
    session.note("dropped", lost);
  }
  if (!options.trace.empty()) {
    write_trace(options.trace, results);
  }
  if (json) {
    json->write(to_json(results));
    json->commit();
  }
}

}  // namespace

Session::Session(const Exercise& exercise, Options options, const realtime::StopFlag& stop)
    : options_(std::move(options)), stop_(stop), cpu_(realtime::allowed_cpus().back()) {
  results_.exercise = exercise.name;
  results_.variant = options_.solution ? "solution" : "baseline";
  results_.seconds = static_cast<double>(options_.duration.count()) / 1e9;
  results_.no_realtime = realtime::why_no_realtime(exercise.priority).value_or("");
}

realtime::Scheduling Session::fifo(int priority) const {
  return realtime() ? realtime::Scheduling{realtime::Policy::kFifo, priority, {cpu_}} : normal();
}

std::size_t Session::samples(std::chrono::nanoseconds period) const {
  // A tenth more, and a second in which the threads end.
  constexpr std::chrono::nanoseconds kMore = std::chrono::seconds(1);
  return static_cast<std::size_t>((options_.duration * 11 / 10 + kMore) / period) + 1;
}

void Session::wait() {
  std::printf("exercise %s, %s: runs for %g s\n", results_.exercise.c_str(),
              results_.variant.c_str(), results_.seconds);
  std::fflush(stdout);
  results_.interrupted = stop_.wait_until(realtime::monotonic_now_ns() + options_.duration.count());
}

int run_exercise(const Exercise& exercise, int argc, const char* const* argv,
                 void (*run)(Session& session)) {
  try {
    const Options options = parse_options(exercise, argc, argv);
    if (options.answer) {
      std::fputs(options.answer->c_str(), stdout);
      return 0;
    }
    run_and_write(exercise, options, run);
    return 0;
  } catch (const text::UsageError& error) {
    std::fprintf(stderr, "exercise %s: %s\n", exercise.name, error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "exercise %s: %s\n", exercise.name, error.what());
    return kFailed;
  }
}

void compute(std::chrono::nanoseconds amount) noexcept {
  const std::int64_t end_ns = realtime::thread_cpu_now_ns() + amount.count();
  while (realtime::thread_cpu_now_ns() < end_ns) {
  }
}

}  // namespace rclrt::demos
