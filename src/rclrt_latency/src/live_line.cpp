// SPDX-License-Identifier: Apache-2.0
#include "live_line.hpp"

#include <array>
#include <cstdio>
#include <string>

namespace rclrt::latency {

namespace {

constexpr std::size_t kWidth = 118;
constexpr const char* kClearLine = "\r\x1b[K";

}  // namespace

LiveLine::~LiveLine() {
  if (shown_) {
    std::fputs(kClearLine, stderr);
  }
}

void LiveLine::show(const Series& series,
                    const std::vector<std::unique_ptr<WakeUpThread>>& threads) {
  if (!on_) {
    return;
  }
  std::string line = std::string(option_of(series.scheduling.policy)) + ", us:";
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const realtime::Histogram& histogram = threads[i]->histogram();
    const std::optional<int> cpu = series.threads[i].cpu;
    std::array<char, 120> text{};
    std::snprintf(text.data(), text.size(), "%s %s %llu now %.1f median %.1f max %.1f",
                  i == 0 ? "" : " |", (cpu ? "CPU " + std::to_string(*cpu) : "thread").c_str(),
                  static_cast<unsigned long long>(histogram.count()),
                  static_cast<double>(threads[i]->last_ns()) / 1e3,
                  static_cast<double>(histogram.percentile(50)) / 1e3,
                  static_cast<double>(histogram.max()) / 1e3);
    line += text.data();
  }
  std::fprintf(stderr, "%s%s", kClearLine, line.substr(0, kWidth).c_str());
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace rclrt::latency
