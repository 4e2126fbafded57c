// SPDX-License-Identifier: Apache-2.0
#include "monitor.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <statistics_msgs/msg/statistic_data_type.hpp>
#include <utility>

#include "rclrt/executor/callback.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt_robot {

namespace {

void add(const TimeBefore& time, TimeBefore& to) {
  to.time_ns += time.time_ns;
  to.beyond_ns += time.beyond_ns;
}

}  // namespace

void Monitor::missed(const engine::DeadlineMiss& miss) noexcept {
  Item item{};
  const std::string& name = miss.callback->name();
  std::memcpy(item.callback, name.data(), std::min(name.size(), kNameSize - 1));
  item.end_ns = miss.end_ns;
  item.late_ns = miss.late_ns();
  item.dropped = miss.dropped;
  item.unexplained_ns = miss.blame.unexplained_ns;
  const rclrt_rclcpp::MissDetails details = rclrt_rclcpp::details_of(miss);
  item.itself = details.itself;
  item.origin = details.origin;
  item.before_release = details.before_release;
  item.culprits = miss.blame.listed().size();
  item.worst = miss.blame.worst;
  if (!queue_.try_push(item)) {
    without_blame_.fetch_add(1, std::memory_order_relaxed);  // statistics only
  }
  if (also_ != nullptr) {
    also_->missed(miss);
  }
}

void Monitor::start(Executor& executor, const rclcpp::Context::SharedPtr& context) {
  // This node is never spun: it only publishes.
  auto node = std::make_shared<rclcpp::Node>("rclrt_monitor_" + std::to_string(getpid()),
                                             rclcpp::NodeOptions()
                                                 .context(context)
                                                 .use_global_arguments(false)
                                                 .start_parameter_services(false)
                                                 .start_parameter_event_publisher(false)
                                                 .enable_rosout(false));
  const rclcpp::QoS qos = rclcpp::QoS(10).reliable();
  auto publisher =
      node->create_publisher<diagnostic_msgs::msg::DiagnosticArray>(options_.topic, qos);
  if (!options_.statistics.empty()) {
    statistics_ = node->create_publisher<statistics_msgs::msg::MetricsMessage>(
        options_.statistics, rclcpp::QoS(1000).reliable());
  }
  if (!options_.misses.empty()) {
    each_miss_ = node->create_publisher<rclrt_msgs::msg::DeadlineMiss>(
        options_.misses, rclcpp::QoS(1000).reliable());
  }
  executor_ = &executor;
  node_ = std::move(node);
  publisher_ = std::move(publisher);
  before_ = watched(executor.callbacks());  // a previous spin may have left misses
  progress_.clear();
  published_ns_ = rclrt::realtime::monotonic_now_ns();
  published_ = node_->now();
  cpu_ns_ = rclrt::realtime::read_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  drain_.emplace("rclrt monitor", options_.period, [this, context] {
    if (rclcpp::ok(context)) {
      publish_safely();
    }
  });
}

void Monitor::stop() noexcept {
  if (publisher_ == nullptr) {
    return;
  }
  drain_.reset();  // publishes once more
  if (rclcpp::ok(node_->get_node_base_interface()->get_context())) {
    try {
      publisher_->wait_for_all_acked(std::chrono::milliseconds(200));
      if (statistics_) {
        statistics_->wait_for_all_acked(std::chrono::milliseconds(200));
      }
      if (each_miss_) {
        each_miss_->wait_for_all_acked(std::chrono::milliseconds(200));
      }
    } catch (const std::exception& error) {
      RCLCPP_DEBUG(rclcpp::get_logger("rclrt"), "the last messages may be lost: %s", error.what());
    }
  }
  publisher_.reset();
  statistics_.reset();
  each_miss_.reset();
  clock_reports_.reset();
  node_.reset();
  executor_ = nullptr;
}

void Monitor::publish_safely() noexcept {
  try {
    publish();
  } catch (const std::exception& error) {  // a failure to report must not end the robot
    if (!std::exchange(has_failed_, true)) {
      RCLCPP_WARN(rclcpp::get_logger("rclrt"), "the monitor cannot publish: %s", error.what());
    }
  }
}

void Monitor::drain() {
  Item item;
  while (queue_.try_pop(item)) {
    take(item, misses_[item.callback]);
    if (each_miss_) {
      items_.push_back(item);
    }
  }
}

void Monitor::take(const Item& item, Misses& misses) {
  if (item.late_ns <= 0) {
    return;  // it was in time itself
  }
  misses.worst_late_ns = std::max(misses.worst_late_ns, item.late_ns);
  misses.late_ns += item.late_ns;
  misses.unexplained_ns += item.unexplained_ns;
  add(item.itself, misses.itself);
  add(item.origin.in_middleware, misses.in_middleware);
  add(item.before_release, misses.before_release);
  if (item.origin.before_publication.time_ns > 0) {
    add(item.origin.before_publication, misses.before_publication[item.origin.publisher]);
  }
  for (std::size_t i = 0; i < item.culprits; ++i) {
    misses.in_the_way_ns[std::string(item.worst[i].callback)] += item.worst[i].time_ns;
  }
}

