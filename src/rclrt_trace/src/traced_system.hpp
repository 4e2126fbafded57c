// SPDX-License-Identifier: Apache-2.0
// The robot in a trace: its nodes, callbacks and topics, and when each callback ran for which
// message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gaps.hpp"
#include "run_totals.hpp"
#include "stored_value.hpp"
#include "trace_reader.hpp"
#include "traced_entities.hpp"
#include "traced_instance.hpp"

namespace rclrt::trace {

/// Builds the nodes, callbacks and their runs from the events of a trace, which must come in order
/// of time. Not thread-safe.
///
/// Up to RunLimits::all runs it keeps each of them. With more it streams: RunTotals and the other
/// counts are those of the whole trace, and instances(), cpu_parts() and publications() have the
/// latest ones, all of them since kept_since_ns(). Its memory then does not grow with the trace.
class TracedSystem {
 public:
  explicit TracedSystem(const RunLimits& limits = {}) : limits_(limits) {}

  /// Processes the next event. Throws TraceError if two processes have the same process id at the
  /// same time.
  void take(const TraceEvent& event);
  /// Calls `sink` with each run once, when it is let go of or at finish(): in portions, in the
  /// order of their ends. The runs are valid during the call.
  void set_sink(std::function<void(std::span<TracedInstance>)> sink) { sink_ = std::move(sink); }
  /// Closes the runs that are still open. Call it after the last event.
  void finish();

  /// Sets the names of the hosts, if there are several.
  void name_hosts(std::vector<std::string> names) { host_names_ = std::move(names); }
  /// Returns the names of the hosts; empty: there is one.
  const std::vector<std::string>& host_names() const { return host_names_; }

  const std::vector<TracedProcess>& processes() const { return processes_; }
  const std::vector<TracedNode>& nodes() const { return nodes_; }
  const std::vector<TracedCallback>& callbacks() const { return callbacks_; }
  const std::vector<TracedExecutor>& executors() const { return executors_; }
  const std::vector<TracedThread>& threads() const { return threads_; }
  const std::vector<TracedInstance>& instances() const { return instances_; }
  /// Returns whether instances() has only the latest runs.
  bool streams() const { return streams_; }
  /// Returns the time since which all runs that ended are kept; INT64_MIN: since the begin.
  std::int64_t kept_since_ns() const { return kept_since_ns_; }
  /// Returns the totals of all runs, by callback; empty if it does not stream. Complete after
  /// finish().
  const std::vector<RunTotals>& totals() const { return totals_; }
  /// Returns the callbacks of totals() that ran, in the order of their first ends.
  const std::vector<std::uint32_t>& first_runs() const { return first_runs_; }
  /// Returns whether runs of the two callbacks of a node overlapped. Only for callbacks that state
  /// no group.
  bool have_overlapped(std::uint32_t one, std::uint32_t other) const {
    return overlaps_.contains(std::minmax(one, other));
  }
  std::size_t topic_count() const { return topic_names_.size(); }
  const std::string& topic(std::uint32_t index) const { return topic_names_[index]; }
  /// Returns whether a process of the trace has a publisher of the topic.
  bool has_publisher(std::uint32_t topic) const { return topics_with_publisher_.contains(topic); }
  /// Returns the CPU time of threads without callbacks; empty if the trace has no switches.
  std::vector<OtherThreads> other_threads() const;
  /// Returns the time from the first start of a callback to the last event of a node.
  std::int64_t observed_ns() const { return first_run_ns_ == 0 ? 0 : last_ns_ - first_run_ns_; }
  const std::vector<recorder::CpuPart>& cpu_parts() const { return cpu_parts_; }
  /// Returns the time of the first start of a callback; 0: there is none.
  std::int64_t first_run_ns() const { return first_run_ns_; }
  /// The publications of a topic in the whole trace.
  struct PublicationCount {
    std::uint64_t count = 0;
    std::int64_t first_ns = 0;
    std::int64_t last_ns = 0;
  };
  const PublicationCount& publication_count(std::uint32_t topic) const {
    return publication_counts_[topic];
  }
  /// Returns the times of the publications on a topic, ascending, from within and outside of
  /// callbacks.
  const std::vector<std::int64_t>& publications(std::uint32_t topic) const {
    return publication_times_[topic];
  }
  /// Returns when events may be missing because the tracer had no room or a file is damaged.
  const std::vector<LostTime>& lost_times() const { return lost_times_; }
  const std::vector<MessageLink>& links() const { return links_; }
  const std::vector<StoredValue>& stored_values() const { return stored_values_; }
  const std::vector<OutsideWork>& outside_work() const { return outside_work_; }
  /// Returns whether messages of the topic were published by no callback that the trace knows.
  bool is_published_elsewhere(std::uint32_t topic) const {
    return published_elsewhere_.contains(topic);
  }
  const Gaps& gaps() const { return gaps_; }
  std::int64_t last_ns() const { return last_ns_; }

