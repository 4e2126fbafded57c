// SPDX-License-Identifier: Apache-2.0
// rclrt_trace: makes models and results from LTTng traces of ROS 2.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <rclrt/model/write.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "rclrt/realtime/perfetto_writer.hpp"
#include "rclrt/recorder/results_directory.hpp"
#include "rclrt/recorder/results_writer.hpp"
#include "rclrt/recorder/trace_export.hpp"
#include "scheduling_trace.hpp"
#include "traced_model.hpp"
#include "traced_results.hpp"

namespace {

using namespace rclrt::trace;  // NOLINT(google-build-using-namespace): this is its program

namespace recorder = rclrt::recorder;

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

constexpr const char* kUsage =
    "usage: rclrt_trace model TRACE [--name NAME]\n"
    "       rclrt_trace import TRACE --out DIR [--executor NAME] [--name NAME]\n"
    "       rclrt_trace losses TRACE\n"
    "       rclrt_trace scheduling PID --out DIR --most-mb MB\n"
    "\n"
    "Reads an LTTng trace of ROS 2 nodes (events ros2:*, of any client library).\n"
    "\n"
    "  model      prints what ran as an app.yaml, with observed execution times\n"
    "  import     writes what ran as the results of a run, with the model beside them\n"
    "  losses     prints a line for each loss of data while the trace was recorded\n"
    "  scheduling records when the threads of what the process PID starts have a CPU, until its\n"
    "             input ends; prints \"ready\" when it has begun\n"
    "  --executor NAME   what ran the callbacks, for the order of tracks and for blame; default\n"
    "                    wait_set\n"
    "  --name NAME       of the application; default: that of the trace's directory\n"
    "  --most-mb MB      bound of what is kept on disk, 2 to 1000000; the newest stays\n"
    "\n"
    "exit code: 0 done, 1 it failed, 2 bad input\n";

/// An error in the command line, with what was expected.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Arguments {
  bool imports = false;
  std::filesystem::path trace;
  std::filesystem::path output;
  std::string name;
  rclrt::model::ExecutorChoice executor = rclrt::model::ExecutorKind::kWaitSet;
};

Arguments parse_arguments(const std::vector<std::string>& given) {
  Arguments result;
  if (given.empty() || (given.front() != "model" && given.front() != "import")) {
    throw UsageError("expected model or import; see --help");
  }
  result.imports = given.front() == "import";
  std::map<std::string, std::string> options{{"--name", ""}};
  if (result.imports) {
    options.insert({{"--out", ""}, {"--executor", ""}});
  }
  for (std::size_t i = 1; i < given.size(); ++i) {
    if (const auto option = options.find(given[i]); option != options.end()) {
      if (++i == given.size()) {
        throw UsageError(option->first + ": expected a value after it");
      }
      option->second = given[i];
    } else if (given[i].starts_with("-") || !result.trace.empty()) {
      throw UsageError(given[i] + ": not expected here; see --help");
    } else {
      result.trace = given[i];
    }
  }
  result.output = options["--out"];
  if (result.trace.empty() || (result.imports && result.output.empty())) {
    throw UsageError("expected a TRACE, and --out to import; see --help");
  }
  const std::filesystem::path directory = result.trace.lexically_normal();
  result.name = !options["--name"].empty() ? options["--name"]
                : directory.has_filename() ? directory.filename().string()
                                           : directory.parent_path().filename().string();
  if (!options["--executor"].empty()) {
    try {
      result.executor = rclrt::model::parse_executor(options["--executor"]);
    } catch (const std::invalid_argument& error) {
      throw UsageError(std::string("--executor: ") + error.what());
    }
  }
  return result;
}

/// Replaces control characters, which a terminal would obey: texts may come from a trace or a
/// file's name.
std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return (c < 0x20 && c != '\n') || c == 0x7F; }, '?');
  return text;
}

void say_counts(const ReadCounts& counts) {
  std::fprintf(stderr, "rclrt_trace: %llu events (%llu of them read) of %zu traces\n",
               static_cast<unsigned long long>(counts.events),
               static_cast<unsigned long long>(counts.known), counts.traces);
  for (const std::string& damage : counts.damage) {
    std::fprintf(stderr, "rclrt_trace: note: %s\n", printable(damage).c_str());
  }
  if (counts.duplicates > 0) {
    std::fprintf(stderr,
                 "rclrt_trace: note: %llu events were recorded by several sessions: counted once\n",
                 static_cast<unsigned long long>(counts.duplicates));
  }
  if (counts.early > 0) {
    std::fprintf(
        stderr,
        "rclrt_trace: note: %llu events are left out: from a time of which other CPUs' events "
        "have been overwritten\n",
        static_cast<unsigned long long>(counts.early));
  }
  if (counts.lost + counts.lost_packets > 0) {
    std::fprintf(
        stderr,
        "rclrt_trace: note: the tracer lost %llu events and %llu packets: what they say is "
        "missing here\n",
        static_cast<unsigned long long>(counts.lost),
        static_cast<unsigned long long>(counts.lost_packets));
  }
}

