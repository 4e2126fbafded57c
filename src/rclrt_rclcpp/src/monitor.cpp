// SPDX-License-Identifier: Apache-2.0
#include "monitor.hpp"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <iomanip>
#include <sstream>
#include <utility>

#include "entity_entry.hpp"
#include "rclrt/executor/callback.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt_rclcpp {

namespace {

std::string milliseconds(std::int64_t ns) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(3) << static_cast<double>(ns) / 1e6;
  return text.str();
}

/// Returns the name of this machine, or of its container.
std::string hardware_id() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

diagnostic_msgs::msg::KeyValue value(const char* key, const std::string& text) {
  diagnostic_msgs::msg::KeyValue result;
  result.key = key;
  result.value = text;
  return result;
}

}  // namespace

void Monitor::missed(const engine::DeadlineMiss& miss) noexcept {
  Item item{};
  const std::string& name = miss.callback->name();
  std::memcpy(item.callback, name.data(), std::min(name.size(), kNameSize - 1));
  item.late_ns = miss.late_ns();
  item.unexplained_ns = miss.blame.unexplained_ns;
  item.culprits = miss.blame.listed().size();
  item.worst = miss.blame.worst;
  if (!queue_.try_push(item)) {
    without_blame_.fetch_add(1, std::memory_order_relaxed);
  }
  if (also_ != nullptr) {
    also_->missed(miss);
  }
}

void Monitor::start(Executor& executor, const rclcpp::Context::SharedPtr& context) {
  // Nobody spins it: it only publishes.
  auto node = std::make_shared<rclcpp::Node>("rclrt_monitor_" + std::to_string(getpid()),
                                             rclcpp::NodeOptions()
                                                 .context(context)
                                                 .use_global_arguments(false)
                                                 .start_parameter_services(false)
                                                 .start_parameter_event_publisher(false)
                                                 .enable_rosout(false));
  auto publisher = node->create_publisher<diagnostic_msgs::msg::DiagnosticArray>(
      options_.topic, rclcpp::QoS(10).reliable());
  executor_ = &executor;
  node_ = std::move(node);
  publisher_ = std::move(publisher);
  before_.clear();
  published_ns_ = rclrt::realtime::monotonic_now_ns();
  const std::int64_t period_ns = std::chrono::nanoseconds(options_.period).count();
  thread_ = rclrt::realtime::Thread(
      {.name = "rclrt monitor"}, [this, period_ns](const rclrt::realtime::StopFlag& stop) {
        while (!stop.wait_until(rclrt::realtime::monotonic_now_ns() + period_ns)) {
          publish_safely();
        }
      });
}

void Monitor::stop() noexcept {
  thread_.stop();
  if (publisher_ == nullptr) {
    return;
  }
  if (rclcpp::ok(node_->get_node_base_interface()->get_context())) {
    publish_safely();
    try {
      publisher_->wait_for_all_acked(std::chrono::milliseconds(200));
    } catch (const std::exception& error) {
      RCLCPP_DEBUG(rclcpp::get_logger("rclrt"), "the last message may be lost: %s", error.what());
    }
  }
  publisher_.reset();
  node_.reset();
  executor_ = nullptr;
}

void Monitor::publish_safely() noexcept {
  try {
    publish();
  } catch (const std::exception& error) {  // what nobody can hear of must not end the robot
    if (!std::exchange(has_failed_, true)) {
      RCLCPP_WARN(rclcpp::get_logger("rclrt"), "the monitor cannot publish: %s", error.what());
    }
  }
}

void Monitor::drain() {
  Item item;
  while (queue_.try_pop(item)) {
    Misses& misses = misses_[item.callback];
    misses.worst_late_ns = std::max(misses.worst_late_ns, item.late_ns);
    misses.unexplained_ns += item.unexplained_ns;
    for (std::size_t i = 0; i < item.culprits; ++i) {
      misses.in_the_way_ns[item.worst[i].callback] += item.worst[i].time_ns;
    }
  }
}

std::map<std::string, Monitor::Watched> Monitor::watched(
    const std::vector<CallbackInfo>& callbacks) const {
  std::map<std::string, Watched> result;
  for (const CallbackInfo& each : callbacks) {
    if (each.deadline.count() <= 0) {
      continue;
    }
    const std::string name = to_string(Place{each.node, each.kind, each.name, each.group});
    const auto [place, added] = result.try_emplace(name);
    Watched& all = place->second;
    all.counters.released += each.counters.released;
    all.counters.completed += each.counters.completed;
    all.counters.dropped += each.counters.dropped;
    all.counters.missed += each.counters.missed;
    all.deadline = added ? each.deadline : std::min(all.deadline, each.deadline);
    all.priority = added ? each.priority : std::max(all.priority, each.priority);
  }
  return result;
}

