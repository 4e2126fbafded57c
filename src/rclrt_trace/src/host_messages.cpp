// SPDX-License-Identifier: Apache-2.0
#include "host_messages.hpp"

#include <algorithm>

#include "ctf_types.hpp"
#include "rclrt/model/tool_interfaces.hpp"

namespace rclrt::trace {

void HostMessages::note_time(const TraceEvent& event) {
  if (is_scheduling(event.kind) || event.kind == EventKind::kLoss ||
      event.kind == EventKind::kDamage) {
    return;
  }
  spans_.resize(std::max<std::size_t>(spans_.size(), event.host + 1));
  std::optional<Span>& span = spans_[event.host];
  span = span
             ? Span{std::min(span->first_ns, event.time_ns), std::max(span->last_ns, event.time_ns)}
             : Span{event.time_ns, event.time_ns};
}

void HostMessages::take(const TraceEvent& event) {
  note_time(event);
  const auto handle = [&](std::size_t i) {
    return Handle{event.space, event.pid, event.numbers[i]};
  };
  const auto stamp = static_cast<std::int64_t>(event.numbers[1]);
  const bool has_stamp = stamp > 0 && stamp <= ctf::kLatestSigned_ns;
  switch (event.kind) {
    case EventKind::kPublisherInit:
      publishers_[handle(2)] = topic_of(event.texts[0]);
      break;
    case EventKind::kSubscriptionInit:
      subscriptions_[handle(2)] = topic_of(event.texts[0]);
      break;
    case EventKind::kRmwPublish:
      if (const auto topic = publishers_.find(handle(0)); has_stamp && topic != publishers_.end()) {
        ++publication_count_;
        const auto [found, fresh] =
            publications_.try_emplace({topic->second, stamp}, event.host, event.time_ns, true);
        found->second.is_only = fresh;
      }
      break;
    case EventKind::kRmwTake:
      if (const auto topic = subscriptions_.find(handle(0));
          has_stamp && event.numbers[2] != 0 && topic != subscriptions_.end()) {
        takes_.push_back({{topic->second, stamp}, event.host, event.time_ns});
      }
      break;
    default:
      break;
  }
}

void HostMessages::join() {
  std::map<std::pair<std::uint32_t, std::size_t>, UnjoinedMessages> unjoined;
  for (const Take& take : takes_) {
    const auto found = publications_.find(take.key);
    if (found != publications_.end() && found->second.is_only) {
      if (found->second.host != take.host) {
        joined_.push_back({found->second.host, take.host, found->second.time_ns, take.time_ns});
      }
      continue;
    }
    if (model::is_tool_topic(names_[take.key.first])) {
      continue;
    }
    UnjoinedMessages& of = unjoined[{take.key.first, take.host}];
    ++(found == publications_.end() ? of.unknown : of.ambiguous);
  }
  for (auto& [key, messages] : unjoined) {
    messages.topic = names_[key.first];
    messages.to = key.second;
    unjoined_.push_back(std::move(messages));
  }
}

std::uint32_t HostMessages::topic_of(std::string_view name) {
  const auto found = topics_.find(name);
  if (found != topics_.end()) {
    return found->second;
  }
  names_.emplace_back(name);
  return topics_.emplace(name, static_cast<std::uint32_t>(names_.size() - 1)).first->second;
}

}  // namespace rclrt::trace