/// Opens the output before the trace is read, to report at once if it cannot be written.
recorder::ResultsDirectory open_output(const std::filesystem::path& output) {
  try {
    return recorder::ResultsDirectory(output);
  } catch (const std::exception& error) {
    throw UsageError("--out " + output.string() + ": " + error.what());
  }
}

void say_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    std::fprintf(stderr, "rclrt_trace: note: %s\n", printable(note).c_str());
  }
}

ReadCounts read_system(const Arguments& arguments, TracedSystem& system) {
  const ReadCounts counts =
      read_trace(arguments.trace, [&](const TraceEvent& event) { system.take(event); });
  system.finish();
  say_counts(counts);
  return counts;
}

/// Prints what the recording lost: one line for each kind and place.
void print_losses(const std::filesystem::path& trace) {
  const ReadCounts counts = read_trace(trace, [](const TraceEvent&) {});
  if (counts.lost > 0) {
    std::printf("%llu events: the tracer's buffers were full\n",
                static_cast<unsigned long long>(counts.lost));
  }
  if (counts.lost_packets > 0) {
    std::printf("%llu packets of events: they were not written\n",
                static_cast<unsigned long long>(counts.lost_packets));
  }
  for (const std::string& damage : counts.damage) {
    std::printf("%s\n", printable(damage).c_str());
  }
}

void print_model(const Arguments& arguments) {
  TracedSystem system;
  read_system(arguments, system);
  const TracedModel model = build_model(system, arguments.name);
  std::fputs(to_yaml(model.application).c_str(), stdout);
  say_notes(model.notes);
}

void import_trace(const Arguments& arguments) {
  recorder::ResultsDirectory directory = open_output(arguments.output);
  TracedSystem system;
  const ReadCounts counts = read_system(arguments, system);
  TracedModel model = build_model(system, arguments.name);
  std::vector<std::string> notes = model.notes;
  recorder::RunResults results =
      trace_results(system, std::move(model), arguments.executor, counts, notes);
  results.application_file = arguments.trace.string();
  recorder::write_results(directory.staging(), results);
  rclrt::realtime::PerfettoWriter writer(directory.staging() / recorder::kTraceFile,
                                         {.name = results.application.name + " (traced)",
                                          .pid = 1,
                                          .sequence_id = 1,
                                          .uuid_base = std::uint64_t{1} << 32U});
  recorder::export_trace(writer, results);
  writer.finish();
  directory.commit();
  say_notes(notes);
}

int number(const std::string& text, int least, int most) {
  int value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc{} || end != last || value < least || value > most) {
    throw UsageError("'" + text + "': expected a whole number from " + std::to_string(least) +
                     " to " + std::to_string(most));
  }
  return value;
}

void record(const std::vector<std::string>& given) {
  if (given.size() != 6 || given[2] != "--out" || given[4] != "--most-mb") {
    throw UsageError("expected scheduling PID --out DIR --most-mb MB; see --help");
  }
  const int pid = number(given[1], 1, INT_MAX);
  const auto most_mb = static_cast<std::uint64_t>(number(given[5], 2, 1'000'000));
  try {
    record_scheduling(pid, given[3], most_mb << 20U, STDIN_FILENO);
  } catch (const std::filesystem::filesystem_error& error) {
    throw UsageError("--out " + given[3] + ": cannot be made: " + error.code().message());
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::no_such_process) {
      throw UsageError("PID " + given[1] + ": no such process; expected one that runs");
    }
    throw;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> given(argv + 1, argv + argc);
    if (given.size() == 1 && given.front() == "--help") {
      std::fputs(kUsage, stdout);
      return 0;
    }
    if (!given.empty() && given.front() == "scheduling") {
      record(given);
      return 0;
    }
    if (given.size() == 2 && given.front() == "losses") {
      print_losses(given.back());
      return 0;
    }
    const Arguments arguments = parse_arguments(given);
    arguments.imports ? import_trace(arguments) : print_model(arguments);
    return 0;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "rclrt_trace: %s\n", error.what());
    return kBadInput;
  } catch (const TraceError& error) {
    std::fprintf(stderr, "rclrt_trace: %s\n", printable(error.what()).c_str());
    return kBadInput;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rclrt_trace: %s\n", error.what());
    return kFailed;
  }
}