/// "2 of 100 missed, the worst 3.210 ms late; most in the way: /planner timer 0, 2.900 ms in all"
Monitor::Status Monitor::status_of(const std::string& name, const Watched& watched,
                                   std::chrono::nanoseconds interval) const {
  const engine::Counters& now = watched.counters;
  const auto found = before_.find(name);
  engine::Counters before = found == before_.end() ? engine::Counters() : found->second.counters;
  if (before.released > now.released || before.completed > now.completed ||
      before.dropped > now.dropped || before.missed > now.missed) {
    before = {};  // another one of the same name has come in its place
  }
  const std::uint64_t missed = now.missed - before.missed;
  const std::uint64_t ended = now.completed + now.dropped - (before.completed + before.dropped);
  // What waited then has waited since.
  const bool is_stuck = ended == 0 && before.pending() > 0 && watched.deadline <= interval &&
                        options_.period <= interval;
  Status status;
  status.name = "rclrt: " + name;
  status.hardware_id = hardware_id();
  status.level = is_stuck ? Status::ERROR : missed > 0 ? Status::WARN : Status::OK;
  std::ostringstream text;
  if (is_stuck) {
    text << "nothing has ended for " << milliseconds(interval.count()) << " ms, although "
         << now.pending() << " wait or run";
  } else {
    text << missed << " of " << ended << " missed";
  }
  const auto told = misses_.find(name.substr(0, kNameSize - 1));
  if (told != misses_.end()) {
    const Misses& misses = told->second;
    if (misses.worst_late_ns > 0) {
      text << (missed > 0 ? ", the worst " : "; of those before the worst ")
           << milliseconds(misses.worst_late_ns) << " ms late";
      status.values.push_back(value("worst_late_ms", milliseconds(misses.worst_late_ns)));
    }
    const auto worst = std::ranges::max_element(misses.in_the_way_ns, {},
                                                [](const auto& each) { return each.second; });
    if (worst != misses.in_the_way_ns.end()) {
      text << "; most in the way: " << worst->first << ", " << milliseconds(worst->second)
           << " ms in all";
      status.values.push_back(value("most_in_the_way", std::string(worst->first)));
    }
    status.values.push_back(value("unexplained_ms", milliseconds(misses.unexplained_ns)));
  }
  status.message = text.str();
  status.values.push_back(value("priority", std::to_string(watched.priority)));
  status.values.push_back(value("deadline_ms", milliseconds(watched.deadline.count())));
  for (const auto& [key, count] : {std::pair("released", now.released),
                                   {"completed", now.completed},
                                   {"dropped", now.dropped},
                                   {"missed", now.missed}}) {
    status.values.push_back(value(key, std::to_string(count)));
  }
  return status;
}

Monitor::Status Monitor::status_of_process(const std::vector<CallbackInfo>& callbacks) const {
  const engine::Executor& engine = executor_->engine();
  Status status;
  status.name = "rclrt: process " + hardware_id() + " " + std::to_string(getpid());
  status.hardware_id = hardware_id();
  const bool is_refused = engine.options().realtime != engine::Realtime::kOff && !engine.realtime();
  status.level = is_refused ? Status::WARN : Status::OK;
  status.message = engine.realtime() ? "real time" : "normal scheduling";
  if (is_refused) {
    status.message += ": SCHED_FIFO is not permitted, `rclrt doctor` names the fix";
  }
  const auto with_deadline = std::ranges::count_if(
      callbacks, [](const CallbackInfo& each) { return each.deadline.count() > 0; });
  const std::uint64_t without_blame = without_blame_.load(std::memory_order_relaxed);
  status.values.push_back(value("period_ms", std::to_string(options_.period.count())));
  status.values.push_back(value("callbacks", std::to_string(callbacks.size())));
  status.values.push_back(value("with_deadline", std::to_string(with_deadline)));
  status.values.push_back(value("misses_without_blame", std::to_string(without_blame)));
  return status;
}

void Monitor::publish() {
  // A miss is counted before it is told: what is drained now is counted below.
  drain();
  const std::vector<CallbackInfo> callbacks = executor_->callbacks();
  const std::int64_t now_ns = rclrt::realtime::monotonic_now_ns();
  const std::chrono::nanoseconds interval(now_ns - published_ns_);
  diagnostic_msgs::msg::DiagnosticArray message;
  message.header.stamp = node_->now();
  message.status.push_back(status_of_process(callbacks));
  std::map<std::string, Watched> now = watched(callbacks);
  for (const auto& [name, each] : now) {
    message.status.push_back(status_of(name, each, interval));
  }
  publisher_->publish(message);
  before_ = std::move(now);
  misses_.clear();
  published_ns_ = now_ns;
}

}  // namespace rclrt_rclcpp