 private:
  // An event arrives with its process's number; take() replaces it by the process's index.
  using Handle = std::pair<std::int64_t, std::uint64_t>;  // process, pointer
  struct HandleHash {
    std::size_t operator()(const Handle& handle) const {
      return std::hash<std::uint64_t>()(handle.second * 0x9E3779B97F4A7C15U ^
                                        static_cast<std::uint64_t>(handle.first));
    }
  };
  template <typename T>
  using ByHandle = std::unordered_map<Handle, T, HandleHash>;
  struct Endpoint {  // end of a subscription or a publisher
    std::uint32_t node = kNone;
    std::uint32_t topic = kNone;
    std::size_t depth = 0;
  };
  struct Synchronizer {
    std::uint32_t callback = kNone;
    std::int64_t last_ns = 0;  // when its last input was added
  };
  struct HalfPair {
    Handle said;  // the half that is known: rcl's handle or the callback's pointer
    bool has_handle = false;
  };
  struct Service {
    std::uint32_t node = kNone;
    std::string name;
  };
  struct Timer {
    std::int64_t created_ns = 0;
    std::int64_t period_ns = 0;
    std::uint32_t callback = kNone;
  };
  struct Publication {
    std::uint32_t callback = kNone;
    std::int64_t time_ns = 0;
    std::uint32_t thread = kNone;
  };
  struct Read {                 // of a value, or of the newest message of a topic
    std::int64_t from_ns = 0;   // it was the newest one from this time
    std::int64_t until_ns = 0;  // at least until this time
    Publication message{};      // of a topic
  };
  struct Running {
    std::uint64_t pointer = 0;
    TracedInstance instance;
    std::map<std::pair<bool, std::uint64_t>, Read> reads{};  // by "is a topic", topic or address
    std::vector<recorder::CpuPart> parts{};                  // that have ended
    std::int32_t cpu = recorder::kUnknownCpu;                // on which its thread runs
    std::int64_t on_since_ns = 0;                            // ditto, since then; 0: it has no CPU
  };
  struct Sample {  // a message that a thread took while it ran a callback
    std::uint32_t topic = kNone;
    bool taken = false;      // false: there was no new one
    Handle subscription{};   // of rcl
    std::int64_t at_ns = 0;  // when it was taken
    Publication message{};   // its time is 0 if not known
  };
  struct Thread {
    std::uint32_t index = 0;
    std::vector<Running> running;      // a stack: callbacks may spin
    std::optional<Publication> taken;  // the message that the next run is for
    std::uint32_t taken_topic = kNone;
    std::int64_t taken_sent_ns = 0;
    std::int64_t taken_stamp_ns = 0;
    std::optional<Publication> published;  // intra-process, for the enqueue event that follows
    std::uint64_t handed_over_by = 0;      // its publisher, until the callback ends or publishes
    std::optional<Sample> sample;  // for the running callback, unless another one starts for it
    std::uint64_t released = 0;    // rclrt: callback of release_ns
    std::int64_t release_ns = 0;
    std::int64_t ready_ns = 0;
    std::int64_t off_since_ns = 0;          // without a CPU since; 0: it has one, or not known
    bool preempted = false;                 // why it has no CPU
    std::uint32_t published_topic = kNone;  // of the last rcl_publish, if no rmw_publish came yet
    std::set<std::uint64_t> cut_short;      // pointers of runs that an outer run's end closed
    bool may_be_in_run = true;              // which began before its events
    std::set<std::uint32_t> unplaced{};     // topics, since then
    std::size_t crossings = 0;              // runs that overlap on this thread
    std::string running_name;               // the thread's name at its latest run
    std::set<std::string> running_names;
    std::size_t name_returns = 0;  // number of times that an earlier name came back
    bool is_listed = false;        // in busy_threads_
  };
  struct Value {                        // at an address
    std::uint32_t index = kNone;        // into stored_values_
    std::uint64_t newest = 0;           // number of the newest stored value
    std::deque<std::int64_t> stored{};  // times of the latest ones, the newest last
  };
  struct Topic {  // the latest publications without a stamp
    std::deque<Publication> publications;
  };

