// SPDX-License-Identifier: Apache-2.0
// Reports missed deadlines to operators, with their culprits.
#pragma once

#include <rmw/types.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <diagnostic_msgs/msg/diagnostic_array.hpp>
#include <map>
#include <memory>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <rclrt_msgs/msg/clock_interval.hpp>
#include <rclrt_msgs/msg/deadline_miss.hpp>
#include <set>
#include <statistics_msgs/msg/metrics_message.hpp>
#include <string>
#include <utility>
#include <vector>

#include "host_clocks.hpp"
#include "rclcpp_names.hpp"
#include "rclrt/executor/deadline_miss.hpp"
#include "rclrt/realtime/histogram.hpp"
#include "rclrt/realtime/mpsc_queue.hpp"
#include "rclrt/realtime/periodic_drain.hpp"
#include "rclrt_rclcpp/miss_details.hpp"
#include "rclrt_robot/robot.hpp"
#include "remote_age.hpp"

namespace rclrt_robot {

using rclrt_rclcpp::MessageOrigin;
using rclrt_rclcpp::TimeBefore;

/// Publishes the results of the callbacks with deadlines once a period, each time since the last
/// publication, from a thread "rclrt monitor" at normal priority. A miss costs the thread on which
/// it happens one copy into a bounded queue, in addition to the engine's search for the culprits.
class Monitor final : public engine::MissHandler {
 public:
  /// Makes a monitor. `also` gets the misses, too; nullptr: none.
  Monitor(MonitorOptions options, engine::MissHandler* also)
      : options_(std::move(options)), also_(also), queue_(options_.capacity) {}

  void missed(const engine::DeadlineMiss& miss) noexcept RCLRT_NONBLOCKING override;

  /// Starts to publish, until `stop`, which publishes once more. The thread that spins calls both.
  /// If rclcpp refuses the topic, throws rclcpp's exception and starts nothing.
  void start(Executor& executor, const rclcpp::Context::SharedPtr& context);
  /// Ends what `start` started; otherwise does nothing.
  void stop() noexcept;

 private:
  using Status = diagnostic_msgs::msg::DiagnosticStatus;
  static constexpr std::size_t kNameSize = 256;  // longer names are cut

  using Gid = std::array<std::uint8_t, RMW_GID_STORAGE_SIZE>;
  using Histogram = rclrt::realtime::Histogram;

  struct Item {
    char callback[kNameSize];  // copied: it may have been removed when the item is read
    std::int64_t end_ns;       // CLOCK_MONOTONIC
    std::int64_t late_ns;      // not positive: in time, but releases before it were dropped
    std::uint64_t dropped;
    std::int64_t unexplained_ns;
    TimeBefore itself;          // its run
    MessageOrigin origin;       // of a message that has an age
    TimeBefore before_release;  // of a timer with an age: its data are older
    std::size_t culprits;
    // Their names live as long as the executor.
    std::array<engine::Culprit, engine::Blame::kCulprits> worst;
  };
  /// The misses of one callback since the last publication.
  struct Misses {
    std::int64_t worst_late_ns = 0;
    std::int64_t late_ns = 0;  // sum
    std::int64_t unexplained_ns = 0;
    TimeBefore itself;
    TimeBefore in_middleware;
    TimeBefore before_release;
    std::map<Gid, TimeBefore> before_publication;
    std::map<std::string, std::int64_t> in_the_way_ns;
  };

  /// The counters of all callbacks with one name: a subscription and its intra-process waitable, or
  /// two subscriptions of a node to one topic.
  struct Watched {
    engine::Counters counters{};  // sum over all of them
    std::chrono::nanoseconds limit{};
    bool is_age = false;  // not a response
    std::uint64_t unstamped = 0;
    std::uint64_t from_publication = 0;
    int priority = 0;
    std::string node;
    std::string topic;                   // of a subscription
    std::optional<Histogram> responses;  // since the last publication, in microseconds
  };
  /// The changes of one of them since the last publication.
  struct Period {
    std::uint64_t missed = 0;
    std::uint64_t ended = 0;
    std::uint64_t unstamped = 0;
    bool is_stuck = false;
  };

  /// The ages of a callback with data that another host stamps.
  struct Remote {
    RemoteAges ages;
    RemoteAges::Counts before;        // at the last publication
    std::uint64_t clock_changes = 0;  // at the last publication
    std::uint64_t dropped = 0;        // instances that were not judged, at the last publication
    bool is_present = false;
  };

