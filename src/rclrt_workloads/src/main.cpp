// SPDX-License-Identifier: Apache-2.0
// rclrt_workloads: times workloads on this machine. `rclrt workloads` calls it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <rclrt/text/options.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "rclrt/workloads/workload.hpp"

namespace {

namespace text = rclrt::text;

constexpr int kFailed = 1;
constexpr int kBadInput = 2;
constexpr std::size_t kWarmUp = 3;
constexpr std::size_t kMost = 10'000'000;

std::int64_t cpu_now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

void list() {
  for (const auto& each : rclrt::workloads::workloads()) {
    std::printf("%s\t%s\t%llu\n", std::string(each.name).c_str(),
                std::string(each.character).c_str(), static_cast<unsigned long long>(each.result));
  }
}

/// Times it. Returns false if an iteration had another result than the first.
bool time(const std::string& name, std::size_t iterations) {
  const auto kernel = rclrt::workloads::make(name);
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < kWarmUp; ++i) {
    result = kernel->run();
  }
  std::vector<std::int64_t> times(iterations);
  bool same = true;
  for (std::int64_t& each : times) {
    const std::int64_t start = cpu_now_ns();
    same = kernel->run() == result && same;
    each = cpu_now_ns() - start;
  }
  std::ranges::sort(times);
  double sum = 0;
  double squares = 0;
  for (const std::int64_t each : times) {
    sum += static_cast<double>(each);
    squares += static_cast<double>(each) * static_cast<double>(each);
  }
  const auto n = static_cast<double>(iterations);
  const double variance = std::max(0.0, squares / n - sum / n * (sum / n));
  const auto rank = [&](std::size_t percent) {
    return times[(percent * iterations + 99) / 100 - 1];
  };
  std::printf("%s\t%zu\t%lld\t%lld\t%lld\t%lld\t%.1f\t%.1f\t%llu\n", name.c_str(), iterations,
              static_cast<long long>(times.front()), static_cast<long long>(rank(50)),
              static_cast<long long>(rank(99)), static_cast<long long>(times.back()), sum / n,
              std::sqrt(variance), static_cast<unsigned long long>(result));
  std::fflush(stdout);
  if (!same) {
    std::fprintf(stderr,
                 "rclrt_workloads: %s returned different results in different iterations; expected "
                 "the same result each time\n",
                 name.c_str());
  }
  return same;
}

text::OptionTable option_table(std::size_t& iterations, std::vector<std::string>& names) {
  return {
      .program = "rclrt_workloads",
      .purpose = "Times workloads on this machine.",
      .commands =
          {
              {.program = "list",
               .purpose = "Prints name, character and result of each workload, a line each, tabs "
                          "between them."},
              {.program = "time",
               .purpose = "Prints n, min, p50, p99, max, mean and standard deviation of the CPU "
                          "time of an iteration in nanoseconds, then the result, a line for each "
                          "name.",
               .operands = {text::required(text::number("ITERATIONS", {}, iterations, {1, kMost},
                                                        "of each workload"),
                                           "how often each workload runs"),
                            text::operands("NAME", names, "default: all that are built in")}},
          },
      .notes =
          "exit code: 0 done, 1 a workload cannot be loaded or gave another result,\n"
          "           2 bad input",
  };
}

int run(int argc, const char* const* argv) {
  std::size_t iterations = 0;
  std::vector<std::string> names;
  const auto parsed = text::parse_options(option_table(iterations, names), argc, argv);
  if (parsed.answer) {
    std::fputs(parsed.answer->c_str(), stdout);
    return 0;
  }
  if (parsed.command == "list") {
    list();
    return 0;
  }
  if (names.empty()) {
    for (const auto& each : rclrt::workloads::workloads()) {
      names.emplace_back(each.name);
    }
  }
  bool same = true;
  for (const std::string& name : names) {
    same = time(name, iterations) && same;
  }
  return same ? 0 : kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const text::UsageError& error) {
    std::fprintf(stderr, "rclrt_workloads: %s\n", error.what());
    return kBadInput;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "rclrt_workloads: %s\n", error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rclrt_workloads: %s\n", error.what());
    return kFailed;
  }
}