  std::int64_t process_of(const TraceEvent& event);
  void require_one_life(const Thread& thread, const TraceEvent& event) const;
  void note_running_name(Thread& thread, const TraceEvent& event);
  void take_entity(const TraceEvent& event);
  void take_rclrt(const TraceEvent& event);
  void take_message(const TraceEvent& event);
  void add_synchronizer_input(const TraceEvent& event);
  void add_link(const TraceEvent& event);
  void take_value(const TraceEvent& event);
  void note_sample(Thread& thread);
  static bool is_other_value(const Value& value, const TraceEvent& event);
  static Read read_of(const Value& value, std::uint64_t number, std::int64_t time_ns);
  void close_reads(Running& run);
  void take_switch(const TraceEvent& event);
  bool is_scheduled(std::int64_t process) const;
  static void leave_cpu(Thread& thread, std::int64_t time_ns, bool preempted);
  static void get_cpu(Thread& thread, const TraceEvent& event);
  static void end_part(Running& running, std::int64_t time_ns);
  void keep_parts(TracedInstance& instance, const std::vector<recorder::CpuPart>& parts);
  void lose_switches(std::int64_t since_ns);
  void doubt_scheduling(std::int64_t since_ns);
  void forget_running();
  void start(const TraceEvent& event);
  void end(const TraceEvent& event);
  void list_busy(Thread& thread, std::int64_t process);
  void note_overlaps(const TracedInstance& ended);
  void let_go_of_oldest();
  void count_latest();
  void note_threads_at_once();
  void count(TracedInstance& run);
  void let_go_of_publications();
  void let_go_of_parts();

  std::uint32_t topic_of(std::string_view name);
  std::uint32_t node_of(const Handle& handle) const;
  Thread& thread_of(const TraceEvent& event);
  /// Returns a new callback for the pointer, which replaces an earlier one at this address.
  std::uint32_t new_callback(const Handle& pointer, std::int64_t time_ns);
  /// Returns the callback of a pointer; makes it if it is new.
  std::uint32_t callback_of(const Handle& pointer, std::int64_t time_ns);
  void pair_subscription(const TraceEvent& event);
  void link_subscription(const Handle& pointer, const Handle& subscription, std::int64_t time_ns);
  void add_rclrt_callback(const TraceEvent& event);
  void add_entity_to_executor(const TraceEvent& event);
  void join(std::uint32_t into, const Handle& pointer);
  std::uint32_t executor_of(const TraceEvent& event);
  /// Returns a publication on the topic by the callback that the thread runs, if it runs one.
  Publication publish(Thread& thread, std::uint32_t topic, std::int64_t time_ns);
  void remember(const Handle& key, const Publication& publication);
  void note_outside(std::uint32_t thread, std::uint32_t topic);
  void take_rcl_publish(const TraceEvent& event);
  void take_rmw_publish(const TraceEvent& event);
  void take_rmw_take(const TraceEvent& event);
  bool may_be_sample(const Handle& subscription, std::uint32_t topic) const;
  void leave_out_spun_samples();
  void place(Thread& thread);
  std::uint32_t host_of(std::uint32_t thread) const {
    return processes_[static_cast<std::size_t>(threads_[thread].process)].host;
  }
  /// Returns the publication of a message; its time is 0 if not known.
  Publication publication_of(const TraceEvent& take, std::uint32_t topic);

