// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/results.hpp"

#include <stdexcept>

#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::recorder {

std::vector<ThreadResult> read_threads() {
  std::vector<ThreadResult> result;
  for (const pid_t tid : realtime::thread_ids()) {
    if (const auto scheduling = realtime::read_scheduling(tid)) {
      result.push_back({realtime::thread_name(tid), tid, *scheduling});
    }
  }
  return result;
}

const char* to_string(ChainStatus status) {
  switch (status) {
    case ChainStatus::kCompleted:
      return "completed";
    case ChainStatus::kLate:
      return "late";
    case ChainStatus::kDropped:
      return "dropped";
    case ChainStatus::kPending:
      return "pending";
    case ChainStatus::kUnmatched:
      return "unmatched";
    case ChainStatus::kUnknown:
      return "unknown";
  }
  throw std::invalid_argument("no such chain status");
}

const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kRan:
      return "ran";
    case Outcome::kBuffered:
      return "buffered";
    case Outcome::kEmpty:
      return "empty";
  }
  throw std::invalid_argument("no such outcome");
}

void require_consistent(const RunResults& results) {
  const auto require_size = [](const char* what, std::size_t size, std::size_t expected) {
    if (size != expected) {
      throw std::invalid_argument(std::string("results have ") + std::to_string(size) + " " + what +
                                  "; expected " + std::to_string(expected));
    }
  };
  const std::size_t callbacks = results.application.callbacks.size();
  require_size("chain results", results.chains.size(), results.application.chains.size());
  require_size("cause-effect chain results", results.cause_effect_chains.size(),
               results.application.cause_effect_chains.size());
  require_size("callback counts", results.callback_counts.size(), callbacks);
  require_size("callback results", results.callbacks.size(), callbacks);
  require_size("kernel priorities", results.kernel_priorities.size(), callbacks);
  require_size("hosts of callbacks", results.hosts.of_callback.size(),
               results.hosts.hosts.empty() ? 0 : callbacks);
  for (const InstanceRecord& record : results.records) {
    if (record.callback >= callbacks || record.thread_track >= results.thread_tracks.size()) {
      throw std::invalid_argument("record " + std::to_string(record.id) +
                                  " is of a callback or thread track that does not exist");
    }
    if (record.first_part > results.cpu_parts.size() ||
        record.part_count > results.cpu_parts.size() - record.first_part) {
      throw std::invalid_argument("record " + std::to_string(record.id) +
                                  " has parts on CPUs that do not exist");
    }
  }
}

}  // namespace rclrt::recorder
