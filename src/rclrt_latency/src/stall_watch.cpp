// SPDX-License-Identifier: Apache-2.0
#include "stall_watch.hpp"

#include <algorithm>
#include <iterator>

namespace rclrt::latency {

namespace {

constexpr std::size_t kCapacity = 65'536;  // stalls per CPU

/// The period of the probe. It is not a multiple of a usual interval, so the probe does not always
/// wake up at the same time as the measured threads, or always at another time.
constexpr std::chrono::microseconds kProbePeriod{770};

}  // namespace

const char* to_string(StallMethod method) noexcept {
  switch (method) {
    case StallMethod::kProbe:
      return "probe";
    case StallMethod::kSpin:
      return "spin";
    case StallMethod::kNone:
      break;
  }
  return "none";
}

StallWatch::StallWatch(StallMethod method, const std::vector<int>& cpus,
                       std::chrono::nanoseconds threshold) {
  if (method == StallMethod::kProbe) {
    probe_.emplace(recorder::HostProbeOptions{
        .cpus = cpus, .period = kProbePeriod, .threshold = threshold, .capacity = kCapacity});
  }
  if (method == StallMethod::kSpin) {
    for (const int cpu : cpus) {
      watches_.push_back(std::make_unique<SpinWatch>(cpu, threshold.count(), kCapacity));
    }
  }
}

void StallWatch::start() {
  if (probe_) {
    probe_->start();
  }
  for (const auto& watch : watches_) {
    watch->start();
  }
}

StallFindings StallWatch::finish() {
  StallFindings findings;
  if (probe_) {
    probe_->stop();
    recorder::HostStallReport report = probe_->report();
    findings.valid = report.valid;
    findings.reason = std::move(report.reason);
    findings.stalls = std::move(report.stalls);
    findings.lost = report.lost;
  }
  std::vector<Gap> gaps;
  for (const auto& watch : watches_) {
    watch->stop();
    const auto own = watch->gaps();
    gaps.insert(gaps.end(), own.begin(), own.end());
    findings.lost += watch->lost();
    findings.watched = std::min(findings.watched.value_or(1.0), watch->watched());
  }
  if (!watches_.empty()) {
    JudgedGaps judged = judge(gaps, static_cast<int>(watches_.size()));
    findings.stalls = std::move(judged.stalls);
    findings.undecided = std::move(judged.undecided);
  }
  return findings;
}

}  // namespace rclrt::latency
