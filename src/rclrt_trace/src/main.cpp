// SPDX-License-Identifier: Apache-2.0
// rclrt_trace: makes models and results from LTTng traces of ROS 2.
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <rclrt/model/write.hpp>
#include <rclrt/text/options.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "joined_hosts.hpp"
#include "rclrt/realtime/perfetto_writer.hpp"
#include "rclrt/recorder/results_directory.hpp"
#include "rclrt/recorder/results_writer.hpp"
#include "rclrt/recorder/trace_export.hpp"
#include "scheduling_trace.hpp"
#include "streamed_results.hpp"
#include "traced_model.hpp"
#include "traced_results.hpp"

namespace {

using namespace rclrt::trace;  // NOLINT(google-build-using-namespace): this is its program

namespace recorder = rclrt::recorder;
namespace text = rclrt::text;

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

struct Arguments {
  std::filesystem::path trace;
  std::vector<std::string> more;  // traces of other hosts
  JoinOptions join;
  std::filesystem::path output;
  std::string name;
  rclrt::model::ExecutorChoice executor = rclrt::model::ExecutorKind::kWaitSet;
  int pid = 0;
  std::uint64_t most_mb = 0;
};

/// Returns the options about the clocks of several hosts, after `own`.
std::vector<text::Option> with_clocks(std::vector<text::Option> own, Arguments& to) {
  own.push_back(text::custom(
      "--clock", "FILES", "files of rclrt clock --out, with a comma between them",
      [&to](std::string_view given) {
        while (!given.empty()) {
          const std::size_t comma = std::min(given.find(','), given.size());
          to.join.clock_files.emplace_back(given.substr(0, comma));
          given.remove_prefix(std::min(comma + 1, given.size()));
        }
        return true;
      },
      "offsets between the hosts that rclrt clock measured, with a comma between files"));
  own.push_back(text::number(
      "--drift", "PPM", to.join.drift_ppm, {0, rclrt::realtime::ClockOffset::kMaxDriftPpm},
      "largest rate at which each host's clock is wrong or slewed, in millionths"));
  return own;
}

text::OptionTable option_table(Arguments& to) {
  const std::string executors = "one of " + rclrt::model::executor_names();
  const text::Option trace = text::operand("TRACE", to.trace, "the directory of a trace");
  const text::Option more =
      text::operands("MORE", to.more, "directories of traces of other hosts, to be joined with it");
  const text::Option name = text::text(
      "--name", "NAME", to.name, "of the application; without it, that of the trace's directory");
  const text::Option out = text::required(
      text::path("--out", "DIR", to.output, "where the results go"), "a directory for the results");
  const text::Option executor = text::custom(
      "--executor", "NAME", executors,
      [&to](std::string_view given) {
        to.executor = rclrt::model::parse_executor(given);
        return true;
      },
      "what ran the callbacks, for the order of tracks and for blame; default wait_set");
  text::Option pid =
      text::required(text::number("PID", {}, to.pid, {1, INT_MAX}, {}), "the number of a process");
  const text::Option most_mb =
      text::required(text::number("--most-mb", "MB", to.most_mb, {2, 1'000'000},
                                  "bound of what is kept on disk; the newest stays"),
                     "a bound of what is kept on disk");
  return {
      .program = "rclrt_trace",
      .purpose = "Reads an LTTng trace of ROS 2 nodes (events ros2:*, of any client library).",
      .commands =
          {
              {.program = "model",
               .purpose = "Prints what ran as an app.yaml, with observed execution times.",
               .options = with_clocks({name}, to),
               .operands = {trace, more}},
              {.program = "import",
               .purpose = "Writes what ran as the results of a run, with the model beside them.",
               .options = with_clocks({out, executor, name}, to),
               .operands = {trace, more}},
              {.program = "losses",
               .purpose = "Prints a line for each loss of data while the trace was recorded.",
               .operands = {trace}},
              {.program = "scheduling",
               .purpose = "Records when the threads of what the process PID starts have a CPU, "
                          "until its input ends; prints \"ready\" when it has begun.",
               .options = {out, most_mb},
               .operands = {std::move(pid)}},
          },
      .notes = "exit code: 0 done, 1 it failed, 2 bad input",
  };
}

/// Returns the name of the trace's directory.
std::string name_of(const std::filesystem::path& trace) {
  const std::filesystem::path directory = trace.lexically_normal();
  return directory.has_filename() ? directory.filename().string()
                                  : directory.parent_path().filename().string();
}

/// Replaces control characters by '?', because a terminal would obey them. Texts may come from a
/// trace or from the name of a file.
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
    std::fprintf(stderr,
                 "rclrt_trace: note: %llu events are left out, because events of other CPUs from "
                 "the same time have been overwritten\n",
                 static_cast<unsigned long long>(counts.early));
  }
  if (counts.lost + counts.lost_packets > 0) {
    std::fprintf(stderr,
                 "rclrt_trace: note: the tracer lost %llu events and %llu packets: their data is "
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
    throw text::UsageError("--out " + output.string() + ": " + error.what());
  }
}