  std::vector<std::string> host_names_;
  std::vector<TracedProcess> processes_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::int64_t> process_numbers_;
  std::vector<TracedNode> nodes_;
  std::vector<TracedCallback> callbacks_;
  std::vector<TracedExecutor> executors_;
  std::vector<TracedThread> threads_;
  RunLimits limits_;
  std::function<void(std::span<TracedInstance>)> sink_;
  bool streams_ = false;
  std::int64_t kept_since_ns_ = INT64_MIN;
  std::vector<TracedInstance> instances_;
  std::vector<RunTotals> totals_;          // by callback
  std::vector<std::uint32_t> first_runs_;  // callbacks, by the end of their first run
  std::set<std::pair<std::uint32_t, std::uint32_t>> overlaps_;  // callbacks, the lower one first
  std::vector<std::vector<Thread*>> busy_threads_;    // by process: those that may run a callback
  std::vector<PublicationCount> publication_counts_;  // by topic
  std::size_t kept_publications_ = 0;
  std::vector<recorder::CpuPart> cpu_parts_;
  std::vector<std::string> topic_names_;
  std::vector<std::vector<std::int64_t>> publication_times_;  // by topic
  std::vector<LostTime> lost_times_;
  std::set<std::uint32_t> topics_with_publisher_;
  std::unordered_map<std::uint32_t, Topic> timeless_;  // by topic
  std::vector<MessageLink> links_;
  std::vector<StoredValue> stored_values_;
  ByHandle<Value> values_;
  // The newest message that a callback took itself, by callback and topic.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Publication> sampled_;
  std::vector<OutsideWork> outside_work_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> outside_of_;  // thread, topic
  Gaps gaps_;
  std::int64_t last_ns_ = 0;

  std::map<std::string, std::uint32_t, std::less<>> topics_;
  ByHandle<std::uint32_t> node_handles_;
  ByHandle<Endpoint> publishers_;           // by rcl handle
  ByHandle<std::uint32_t> rmw_publishers_;  // topic, by rmw handle
  ByHandle<Endpoint> subscriptions_;        // by rcl handle
  struct RmwSubscription {
    std::uint32_t topic = kNone;
    std::uint64_t handle = 0;  // of rcl
  };
  ByHandle<RmwSubscription> rmw_subscriptions_;
  // The callbacks that took messages of a subscription themselves, and the topic.
  std::map<Handle, std::pair<std::set<std::uint32_t>, std::uint32_t>> sampling_;
  std::set<std::uint32_t> started_;              // callbacks that have run
  std::set<std::uint32_t> published_elsewhere_;  // topics with messages of no known callback
  ByHandle<HalfPair> unpaired_;                  // by rclcpp's object
  ByHandle<Service> services_;
  ByHandle<std::uint32_t> by_service_;  // callbacks, by rcl handle
  ByHandle<Timer> timers_;
  ByHandle<std::uint32_t> pointers_;         // of callbacks
  ByHandle<std::uint32_t> by_subscription_;  // callbacks, by rcl handle
  ByHandle<std::uint32_t> executor_handles_;
  std::set<std::int64_t> rclrt_processes_;
  std::map<std::pair<std::int64_t, std::string>, std::uint32_t>
      by_name_;  // node's callback of rclrt
  ByHandle<Synchronizer> synchronizers_;
  ByHandle<Thread> thread_states_;
  // The latest thread with this number; none: threads of several containers have it.
  std::unordered_map<std::int64_t, std::optional<Handle>> thread_of_tid_;
  // Space and number of the processes that have switches in the trace.
  std::set<std::pair<std::uint32_t, std::int64_t>> scheduled_;
  struct CpuTime {
    std::int64_t since_ns = 0;  // has a CPU since then; 0: has none
    std::int64_t total_ns = 0;
  };
  void count_cpu_time(const TraceEvent& event);
  std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t>, CpuTime> cpu_times_;  // by thread
  std::int64_t first_run_ns_ = 0;
  bool all_scheduled_ = false;  // the trace has the kernel's own events
  std::int64_t last_switch_ns_ = 0;
  ByHandle<Publication> handed_over_;  // by message, in a process
  std::map<std::tuple<std::int64_t, std::uint64_t, std::uint64_t>, Publication>
      buffered_;                        // by process, buffer and index
  ByHandle<Publication> publications_;  // by source time and topic
  std::deque<Handle> published_order_;  // the keys of publications_, the oldest first
};

}  // namespace rclrt::trace
