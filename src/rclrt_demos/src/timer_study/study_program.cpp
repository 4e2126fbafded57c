// SPDX-License-Identifier: Apache-2.0
#include "study_program.hpp"

#include <rmw/rmw.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <vector>

#include "init_thread_of_ros.hpp"
#include "output_file.hpp"
#include "rclrt/realtime/process.hpp"
#include "results.hpp"

namespace rclrt::timer_study {

namespace {

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

/// The files, opened before the measurement.
class Outputs {
 public:
  explicit Outputs(const StudyOptions& options)
      : hist_(open("--hist_filename", options.hist_filename)),
        topn_(open("--topn_filename", options.topn_filename)),
        timeseries_(open("--timeseries_filename", options.timeseries_filename)),
        rttest_(open("--rttest_args -f", options.rttest.file)),
        summary_(open("--summary_filename", options.summary_filename)) {}

  void write(const RunDescription& run, const LatencyRecord& record) {
    complete(hist_, [&](std::FILE* stream) { write_hist(stream, record); });
    complete(topn_, [&](std::FILE* stream) { write_topn(stream, record); });
    complete(timeseries_, [&](std::FILE* stream) { write_timeseries(stream, record); });
    complete(rttest_, [&](std::FILE* stream) { write_rttest(stream, record); });
    complete(summary_, [&](std::FILE* stream) { write_summary(stream, run, record); });
  }

 private:
  using File = std::unique_ptr<OutputFile>;

  static File open(const char* option, const std::optional<std::string>& path) {
    return path ? std::make_unique<OutputFile>(option, *path) : nullptr;
  }

  template <typename Write>
  static void complete(const File& file, Write write) {
    if (file) {
      write(file->stream());
      file->complete();
    }
  }

  File hist_;
  File topn_;
  File timeseries_;
  File rttest_;
  File summary_;
};

std::size_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::size_t kilobytes = 0;
  for (std::string unit; file >> name >> kilobytes; std::getline(file, unit)) {
    if (name == "MemAvailable:") {
      return kilobytes * 1024;
    }
  }
  return SIZE_MAX;
}

void require_memory(const RttestOptions& options) {
  const std::size_t available = available_memory();
  if (options.heap_prefault > available) {
    throw text::UsageError("--rttest_args -d: " + std::to_string(options.heap_prefault >> 20) +
                           " MB of heap are asked for, and the machine has " +
                           std::to_string(available >> 20) + " MB left; expected less");
  }
}

/// The run from the empty process to the loop.
class Study {
 public:
  Study(const StudyProgram& program, const StudyOptions& options) : program_(program) {
    run_.program = program.name;
    run_.options = options;
    run_.measures_callbacks = program.measures_callbacks;
  }

  void prepare_memory() {
    const RttestOptions& rttest = run_.options.rttest;
    const auto prepared = realtime::prepare_process({.heap_prefault = rttest.heap_prefault,
                                                     .stack_prefault = rttest.stack_prefault,
                                                     .cpu_wake_up = std::nullopt});
    for (const std::string& problem : prepared.problems()) {
      std::fprintf(stderr, "%s: warning: %s\n", program_.name, problem.c_str());
    }
  }

  void start_ros() {
    set_policy_if(PolicySet::kBeforeInit);
    std::vector<const char*> arguments{program_.name};
    for (const std::string& each : run_.options.ros_arguments) {
      arguments.push_back(each.c_str());
    }
    try {
      context_ = Context::make(static_cast<int>(arguments.size()), arguments.data(),
                               {.handle_signals = false});
    } catch (const Error& error) {
      throw text::UsageError(error.what());  // of the arguments, or the middleware's name
    }
    if (!context_->arguments().empty()) {
      throw text::UsageError("unknown argument \"" + context_->arguments().front() +
                             "\" behind --ros-args ... --; expected none");
    }
    init_thread_ = std::make_unique<InitThread>(stop_);
    end_step("init");
    set_policy_if(PolicySet::kBeforeNode);
    for (int i = 1; program_.has_nodes && i <= run_.options.nodes; ++i) {
      const std::string number = std::to_string(i);
      nodes_.push_back(std::make_unique<Node>(context_, "timer_study_" + number));
      end_step("node " + number);
    }
    set_policy_if(PolicySet::kBeforeLoop);
    run_.rmw = rmw_get_implementation_identifier();
  }

  void run_loop(LatencyRecord& record) {
    print_threads(stdout, threads_.read());
    std::fflush(stdout);
    Loop loop{run_.options.rttest, context_, stop_, record};
    program_.loop(loop);
    run_.missed_passes = loop.missed_passes;
    run_.threads = threads_.read();
  }

  const RunDescription& description() const { return run_; }

 private:
  void end_step(const std::string& step) {
    const std::size_t count = threads_.end_step(step);
    run_.steps.push_back(step);
    run_.step_threads.push_back(count);
    std::printf("threads started by %s: %zu\n", step.c_str(), count);
  }

  void set_policy_if(PolicySet moment) {
    if (run_.options.policy_set != moment) {
      return;
    }
    const realtime::Scheduling wanted{run_.options.rttest.policy, run_.options.rttest.priority};
    if (const auto problem = realtime::why_refused(wanted)) {
      run_.realtime_problem = *problem;
      std::fprintf(stderr,
                   "%s: warning: the loop has no real-time policy, so its latencies and the "
                   "threads' policies show nothing: %s\n",
                   program_.name, problem->c_str());
      return;
    }
    realtime::apply_scheduling(0, wanted);
  }

  const StudyProgram& program_;
  RunDescription run_;
  ThreadList threads_;
  realtime::StopFlag stop_;
  std::shared_ptr<Context> context_;
  std::unique_ptr<InitThread> init_thread_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

int run_study_with(const StudyProgram& program, const StudyOptions& options) {
  require_memory(options.rttest);
  Outputs outputs(options);
  const bool keeps_rows = options.timeseries_filename || options.rttest.file;
  Study study(program, options);
  InitThread::block_signals();
  study.prepare_memory();
  LatencyRecord record(keeps_rows ? options.rttest.iterations : 0);
  study.start_ros();
  study.run_loop(record);
  print_statistics(stdout, study.description(), record);
  outputs.write(study.description(), record);
  return 0;
}

}  // namespace

int run_study(const StudyProgram& program, int argc, char** argv) {
  try {
    const StudyOptions options =
        parse_study_options(program.name, program.purpose, {argv + 1, argv + argc});
    if (options.answer) {
      std::fputs(options.answer->c_str(), stdout);
      return 0;
    }
    return run_study_with(program, options);
  } catch (const text::UsageError& error) {
    std::fprintf(stderr, "%s: %s\n", program.name, error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program.name, error.what());
    return kFailed;
  }
}

}  // namespace rclrt::timer_study
