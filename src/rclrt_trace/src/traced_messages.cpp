// SPDX-License-Identifier: Apache-2.0
// What happens: messages are published and taken, callbacks run.
#include <algorithm>

#include "traced_system.hpp"

namespace rclrt::trace {

namespace {

/// A message is taken soon, or has been replaced by a newer one; so many may be under way.
constexpr std::size_t kMostPublications = 1'000'000;

}  // namespace

void TracedSystem::take_message(const TraceEvent& event) {
  Thread& thread = thread_of(event);
  const Handle first{event.pid, event.numbers[0]};
  switch (event.kind) {
    case EventKind::kRmwPublish:
      if (const auto found = rmw_publishers_.find(first); found != rmw_publishers_.end()) {
        remember({static_cast<std::int64_t>(event.numbers[1]), found->second},
                 publish(thread, found->second, event.time_ns));
      }
      break;
    case EventKind::kIntraPublish:
      if (const auto found = publishers_.find(first); found != publishers_.end()) {
        thread.published = publish(thread, found->second, event.time_ns);
        if (rclrt_processes_.contains(event.pid)) {
          handed_over_[{event.pid, event.numbers[1]}] = *thread.published;
        }
      }
      break;
    case EventKind::kEnqueue:
      if (thread.published) {
        buffered_[{event.pid, event.numbers[0], event.numbers[1]}] = *thread.published;
      }
      break;
    case EventKind::kDequeue: {
      const auto found = buffered_.find({event.pid, event.numbers[0], event.numbers[1]});
      thread.taken = found == buffered_.end() ? Publication{} : found->second;
      thread.taken_topic = kNone;
      break;
    }
    case EventKind::kTake:
      // rclrt: the message was handed over within the process. rclcpp has its buffers for that.
      if (const auto found = handed_over_.find(first); found != handed_over_.end()) {
        thread.taken = found->second;
        thread.taken_topic = kNone;
      }
      break;
    case EventKind::kRmwTake: {
      const auto subscription = rmw_subscriptions_.find(first);
      if (event.numbers[2] == 0 || subscription == rmw_subscriptions_.end()) {
        thread.taken.reset();
        break;
      }
      const auto found =
          publications_.find({static_cast<std::int64_t>(event.numbers[1]), subscription->second});
      thread.taken = found == publications_.end() ? Publication{} : found->second;
      thread.taken_topic = subscription->second;
      break;
    }
    default:
      break;
  }
}

TracedSystem::Publication TracedSystem::publish(const Thread& thread, std::uint32_t topic,
                                                std::int64_t time_ns) {
  if (thread.running.empty() || thread.running.back().instance.callback == kNone) {
    return {kNone, time_ns};
  }
  const TracedInstance& running = thread.running.back().instance;
  callbacks_[running.callback].outputs.emplace(running.input, topic);
  return {running.callback, time_ns};
}

void TracedSystem::remember(const Handle& key, const Publication& publication) {
  if (publications_.insert_or_assign(key, publication).second) {
    published_order_.push_back(key);
  }
  if (published_order_.size() > kMostPublications) {
    publications_.erase(published_order_.front());
    published_order_.pop_front();
    ++gaps_.forgotten;
  }
}

void TracedSystem::start(const TraceEvent& event) {
  Thread& thread = thread_of(event);
  const auto found = pointers_.find({event.pid, event.numbers[0]});
  if (found == pointers_.end()) {
    ++gaps_.unknown_callbacks;
    thread.taken.reset();
    thread.running.push_back({.pointer = event.numbers[0], .instance = {.callback = kNone}});
    return;
  }
  const TracedCallback& callback = callbacks_[found->second];
  TracedInstance instance{.callback = found->second,
                          .thread = thread.index,
                          .start_ns = event.time_ns,
                          .scheduled = all_scheduled_ || scheduled_.contains(event.pid)};
  if (callback.kind == TriggerKind::kSubscription && thread.taken) {
    instance.publisher = thread.taken->callback;
    instance.published_ns = thread.taken->time_ns;
    gaps_.unknown_sources += thread.taken->time_ns == 0 ? 1 : 0;
    const auto input = std::ranges::find(callback.inputs, thread.taken_topic, &TracedInput::topic);
    instance.input = input != callback.inputs.end()
                         ? static_cast<std::uint32_t>(input - callback.inputs.begin())
                     : callback.inputs.size() == 1 ? 0
                                                   : kNone;
  }
  thread.taken.reset();
  if (thread.released == event.numbers[0] && thread.release_ns != 0) {
    instance.release_ns = thread.release_ns;
    instance.ready_ns = thread.ready_ns;
  }
  thread.release_ns = 0;
  thread.running.push_back({event.numbers[0], instance});
}

void TracedSystem::end(const TraceEvent& event) {
  Thread& thread = thread_of(event);
  // Starts whose ends were lost lie above.
  const auto found = std::ranges::find(thread.running.rbegin(), thread.running.rend(),
                                       event.numbers[0], &Running::pointer);
  if (found == thread.running.rend()) {
    ++gaps_.unmatched_ends;
    return;
  }
  gaps_.unfinished += static_cast<std::uint64_t>(found - thread.running.rbegin());
  TracedInstance instance = found->instance;
  thread.running.erase(std::prev(found.base()), thread.running.end());
  if (instance.callback == kNone) {
    return;
  }
  if (event.time_ns < instance.start_ns) {
    ++gaps_.unmatched_ends;  // the times of a damaged stream
    return;
  }
  instance.end_ns = event.time_ns;
  instances_.push_back(instance);
}

/// Nobody knows which starts and ends are missing: what runs now may have ended long ago.
void TracedSystem::forget_running() {
  for (auto& [handle, thread] : thread_states_) {
    gaps_.unfinished += thread.running.size();
    thread.running.clear();
    thread.taken.reset();
    thread.published.reset();
    thread.release_ns = 0;
  }
}

void TracedSystem::finish() {
  forget_running();
  // A thread has at least one switch after all that it runs: else nobody recorded them to the end.
  doubt_scheduling(last_switch_ns_);
}

}  // namespace rclrt::trace
