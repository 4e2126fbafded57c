// SPDX-License-Identifier: Apache-2.0
#include "display_tracks.hpp"

#include <cstdint>
#include <map>
#include <tuple>

namespace rclrt::recorder {

std::vector<std::string> name_tracks(const RunResults& results,
                                     std::span<LoggedInstance> instances) {
  using Key = std::tuple<std::uint32_t, std::int32_t, std::uint32_t>;
  // Otherwise a slot is a thread for callbacks of any priority.
  const model::ExecutorThreads threads = traits(results.executor).threads;
  const bool levels = (threads == model::ExecutorThreads::kPerLevel ||
                       threads == model::ExecutorThreads::kPerInstance) &&
                      !results.context.runs_to_completion;
  const auto key_of = [levels](const LoggedInstance& instance) {
    return Key{instance.executor, levels ? -instance.record.level : 0, instance.slot};
  };
  std::map<Key, std::uint32_t> tracks;
  for (const LoggedInstance& instance : instances) {
    tracks.emplace(key_of(instance), 0);
  }
  std::vector<std::string> names;
  for (auto& [key, track] : tracks) {
    const auto& [executor, level, slot] = key;
    track = static_cast<std::uint32_t>(names.size());
    names.push_back(results.application.executors[executor].name +
                    (levels ? " L" + std::to_string(-level) : "") + " #" + std::to_string(slot));
  }
  for (LoggedInstance& instance : instances) {
    instance.record.thread_track = tracks.at(key_of(instance));
  }
  return names;
}

}  // namespace rclrt::recorder
