// SPDX-License-Identifier: Apache-2.0
// Tells operators of missed deadlines, with who was in the way.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <diagnostic_msgs/msg/diagnostic_array.hpp>
#include <map>
#include <memory>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/executor/deadline_miss.hpp"
#include "rclrt/realtime/mpsc_queue.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt_rclcpp/executors.hpp"
#include "rclrt_rclcpp/robot.hpp"

namespace rclrt_rclcpp {

/// Publishes once a period what became of the callbacks with deadlines since the last time. A miss
/// costs the thread that missed a copy into a bounded queue; a callback in time costs nothing. What
/// is published comes from a thread "rclrt monitor" at normal priority.
class Monitor final : public engine::MissHandler {
 public:
  /// `also`: told, too; nullptr: nobody.
  Monitor(MonitorOptions options, engine::MissHandler* also)
      : options_(std::move(options)), also_(also), queue_(options_.capacity) {}

  void missed(const engine::DeadlineMiss& miss) noexcept RCLRT_NONBLOCKING override;

  /// Publishes until `stop`, and once more there. Both are called by the thread that spins.
  void start(Executor& executor, const rclcpp::Context::SharedPtr& context);
  void stop();

 private:
  using Status = diagnostic_msgs::msg::DiagnosticStatus;
  static constexpr std::size_t kNameSize = 256;  // longer names are cut

  struct Item {
    char callback[kNameSize];  // copied: it may have been removed when the item is read
    std::int64_t late_ns;
    std::int64_t unexplained_ns;
    std::size_t culprits;
    // Their names live as long as the executor.
    std::array<engine::Culprit, engine::Blame::kCulprits> worst;
  };
  /// The misses of one callback since the last publication.
  struct Misses {
    std::int64_t worst_late_ns = 0;
    std::int64_t unexplained_ns = 0;
    std::map<std::string_view, std::int64_t> in_the_way_ns;
  };
  /// What callbacks had at the last publication.
  using AllCounters = std::map<std::string, engine::Counters>;

  void publish();
  void drain();
  Status status_of(const CallbackInfo& callback, const std::string& name) const;
  std::optional<engine::Counters> counters_before(const std::string& name,
                                                  const engine::Counters& now) const;
  Status status_of_process(const std::vector<CallbackInfo>& callbacks) const;

  const MonitorOptions options_;
  engine::MissHandler* const also_;
  rclrt::realtime::MpscQueue<Item> queue_;
  std::atomic<std::uint64_t> untold_{0};  // relaxed: a count alone
  // What follows is the publishing thread's, while there is one.
  Executor* executor_ = nullptr;
  rclcpp::Node::SharedPtr node_;
  rclcpp::Publisher<diagnostic_msgs::msg::DiagnosticArray>::SharedPtr publisher_;
  std::map<std::string, Misses> misses_;
  AllCounters before_;
  rclrt::realtime::Thread thread_;
};

}  // namespace rclrt_rclcpp
