// SPDX-License-Identifier: Apache-2.0
// Events at run time: messages that are published and taken, callbacks that run.
#include <algorithm>
#include <utility>

#include "ctf_types.hpp"
#include "rclrt/model/tool_interfaces.hpp"
#include "traced_system.hpp"

namespace rclrt::trace {

namespace {

/// The largest number of publications of a topic that are remembered by their time.
constexpr std::size_t kMostOfTopic = 100'000;

/// Largest error between the time of day and the trace's clock, which are read one after the other.
constexpr std::int64_t kClockError_ns = 20'000;
/// Longest time from rcl_publish to the message's source timestamp of the middleware.
constexpr std::int64_t kLongestSend_ns = 10'000'000;

/// Callbacks that run within each other on one thread, because they spin. More have lost their
/// ends.
constexpr std::size_t kMostNested = 256;

/// Signs of two processes with the same number that are needed. A damaged trace may show one.
constexpr std::size_t kCrossings = 2;
constexpr std::size_t kNameReturns = 3;

/// Returns the time of day at which the message of an rmw_take was sent; 0: not in the event.
std::int64_t sent_ns(const TraceEvent& take) {
  const auto stamp = static_cast<std::int64_t>(take.numbers[1]);
  return stamp > 0 && stamp <= ctf::kLatestSigned_ns ? stamp : 0;
}

}  // namespace

void TracedSystem::take_message(const TraceEvent& event) {
  Thread& thread = thread_of(event);
  const Handle first{event.pid, event.numbers[0]};
  switch (event.kind) {
    case EventKind::kRclPublish:
      take_rcl_publish(event);
      break;
    case EventKind::kRmwPublish:
      take_rmw_publish(event);
      break;
    case EventKind::kIntraPublish:
      if (const auto found = publishers_.find(first); found != publishers_.end()) {
        ++gaps_.publications;
        thread.published = publish(thread, found->second.topic, event.time_ns);
        thread.handed_over_by = event.numbers[0];
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
      thread.taken_sent_ns = 0;
      thread.taken_stamp_ns = 0;
      break;
    }
    case EventKind::kTake:
      // rclrt hands over messages within the process this way; rclcpp uses its buffers.
      if (const auto found = handed_over_.find(first); found != handed_over_.end()) {
        thread.taken = found->second;
        thread.taken_topic = kNone;
        thread.taken_sent_ns = 0;
        thread.taken_stamp_ns = 0;
      }
      break;
    case EventKind::kRmwTake:
      take_rmw_take(event);
      break;
    case EventKind::kMessageStamp:
      thread.taken_stamp_ns = static_cast<std::int64_t>(event.numbers[0]);
      break;
    default:
      break;
  }
}

void TracedSystem::take_rmw_take(const TraceEvent& event) {
  Thread& thread = thread_of(event);
  note_sample(thread);
  const auto subscription = rmw_subscriptions_.find({event.pid, event.numbers[0]});
  const bool is_known = subscription != rmw_subscriptions_.end();
  const bool taken = event.numbers[2] != 0 && is_known;
  thread.taken.reset();
  thread.taken_stamp_ns = 0;
  if (taken) {
    thread.taken = publication_of(event, subscription->second.topic);
    thread.taken_sent_ns = sent_ns(event);
    thread.taken_topic = subscription->second.topic;
  }
  if (!thread.running.empty() && is_known &&
      may_be_sample({event.pid, subscription->second.handle}, subscription->second.topic)) {
    thread.sample = Sample{.topic = subscription->second.topic,
                           .taken = taken,
                           .subscription = {event.pid, subscription->second.handle},
                           .at_ns = event.time_ns,
                           .message = taken ? *thread.taken : Publication{}};
  }
}

/// Returns whether a callback may take messages of this subscription itself. An executor, which the
/// callback spins, takes those of actions without a callback, and drops copies of messages that a
/// callback of the subscription gets within the process.
bool TracedSystem::may_be_sample(const Handle& subscription, std::uint32_t topic) const {
  const auto own = by_subscription_.find(subscription);
  return topic_names_[topic].find("/_action/") == std::string::npos &&
         (own == by_subscription_.end() || !started_.contains(own->second));
}

/// Processes an event rcl_publish, which every ROS release has. The next rmw_publish on the same
/// thread is of the same message. If that event has a source timestamp, the publication of a
/// received message is found by this timestamp; otherwise by the time at which it was sent. rclcpp
/// hands a message over within the process first, and then sends the same one to other processes.
void TracedSystem::take_rcl_publish(const TraceEvent& event) {
  const auto found = publishers_.find({event.pid, event.numbers[0]});
  if (found == publishers_.end()) {
    return;
  }
  Thread& thread = thread_of(event);
  Publication publication;
  if (std::exchange(thread.handed_over_by, 0) == event.numbers[0] && thread.published) {
    publication = *thread.published;
    publication.time_ns = event.time_ns;
  } else {
    ++gaps_.publications;
    publication = publish(thread, found->second.topic, event.time_ns);
  }
  std::deque<Publication>& latest = timeless_[found->second.topic].publications;
  latest.push_back(publication);
  if (latest.size() > kMostOfTopic) {
    latest.pop_front();
  }
  thread.published_topic = found->second.topic;
}

void TracedSystem::take_rmw_publish(const TraceEvent& event) {
  Thread& thread = thread_of(event);
  const std::uint32_t said = std::exchange(thread.published_topic, kNone);
  const auto found = rmw_publishers_.find({event.pid, event.numbers[0]});
  if (event.numbers[1] == 0 || found == rmw_publishers_.end()) {
    return;
  }
  std::deque<Publication>& latest = timeless_[found->second].publications;
  Publication publication;
  if (said == found->second && !latest.empty() && latest.back().thread == thread.index) {
    publication = latest.back();  // replaced: its stamp identifies it better than its time
    publication.time_ns = event.time_ns;
    latest.pop_back();
  } else {
    ++gaps_.publications;
    publication = publish(thread, found->second, event.time_ns);
  }
  remember({static_cast<std::int64_t>(event.numbers[1]), found->second}, publication);
}

TracedSystem::Publication TracedSystem::publication_of(const TraceEvent& take,
                                                       std::uint32_t topic) {
  const std::int64_t stamp = sent_ns(take);
  if (const auto found = publications_.find({static_cast<std::int64_t>(take.numbers[1]), topic});
      found != publications_.end()) {
    return found->second;
  }
  const auto timeless = timeless_.find(topic);
  if (timeless == timeless_.end() || stamp == 0) {
    return {};
  }
  // The latest publication of that host before the message was sent, if it is not much older.
  const std::int64_t sent_ns = stamp - take.clock_offset_ns;
  const std::deque<Publication>& latest = timeless->second.publications;
  const auto after =
      std::ranges::upper_bound(latest, sent_ns + kClockError_ns, {}, &Publication::time_ns);
  if (after == latest.begin() || sent_ns - std::prev(after)->time_ns > kLongestSend_ns ||
      host_of(std::prev(after)->thread) != take.host) {
    return {};
  }
  ++gaps_.timeless;
  return *std::prev(after);
}

TracedSystem::Publication TracedSystem::publish(Thread& thread, std::uint32_t topic,
                                                std::int64_t time_ns) {
  publication_times_[topic].push_back(time_ns);
  ++kept_publications_;
  PublicationCount& count = publication_counts_[topic];
  count.first_ns = count.count == 0 ? time_ns : count.first_ns;
  count.last_ns = time_ns;
  ++count.count;
  if (thread.running.empty()) {
    note_outside(thread.index, topic);
  }
  if (thread.running.empty() || thread.running.back().instance.callback == kNone) {
    (thread.may_be_in_run ? thread.unplaced : published_elsewhere_).insert(topic);
    return {kNone, time_ns, thread.index};
  }
  TracedInstance& running = thread.running.back().instance;
  running.first_publication_ns =
      running.first_publication_ns != 0 ? running.first_publication_ns : time_ns;
  callbacks_[running.callback].outputs.emplace(running.input, topic);
  return {running.callback, time_ns, thread.index};
}

void TracedSystem::note_outside(std::uint32_t thread, std::uint32_t topic) {
  const auto [found, fresh] = outside_of_.try_emplace({thread, topic}, outside_work_.size());
  if (fresh) {
    outside_work_.push_back({thread, topic, 0});
  }
  ++outside_work_[found->second].count;
}

void TracedSystem::remember(const Handle& key, const Publication& publication) {
  if (publications_.insert_or_assign(key, publication).second) {
    published_order_.push_back(key);
  }
  if (published_order_.size() > limits_.publications) {
    publications_.erase(published_order_.front());
    published_order_.pop_front();
    ++gaps_.forgotten;
  }
}

/// Throws TraceError if the events of the thread come from two processes with the same process id,
/// which nothing in the trace distinguishes.
void TracedSystem::require_one_life(const Thread& thread, const TraceEvent& event) const {
  if (thread.crossings < kCrossings && thread.name_returns < kNameReturns) {
    return;
  }
  const TracedProcess& process = processes_[static_cast<std::size_t>(event.pid)];
  throw TraceError(
      "process " + std::to_string(process.pid) + ", thread " + std::to_string(event.tid) +
      ": events of two processes with the same number, as processes of several containers have "
      "them; nothing in the trace tells them apart\n"
      "  fix: lttng add-context --userspace --type=pid_ns, before lttng start; rclrt trace record "
      "does that");
}

void TracedSystem::note_running_name(Thread& thread, const TraceEvent& event) {
  if (event.thread.empty() || event.thread == thread.running_name) {
    return;
  }
  thread.running_name = event.thread;
  thread.name_returns += thread.running_names.insert(thread.running_name).second ? 0 : 1;
  require_one_life(thread, event);
}

void TracedSystem::start(const TraceEvent& event) {
  Thread& thread = thread_of(event);
  thread.handed_over_by = 0;
  note_running_name(thread, event);
  thread.cut_short.erase(event.numbers[0]);
  if (thread.running.size() == kMostNested) {
    thread.running.erase(thread.running.begin());
    ++gaps_.unfinished;
  }
  const auto found = pointers_.find({event.pid, event.numbers[0]});
  if (found == pointers_.end()) {
    ++gaps_.unknown_callbacks;
    thread.taken.reset();
    thread.taken_stamp_ns = 0;
    thread.running.push_back({.pointer = event.numbers[0], .instance = {.callback = kNone}});
    return;
  }
  first_run_ns_ = first_run_ns_ == 0 ? event.time_ns : first_run_ns_;
  const TracedCallback& callback = callbacks_[found->second];
  started_.insert(found->second);
  place(thread);
  if (thread.sample && std::ranges::find(callback.inputs, thread.sample->topic,
                                         &TracedInput::topic) != callback.inputs.end()) {
    thread.sample.reset();  // an executor took it, which the running callback spins
  }
  note_sample(thread);
  TracedInstance instance{.callback = found->second,
                          .thread = thread.index,
                          .start_ns = event.time_ns,
                          .scheduled = all_scheduled_ || is_scheduled(event.pid),
                          .first_cpu = event.cpu};
  if (callback.kind == TriggerKind::kSubscription && thread.taken) {
    instance.publisher = thread.taken->callback;
    instance.published_ns = thread.taken->time_ns;
    instance.sent_ns = thread.taken_sent_ns;
    instance.stamp_ns = thread.taken_stamp_ns;
    const auto input = std::ranges::find(callback.inputs, thread.taken_topic, &TracedInput::topic);
    instance.input = input != callback.inputs.end()
                         ? static_cast<std::uint32_t>(input - callback.inputs.begin())
                     : callback.inputs.size() == 1 ? 0
                                                   : kNone;
    const bool of_tools = std::ranges::all_of(callback.inputs, [&](const TracedInput& each) {
      return each.topic != kNone && model::is_tool_topic(topic_names_[each.topic]);
    });
    gaps_.unknown_sources += thread.taken->time_ns == 0 && !of_tools ? 1 : 0;
  }
  thread.taken.reset();
  thread.taken_sent_ns = 0;
  thread.taken_stamp_ns = 0;
  if (thread.released == event.numbers[0] && thread.release_ns != 0) {
    instance.release_ns = thread.release_ns;
    instance.ready_ns = thread.ready_ns;
  }
  thread.release_ns = 0;
  thread.running.push_back({.pointer = event.numbers[0],
                            .instance = instance,
                            .cpu = event.cpu,
                            .on_since_ns = event.time_ns});
  list_busy(thread, event.pid);
}

void TracedSystem::end(const TraceEvent& event) {
  Thread& thread = thread_of(event);
  thread.handed_over_by = 0;
  note_sample(thread);
  // The runs above it on the stack have lost their ends.
  const auto found = std::ranges::find(thread.running.rbegin(), thread.running.rend(),
                                       event.numbers[0], &Running::pointer);
  if (found == thread.running.rend()) {
    ++gaps_.unmatched_ends;
    thread.unplaced.clear();  // this run published them
    thread.may_be_in_run = false;
    if (thread.cut_short.erase(event.numbers[0]) > 0) {
      ++thread.crossings;
      require_one_life(thread, event);
    }
    return;
  }
  for (auto above = thread.running.rbegin(); above != found; ++above) {
    thread.cut_short.insert(above->pointer);
  }
  gaps_.unfinished += static_cast<std::uint64_t>(found - thread.running.rbegin());
  end_part(*found, event.time_ns);
  close_reads(*found);
  TracedInstance instance = found->instance;
  const std::vector<recorder::CpuPart> parts = std::move(found->parts);
  thread.running.erase(std::prev(found.base()), thread.running.end());
  if (instance.callback == kNone) {
    return;
  }
  if (event.time_ns < instance.start_ns) {
    ++gaps_.unmatched_ends;  // wrong times of a damaged stream
    return;
  }
  instance.end_ns = event.time_ns;
  instance.last_cpu = event.cpu;
  keep_parts(instance, parts);
  note_overlaps(instance);
  instances_.push_back(instance);
  let_go_of_oldest();
}

/// Notes that what the thread published before was outside of callbacks.
void TracedSystem::place(Thread& thread) {
  thread.may_be_in_run = false;
  published_elsewhere_.merge(thread.unplaced);
  thread.unplaced.clear();
}

/// Drops all open runs: after a loss, a run may have ended long ago without its end in the trace.
void TracedSystem::forget_running() {
  for (auto& [handle, thread] : thread_states_) {
    gaps_.unfinished += thread.running.size();
    thread.may_be_in_run = thread.may_be_in_run || !thread.running.empty();
    thread.running.clear();
    thread.taken.reset();
    thread.taken_stamp_ns = 0;
    thread.published.reset();
    thread.sample.reset();
    thread.published_topic = kNone;
    thread.cut_short.clear();
    thread.release_ns = 0;
  }
}

void TracedSystem::finish() {
  forget_running();
  for (auto& [handle, thread] : thread_states_) {
    place(thread);
  }
  leave_out_spun_samples();
  // A recorded thread has at least one switch after its last run. Without it, recording had ended.
  doubt_scheduling(last_switch_ns_);
  count_latest();
}

}  // namespace rclrt::trace