void Monitor::publish_misses(const std::map<std::string, Watched>& all, const rclcpp::Time& now,
                             std::int64_t now_ns) {
  for (const Item& item : items_) {
    Misses misses;
    take(item, misses);
    rclrt_msgs::msg::DeadlineMiss message;
    message.stamp = now - rclcpp::Duration::from_nanoseconds(now_ns - item.end_ns);
    message.callback = item.callback;
    message.late = rclcpp::Duration::from_nanoseconds(misses.late_ns);
    message.dropped = item.dropped;
    const auto found = all.find(item.callback);
    for (const auto& [what, time_ns] :
         in_the_way(misses, found == all.end() ? "" : found->second.topic)) {
      message.causes.emplace_back();
      message.causes.back().what = what;
      message.causes.back().time = rclcpp::Duration::from_nanoseconds(time_ns);
    }
    each_miss_->publish(message);
  }
  items_.clear();
}

/// Returns the responses of a callback that were recorded since the last call for it.
Monitor::Histogram Monitor::take_responses(const CallbackInfo& callback) {
  Histogram now(*callback.response_us);
  Histogram interval(now);
  const auto [before, is_first] = responses_before_.try_emplace(callback.response_us, now);
  if (!is_first) {
    interval.subtract(before->second);
    before->second = std::move(now);
  }
  return interval;
}

std::map<std::string, Monitor::Watched> Monitor::watched(
    const std::vector<CallbackInfo>& callbacks) {
  std::map<std::string, Watched> result;
  std::map<std::shared_ptr<const Histogram>, Histogram> still_there;
  for (const CallbackInfo& each : callbacks) {
    const std::chrono::nanoseconds limit = std::max(each.deadline, each.max_age);
    if (limit.count() <= 0 || each.stamped_ends) {
      continue;
    }
    const std::string name = to_string(each);
    const auto [place, added] = result.try_emplace(name);
    Watched& all = place->second;
    all.counters.released += each.counters.released;
    all.counters.completed += each.counters.completed;
    all.counters.dropped += each.counters.dropped;
    all.counters.missed += each.counters.missed;
    all.unstamped += each.unstamped;
    all.from_publication += each.from_publication;
    all.is_age = all.is_age || each.max_age.count() > 0;
    all.limit = added ? limit : std::min(all.limit, limit);
    all.priority = added ? each.priority : std::max(all.priority, each.priority);
    all.node = each.node;
    all.topic = each.kind == "subscription" ? each.name : "";
    if (each.response_us) {
      Histogram interval = take_responses(each);
      still_there.insert(responses_before_.extract(each.response_us));
      if (all.responses) {
        all.responses->add(interval);
      } else {
        all.responses = std::move(interval);
      }
    }
  }
  responses_before_ = std::move(still_there);
  return result;
}

void Monitor::publish_statistics(const std::map<std::string, Watched>& all,
                                 const rclcpp::Time& now) {
  using Type = statistics_msgs::msg::StatisticDataType;
  statistics_msgs::msg::MetricsMessage message;
  message.unit = "ms";
  message.window_start = published_;
  message.window_stop = now;
  const auto add = [&message](std::uint8_t type, double value) {
    message.statistics.emplace_back();
    message.statistics.back().data_type = type;
    message.statistics.back().data = value;
  };
  for (const auto& [name, each] : all) {
    if (!each.responses) {
      continue;
    }
    message.measurement_source_name = each.node;
    message.metrics_source = name + (each.is_age ? " age" : " response");
    message.statistics.clear();
    if (const std::uint64_t count = each.responses->count(); count > 0) {
      add(Type::STATISTICS_DATA_TYPE_AVERAGE, each.responses->mean() / 1e3);
      add(Type::STATISTICS_DATA_TYPE_MINIMUM, static_cast<double>(each.responses->min()) / 1e3);
      add(Type::STATISTICS_DATA_TYPE_MAXIMUM, static_cast<double>(each.responses->max()) / 1e3);
      add(Type::STATISTICS_DATA_TYPE_STDDEV, each.responses->standard_deviation() / 1e3);
      add(Type::STATISTICS_DATA_TYPE_SAMPLE_COUNT, static_cast<double>(count));
    } else {
      add(Type::STATISTICS_DATA_TYPE_SAMPLE_COUNT, 0);
    }
    statistics_->publish(message);
  }
}

void Monitor::publish() {
  // The counters are read before the queue of explained misses is drained. A miss is counted, then
  // explained, then queued; so a few of the misses counted here are only reported in the next
  // message.
  const std::vector<CallbackInfo> callbacks = executor_->callbacks();
  drain();
  const std::int64_t now_ns = rclrt::realtime::monotonic_now_ns();
  const std::int64_t cpu_ns = rclrt::realtime::read_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  const rclcpp::Time now = node_->now();
  const std::chrono::nanoseconds interval(now_ns - published_ns_);
  diagnostic_msgs::msg::DiagnosticArray message;
  message.header.stamp = now;
  message.status.push_back(status_of_process(
      callbacks, 100.0 * static_cast<double>(cpu_ns - cpu_ns_) /
                     static_cast<double>(std::max<std::int64_t>(interval.count(), 1))));
  std::map<std::string, Watched> all = watched(callbacks);
  for (const auto& [name, each] : all) {
    message.status.push_back(status_of(name, each, interval));
  }
  report_remote_ages(callbacks, message.status);
  report_stalls(message.status);
  report_progress(callbacks, now_ns, message.status);
  publisher_->publish(message);
  if (statistics_) {
    publish_statistics(all, now);
  }
  publish_misses(all, now, now_ns);
  before_ = std::move(all);
  misses_.clear();
  published_ns_ = now_ns;
  published_ = now;
  cpu_ns_ = cpu_ns;
}

}  // namespace rclrt_robot
