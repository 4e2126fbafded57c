// SPDX-License-Identifier: Apache-2.0
// rclrt_runner: an app.yaml as a running ROS 2 application under one executor, measured.
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <rclrt/model/priorities.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "command_line.hpp"
#include "hosts.hpp"
#include "processes.hpp"
#include "rclrt/recorder/results_directory.hpp"
#include "rclrt/recorder/results_writer.hpp"
#include "rclrt/recorder/sha256.hpp"
#include "rclrt/recorder/snapshot_writer.hpp"
#include "rclrt/recorder/trace_export.hpp"
#include "require_possible.hpp"
#include "run.hpp"

namespace {

constexpr int kFailed = 1;
constexpr int kBadInput = 2;
constexpr int kInterrupted = 130;

using namespace rclrt::recorder;  // NOLINT(google-build-using-namespace): this is a program
using namespace rclrt::runner;    // NOLINT(google-build-using-namespace): this is its program

/// The worst miss of each chain, a line each.
void print_misses(const RunResults& results) {
  for (std::size_t chain = 0; chain < results.chains.size(); ++chain) {
    const ChainMiss* worst = nullptr;
    for (const ChainMiss& miss : results.misses) {
      if (miss.chain == chain && (worst == nullptr || miss.late_ns > worst->late_ns)) {
        worst = &miss;
      }
    }
    if (worst != nullptr) {
      const std::uint64_t more = results.chains[chain].missed - 1;
      const std::string text = miss_text(results.application, results.records, *worst);
      std::printf("%s%s\n", text.c_str(),
                  more == 0 ? "" : (" [and " + std::to_string(more) + " more]").c_str());
    }
  }
}

ResultsDirectory open_output(const std::filesystem::path& output) {
  try {
    return ResultsDirectory(output);
  } catch (const std::exception& error) {
    throw rclrt::text::UsageError("--out " + output.string() + ": " + error.what());
  }
}

long seconds(const RunResults& results) {
  return static_cast<long>((results.window.end_ns - results.window.start_ns) / 1'000'000'000);
}

/// Writes results while the run goes on. A failure, such as a full disk, does not end the run.
void write_meanwhile(SnapshotWriter& writer, const RunResults& results) noexcept {
  if (const auto problem = writer.write(results)) {
    std::fprintf(stderr, "rclrt: the run goes on, but: %s\n", problem->c_str());
  }
}

/// Says that the run was stopped.
void print_stopped(const RunResults& results, const CommandLine& command) {
  const auto to_s = [](std::int64_t time_ns) { return static_cast<double>(time_ns) / 1e9; };
  std::fprintf(stderr, "rclrt_runner: stopped after %.3f of %g s; the results are in %s\n",
               to_s(results.window.end_ns - results.window.start_ns),
               to_s(command.duration.count()), command.output.string().c_str());
}

/// Throws std::runtime_error with the host that was lost during the run.
void require_all_hosts(const RunResults& results, const CommandLine& command) {
  for (const HostTimes& host : results.hosts.hosts) {
    if (!host.lost.empty()) {
      throw std::runtime_error("host '" + host.name + "': " + host.lost +
                               "; the results of the first " + std::to_string(seconds(results)) +
                               " s are in " + command.output.string());
    }
  }
}

int run_application(const CommandLine& command, int argc, char** argv) {
  RunResults results;
  results.application = rclrt::model::load_application(command.application, command.priorities);
  require_possible(results.application, processes_here(results.application, command.hosts),
                   command.executor);
  results.application_file = command.application.string();
  results.application_sha256 = sha256_of_file(command.application);
  if (!command.priorities.empty()) {
    results.priorities =
        PrioritiesFile{command.priorities.string(), sha256_of_file(command.priorities)};
  }
  if (!command.hosts.empty()) {
    std::signal(SIGPIPE, SIG_IGN);  // a write to a host that is gone fails instead
  }
  ResultsDirectory directory = open_output(command.output);
  SnapshotWriter meanwhile(command.output);
  // Held back until everything is written: a second Ctrl-C must not take the results away.
  StopRequests requests;
  try {
    if (!run(results,
             {.executor = command.executor,
              .duration = command.duration,
              .strict = command.strict,
              .alone = command.alone,
              .time = command.hosts.empty() ? RunTime() : RunTime::of_coordinator(),
              .hosts = command.hosts,
              .keep_all = command.keep_all,
              .write = [&](const RunResults& now) { write_meanwhile(meanwhile, now); }},
             std::span<const char* const>(argv, static_cast<std::size_t>(argc)), requests)) {
      std::fprintf(stderr, "rclrt_runner: interrupted before the run began; nothing was written\n");
      return kInterrupted;
    }
    write_results(directory.staging(), results);
    write_trace(directory.staging(), results);
    directory.commit();
  } catch (const std::exception& error) {
    const std::string written = meanwhile.written();
    if (written.empty()) {
      throw;
    }
    throw std::runtime_error(error.what() + written);
  }
  print_misses(results);
  require_all_hosts(results, command);
  if (results.end == RunEnd::kInterrupted) {
    print_stopped(results, command);
    return kInterrupted;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const CommandLine command = parse_command_line(argc, argv);
    if (command.answer) {
      std::fputs(command.answer->c_str(), stdout);
      return 0;
    }
    return run_application(command, argc, argv);
  } catch (const rclrt::text::UsageError& error) {
    std::fprintf(stderr, "rclrt_runner: %s\n", error.what());
    return kBadInput;
  } catch (const rclrt::model::ModelError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kBadInput;
  } catch (const std::invalid_argument& error) {
    // The application needs something that this machine does not have, such as a CPU.
    std::fprintf(stderr, "rclrt_runner: %s\n", error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rclrt_runner: %s\n", error.what());
    return kFailed;
  }
}
