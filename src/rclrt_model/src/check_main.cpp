// SPDX-License-Identifier: Apache-2.0
/// rclrt_model_check [--robot | --host] FILE: reports whether the file is a valid application, or a
/// valid configuration of a process or of a host, and if not, why.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <rclrt/text/options.hpp>
#include <string>

#include "rclrt/model/host.hpp"
#include "rclrt/model/parse.hpp"
#include "rclrt/model/robot.hpp"
#include "rclrt/model/warnings.hpp"

namespace {

namespace text = rclrt::text;

constexpr int kOk = 0;
constexpr int kBadInput = 2;

struct Arguments {
  bool robot = false;
  bool host = false;
  std::filesystem::path file;
};

text::OptionTable option_table(Arguments& to) {
  return {
      .program = "rclrt_model_check",
      .purpose = "Checks an app.yaml, a robot.yaml, or a file with all processes of a host.",
      .options = {text::flag("--robot", to.robot, "FILE is a robot.yaml"),
                  text::flag("--host", to.host,
                             "FILE has the processes of a host: prints the order of their "
                             "priorities")},
      .operands = {text::operand("FILE", to.file, "the path of an app.yaml")},
      .notes =
          "exit code: 0 it is valid, 2 it is not, with every problem on standard error as\n"
          "           file:line:column: what is wrong; expected what\n"
          "warnings, also on standard error, do not change the exit code",
  };
}

void print_warnings(const char* file, const std::vector<std::string>& warnings) {
  for (const std::string& each : warnings) {
    std::fprintf(stderr, "%s: warning: %s\n", file, each.c_str());
  }
}

int check(const char* file) {
  const auto application = rclrt::model::load_application(file);
  const std::size_t callbacks = application.callbacks.size();
  const std::size_t chains = application.chains.size();
  std::printf("%s: ok: %zu callback%s, %zu chain%s, utilisation %.1f %%\n", file, callbacks,
              callbacks == 1 ? "" : "s", chains, chains == 1 ? "" : "s",
              application.utilisation() * 100.0);
  print_warnings(file, rclrt::model::warnings(application));
  return kOk;
}

int check_robot(const char* file) {
  const auto robot = rclrt::model::load_robot(file);
  const std::size_t callbacks = robot.callbacks.size();
  const std::size_t rules = robot.threads.rules.size();
  std::printf("%s: ok: %zu %s of callbacks, %zu rule%s of threads\n", file, callbacks,
              callbacks == 1 ? "entry" : "entries", rules, rules == 1 ? "" : "s");
  print_warnings(file, rclrt::model::warnings(robot));
  return kOk;
}

/// Prints, for each priority of the host's callbacks, a line with the SCHED_FIFO priority and the
/// names of the processes that use it.
int check_host(const char* file) {
  const auto host = rclrt::model::load_host(file);
  const std::vector<int> levels = host.levels();
  std::printf("%s: ok: %zu process%s, %zu priorities of callbacks\n", file, host.processes.size(),
              host.processes.size() == 1 ? "" : "es", levels.size());
  for (std::size_t rank = 0; rank < levels.size(); ++rank) {
    std::string names;
    int top = 0;
    for (const rclrt::model::HostProcess& each : host.processes) {
      const rclrt::model::RobotExecutor& executor = each.robot.executor;
      const bool states =
          levels[rank] == 0 || std::ranges::any_of(each.robot.callbacks, [&](const auto& timing) {
            return timing.priority.value_or(0) == levels[rank];
          });
      if (rclrt::model::has_kernel_levels(executor) && states &&
          levels[rank] >= executor.best_effort_below.value_or(0)) {
        names += (names.empty() ? "" : ", ") + each.name;
        top = executor.top_priority.value_or(rclrt::model::kTopPriority);
      }
    }
    std::printf("  priority %d: SCHED_FIFO %d: %s\n", levels[rank],
                top - 1 - static_cast<int>(rank), names.c_str());
  }
  for (const rclrt::model::HostProcess& each : host.processes) {
    for (const rclrt::model::ThreadRule& rule : each.robot.threads.rules) {
      if (rule.scheduling.policy == rclrt::model::Policy::kFifo ||
          rule.scheduling.policy == rclrt::model::Policy::kRoundRobin) {
        const std::string& what = !rule.name.empty()      ? rule.name
                                  : !rule.library.empty() ? rule.library
                                                          : rule.function;
        std::printf("  threads %s of %s: %d\n", what.c_str(), each.name.c_str(),
                    rule.scheduling.priority);
      }
    }
  }
  print_warnings(file, rclrt::model::warnings(host));
  return kOk;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  try {
    const auto parsed = text::parse_options(option_table(arguments), argc, argv);
    if (parsed.answer) {
      std::fputs(parsed.answer->c_str(), stdout);
      return kOk;
    }
    if (arguments.robot && arguments.host) {
      throw text::UsageError(
          "--robot and --host: the file is either a robot.yaml or a host file; leave out one of "
          "the two");
    }
    const std::string file = arguments.file.string();
    return arguments.host    ? check_host(file.c_str())
           : arguments.robot ? check_robot(file.c_str())
                             : check(file.c_str());
  } catch (const text::UsageError& error) {
    std::fprintf(stderr, "rclrt_model_check: %s\n", error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kBadInput;
  }
}
