// SPDX-License-Identifier: Apache-2.0
// rclrt_latency: how late the threads of this machine wake up.
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "burners.hpp"
#include "command_line.hpp"
#include "measurement.hpp"
#include "rclrt/realtime/stop_signal.hpp"
#include "report.hpp"

namespace {

constexpr int kNo = 1;
constexpr int kBadInput = 2;
constexpr int kSignal = 128;
constexpr std::chrono::seconds kPatience(20);  // on a busy machine the watching threads end slowly

using namespace rclrt::latency;  // NOLINT(google-build-using-namespace): this is its program

Burners burners_of(const Settings& settings) {
  if (!settings.stress) {
    return {};
  }
  const auto cpus = settings.cpus.empty() ? rclrt::realtime::allowed_cpus() : settings.cpus;
  return Burners(cpus);
}

int run(const Settings& settings) {
  const Burners burners = burners_of(settings);  // before any thread
  const rclrt::realtime::StopSignal stop(kPatience);
  const Result result = measure(settings, stop.flag());
  std::fputs(to_json(settings, result).c_str(), stdout);
  if (result.interrupted) {
    return kSignal + stop.signal();
  }
  return result.broken ? kNo : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const CommandLine command = parse_command_line(argc, argv);
    if (command.answer) {
      std::fputs(command.answer->c_str(), stdout);
      return 0;
    }
    return run(command.settings);
  } catch (const rclrt::text::UsageError& error) {
    std::fprintf(stderr, "rclrt_latency: %s\n", error.what());
    return kBadInput;
  } catch (const std::invalid_argument& error) {
    // Something is missing on this machine, such as a CPU.
    std::fprintf(stderr, "rclrt_latency: %s\n", error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rclrt_latency: %s\n", error.what());
    return kNo;
  }
}
