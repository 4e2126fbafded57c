// SPDX-License-Identifier: Apache-2.0
// The cost of the tracepoints around user code, interleaved with the clock alone. Run it by itself
// for tracepoints without a session, and under `rclrt trace record --` for those of a session.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "rclrt/detail/tracing.hpp"
#include "rclrt/executor/callback.hpp"
#include "rclrt/realtime/clock.hpp"

namespace {

using rclrt::executor::InstanceInfo;

constexpr int kRounds = 200;
constexpr int kCalls = 20'000;  // per round

class Nothing final : public rclrt::executor::Callback {
 public:
  Nothing() : Callback({.name = "nothing"}) {}

 protected:
  rclrt::executor::Outcome run(InstanceInfo& /*info*/) override {
    return rclrt::executor::Outcome::kRan;
  }
};

/// Keeps the compiler from removing the computation of `value`. The address of the value is used,
/// not a copy: reading it would wait for partial writes to it, a cost that a tracepoint does not
/// have.
template <typename T>
void keep(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

/// Returns nanoseconds per call.
template <typename Call>
double time_of(const Call& call) {
  const std::int64_t begin_ns = rclrt::realtime::monotonic_now_ns();
  for (int i = 0; i < kCalls; ++i) {
    call();
  }
  const auto duration_ns = static_cast<double>(rclrt::realtime::monotonic_now_ns() - begin_ns);
  return duration_ns / kCalls;
}

double at(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(static_cast<double>(values.size() - 1) * share)];
}

}  // namespace

int main() {
  const Nothing callback;
  InstanceInfo info;
  std::vector<double> clock;
  std::vector<double> traced;
  std::vector<double> added;  // of the same round
  for (int round = 0; round < kRounds; ++round) {
    clock.push_back(time_of([&] {
      info.start_ns = rclrt::realtime::monotonic_now_ns();
      keep(info);
    }));
    traced.push_back(time_of([&] {
      const rclrt::detail::UserCode user_code(callback, info);
      keep(info);
    }));
    added.push_back(traced.back() - clock.back());
  }
  const std::array<std::pair<const char*, const std::vector<double>*>, 3> rows = {
      {{"clock alone", &clock}, {"with both tracepoints", &traced}, {"two tracepoints", &added}}};
  std::printf("%-22s %8s %8s\n", "ns per callback", "median", "p90");
  for (const auto& [name, values] : rows) {
    std::printf("%-22s %8.1f %8.1f\n", name, at(*values, 0.5), at(*values, 0.9));
  }
  return 0;
}