void say_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    std::fprintf(stderr, "rclrt_trace: note: %s\n", printable(note).c_str());
  }
}

/// The events that were read, and the clocks of their hosts.
struct Input {
  ReadCounts counts;
  std::optional<HostClocks> clocks;  // none: of one host
  std::vector<std::string> notes;
  const HostClocks* hosts() const { return clocks ? &*clocks : nullptr; }
};

std::vector<std::filesystem::path> traces_of(const Arguments& arguments) {
  std::vector<std::filesystem::path> traces{arguments.trace};
  traces.insert(traces.end(), arguments.more.begin(), arguments.more.end());
  return traces;
}

/// Reads the traces. `needs_all_of_hosts`: results over several hosts need every run.
Input read_system(const Arguments& arguments, TracedSystem& system, bool needs_all_of_hosts) {
  const std::vector<std::filesystem::path> traces = traces_of(arguments);
  Input input;
  input.clocks = join_hosts(traces, arguments.join, input.notes);
  if (input.clocks) {
    if (needs_all_of_hosts) {
      system = TracedSystem({.all = SIZE_MAX});
    }
    std::vector<std::string> names;
    for (const HostClocks::Host& host : input.clocks->hosts()) {
      names.push_back(host.traced.name);
    }
    system.name_hosts(std::move(names));
  }
  input.counts =
      read_traces(traces, input.hosts(), [&](const TraceEvent& event) { system.take(event); });
  system.finish();
  say_counts(input.counts);
  return input;
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
  const Input input = read_system(arguments, system, false);
  const TracedModel model = build_model(system, arguments.name);
  std::fputs(to_yaml(model.application).c_str(), stdout);
  for (const std::string& line : model.proposals) {
    std::printf("# %s\n", printable(line).c_str());
  }
  say_notes(input.notes);
  say_notes(model.notes);
}

void import_trace(const Arguments& arguments) {
  recorder::ResultsDirectory directory = open_output(arguments.output);
  TracedSystem system;
  const Input input = read_system(arguments, system, true);
  TracedModel model = build_model(system, arguments.name);
  std::vector<std::string> notes = input.notes;
  notes.insert(notes.end(), model.notes.begin(), model.notes.end());
  const ReadAgain read_again = [&](const auto& handle) {
    read_traces(traces_of(arguments), input.hosts(), handle);
  };
  recorder::RunResults results = system.streams()
                                     ? stream_results(system, std::move(model), arguments.executor,
                                                      input.counts, read_again, notes)
                                     : trace_results(system, std::move(model), arguments.executor,
                                                     input.counts, notes, input.hosts());
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

void record(const Arguments& arguments) {
  try {
    record_scheduling(arguments.pid, arguments.output, arguments.most_mb << 20U, STDIN_FILENO);
  } catch (const std::filesystem::filesystem_error& error) {
    throw text::UsageError("--out " + arguments.output.string() +
                           ": cannot be made: " + error.code().message());
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::no_such_process) {
      throw text::UsageError("PID " + std::to_string(arguments.pid) +
                             ": no such process; expected the ID of a running process");
    }
    throw;
  }
}

int run(int argc, const char* const* argv) {
  Arguments arguments;
  const auto parsed = text::parse_options(option_table(arguments), argc, argv);
  if (parsed.answer) {
    std::fputs(parsed.answer->c_str(), stdout);
    return 0;
  }
  if (arguments.name.empty()) {
    arguments.name = name_of(arguments.trace);
  }
  if (parsed.command == "model") {
    print_model(arguments);
  } else if (parsed.command == "import") {
    import_trace(arguments);
  } else if (parsed.command == "losses") {
    print_losses(arguments.trace);
  } else {
    record(arguments);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const text::UsageError& error) {
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
