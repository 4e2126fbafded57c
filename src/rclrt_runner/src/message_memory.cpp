// SPDX-License-Identifier: Apache-2.0
#include "message_memory.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <variant>

#include "rclrt/workloads/workload.hpp"

namespace rclrt::runner {

namespace {

constexpr std::size_t kMost = std::size_t{32} << 20;

/// Returns how many messages of a topic a callback keeps.
std::size_t kept_by(const model::Callback& callback, const std::string& topic) {
  const auto topics = model::inputs(callback);
  const auto inputs = static_cast<std::size_t>(std::ranges::count(topics, topic));
  // A topic that it samples has one message in the queue, and one that was taken.
  const auto newest = 2 * static_cast<std::size_t>(std::ranges::count(callback.samples, topic));
  return newest + std::visit(
                      [&]<typename Trigger>(const Trigger& trigger) -> std::size_t {
                        if constexpr (std::is_same_v<Trigger, model::Subscription> ||
                                      std::is_same_v<Trigger, model::Sync>) {
                          return inputs * (trigger.depth + 1);
                        } else {
                          return 0;
                        }
                      },
                      callback.trigger);
}

}  // namespace

std::size_t message_memory(const model::Application& application, std::size_t executor) {
  std::size_t bytes = 0;
  for (const model::Topic& topic : application.topics) {
    std::size_t own = 0;     // of callbacks of this executor
    std::size_t others = 0;  // of subscriptions elsewhere, which its publications fill
    bool publishes = false;
    for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
      const model::Callback& callback = application.callbacks[i];
      if (application.executor_of(i) != executor) {
        others += kept_by(callback, topic.name);
        continue;
      }
      const auto outputs =
          static_cast<std::size_t>(std::ranges::count(callback.publishes, topic.name));
      publishes = publishes || outputs != 0;
      own += outputs * (kPublisherDepth + 1) + kept_by(callback, topic.name);
    }
    const std::size_t messages = own + (publishes ? others : 0);
    // Sizes come from a file: no product may overflow.
    const std::size_t room = kMost - bytes;
    bytes +=
        messages != 0 && topic.size_bytes > room / messages ? room : messages * topic.size_bytes;
  }
  return bytes;
}

std::size_t stack_size(const model::Application& application, std::size_t executor) {
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const auto& workload = application.callbacks[i].workload;
    if (application.executor_of(i) == executor && workload &&
        std::ranges::find(workloads::workloads(), workload->name, &workloads::Workload::name) ==
            workloads::workloads().end()) {
      return kImportedStack;
    }
  }
  return kOwnStack;
}

}  // namespace rclrt::runner