  /// The progress of all callbacks with one name.
  struct Progress {
    engine::Counters counters{};  // sum over all of them
    int priority = 0;
    bool has_limit = false;
    // Since when nothing has ended although something waits or runs, and the releases up to then.
    std::int64_t since_ns = 0;
    std::uint64_t released_before = 0;
    // Timers only, because a timer of which the thread gets no CPU is not even released.
    std::int64_t overdue_ns = 0;
    std::uint64_t overdue_periods = 0;

    /// Returns the number of releases that have come, or were due, since an instance ended.
    std::uint64_t waiting() const {
      return std::max(counters.released - released_before, overdue_periods);
    }
  };

  void publish_safely() noexcept;
  void publish();
  void publish_misses(const std::map<std::string, Watched>& all, const rclcpp::Time& now,
                      std::int64_t now_ns);
  void publish_statistics(const std::map<std::string, Watched>& all, const rclcpp::Time& now);
  void drain();
  static void take(const Item& item, Misses& misses);
  std::map<std::string, Watched> watched(const std::vector<CallbackInfo>& callbacks);
  Histogram take_responses(const CallbackInfo& callback);
  Period period_of(const std::string& name, const Watched& now,
                   std::chrono::nanoseconds interval) const;
  Status status_of(const std::string& name, const Watched& now,
                   std::chrono::nanoseconds interval) const;
  void report_misses(const std::string& name, const Watched& now, bool any_missed, Status& status,
                     std::string& text) const;
  std::vector<std::pair<std::string, std::int64_t>> in_the_way(const Misses& misses,
                                                               const std::string& topic) const;
  std::string publisher_name(const Gid& publisher, const std::string& topic) const;
  /// Appends a status for each set of threads that has ever stalled.
  void report_stalls(std::vector<Status>& statuses);
  /// Appends a status for each callback without a limit that has ever made no progress.
  void report_progress(const std::vector<CallbackInfo>& callbacks, std::int64_t now_ns,
                       std::vector<Status>& statuses);
  /// Appends a status for each callback with data that another host stamps.
  void report_remote_ages(const std::vector<CallbackInfo>& callbacks,
                          std::vector<Status>& statuses);
  Status status_of_remote(const std::string& name, const CallbackInfo& callback, Remote& remote,
                          std::int64_t now_ns) const;
  void listen_to_clocks();
  Status status_of_process(const std::vector<CallbackInfo>& callbacks, double cpu_percent) const;

  const MonitorOptions options_;
  engine::MissHandler* const also_;
  rclrt::realtime::MpscQueue<Item> queue_;
  std::atomic<std::uint64_t> without_blame_{0};  // relaxed: statistics only
  // The following members belong to the publishing thread, while there is one.
  Executor* executor_ = nullptr;
  rclcpp::Node::SharedPtr node_;
  rclcpp::Publisher<diagnostic_msgs::msg::DiagnosticArray>::SharedPtr publisher_;
  rclcpp::Publisher<rclrt_msgs::msg::DeadlineMiss>::SharedPtr each_miss_;          // may be none
  rclcpp::Publisher<statistics_msgs::msg::MetricsMessage>::SharedPtr statistics_;  // may be none
  // The content of each histogram at the last publication.
  std::map<std::shared_ptr<const Histogram>, Histogram> responses_before_;
  std::map<std::string, Misses> misses_;
  std::vector<Item> items_;                // since the last publication, if each miss is published
  std::map<std::string, Watched> before_;  // at the last publication
  std::int64_t published_ns_ = 0;          // time of the last publication
  rclcpp::Time published_;                 // by the node's clock
  std::int64_t cpu_ns_ = 0;                // CPU time of the process at the last publication
  bool has_failed_ = false;                // to publish; reported once
  std::set<std::string> stalled_;          // the workers that have ever stalled
  std::map<std::string, Progress> progress_;  // at the last publication
  std::set<std::string> without_progress_;    // the present callbacks that ever were
  std::map<std::string, Remote> remote_;
  std::optional<HostClocks> clocks_;  // once a callback needs them
  rclcpp::Subscription<rclrt_msgs::msg::ClockInterval>::SharedPtr clock_reports_;
  std::optional<rclrt::realtime::PeriodicDrain> drain_;  // last: its thread uses all of the above
};

}  // namespace rclrt_robot
