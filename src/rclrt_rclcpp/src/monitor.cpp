// SPDX-License-Identifier: Apache-2.0
#include "monitor.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
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
    untold_.fetch_add(1, std::memory_order_relaxed);
  }
  if (also_ != nullptr) {
    also_->missed(miss);
  }
}

void Monitor::start(Executor& executor, const rclcpp::Context::SharedPtr& context) {
  executor_ = &executor;
  // Nobody spins it: it only publishes.
  node_ = std::make_shared<rclcpp::Node>("rclrt_monitor_" + std::to_string(getpid()),
                                         rclcpp::NodeOptions()
                                             .context(context)
                                             .use_global_arguments(false)
                                             .start_parameter_services(false)
                                             .start_parameter_event_publisher(false)
                                             .enable_rosout(false));
  publisher_ = node_->create_publisher<diagnostic_msgs::msg::DiagnosticArray>(options_.topic, 10);
  const std::int64_t period_ns = std::chrono::nanoseconds(options_.period).count();
  thread_ = rclrt::realtime::Thread(
      {.name = "rclrt monitor"}, [this, period_ns](const rclrt::realtime::StopFlag& stop) {
        std::int64_t next_ns = rclrt::realtime::monotonic_now_ns();
        do {
          next_ns = std::max(next_ns, rclrt::realtime::monotonic_now_ns()) + period_ns;
        } while (!stop.wait_until(next_ns) && (publish(), true));
      });
}

void Monitor::stop() {
  if (executor_ == nullptr) {
    return;
  }
  thread_.stop();
  if (rclcpp::ok(node_->get_node_base_interface()->get_context())) {
    publish();
  }
  publisher_.reset();
  node_.reset();
  executor_ = nullptr;
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

/// Returns nothing for one that was not there, or was another one of the same name.
std::optional<engine::Counters> Monitor::counters_before(const std::string& name,
                                                         const engine::Counters& now) const {
  const auto found = before_.find(name);
  return found == before_.end() || found->second.released > now.released
             ? std::nullopt
             : std::optional(found->second);
}

/// "2 of 100 missed, the worst 3.210 ms late; most in the way: /planner timer 0, 2.900 ms in all"
Monitor::Status Monitor::status_of(const CallbackInfo& callback, const std::string& name) const {
  const engine::Counters& now = callback.counters;
  const engine::Counters before =
      counters_before(name, now).value_or(engine::Counters());  // of a new one all zero
  const std::uint64_t missed = now.missed - before.missed;
  const std::uint64_t ended = now.completed + now.dropped - (before.completed + before.dropped);
  const bool is_stuck = ended == 0 && before.pending() > 0 && callback.deadline <= options_.period;
  Status status;
  status.name = "rclrt: " + name;
  status.hardware_id = "rclrt";
  status.level = is_stuck ? Status::ERROR : missed > 0 ? Status::WARN : Status::OK;
  std::ostringstream text;
  if (is_stuck) {
    text << "nothing has ended for " << options_.period.count() << " ms, although " << now.pending()
         << " wait or run";
  } else {
    text << missed << " of " << ended << " missed";
  }
  const auto told = misses_.find(name.substr(0, kNameSize - 1));
  if (told != misses_.end()) {
    const Misses& misses = told->second;
    if (misses.worst_late_ns > 0) {
      text << ", the worst " << milliseconds(misses.worst_late_ns) << " ms late";
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
  status.values.push_back(value("priority", std::to_string(callback.priority)));
  status.values.push_back(value("deadline_ms", milliseconds(callback.deadline.count())));
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
  status.name = "rclrt: process " + std::to_string(getpid());
  status.hardware_id = "rclrt";
  const bool is_refused = engine.options().realtime != engine::Realtime::kOff && !engine.realtime();
  status.level = is_refused ? Status::WARN : Status::OK;
  status.message = engine.realtime() ? "real time" : "normal scheduling";
  if (is_refused) {
    status.message += ": SCHED_FIFO is not permitted, `rclrt doctor` names the fix";
  }
  const auto with_deadline = std::ranges::count_if(
      callbacks, [](const CallbackInfo& each) { return each.deadline.count() > 0; });
  status.values.push_back(value("callbacks", std::to_string(callbacks.size())));
  status.values.push_back(value("with_deadline", std::to_string(with_deadline)));
  status.values.push_back(
      value("misses_without_blame", std::to_string(untold_.load(std::memory_order_relaxed))));
  return status;
}

void Monitor::publish() {
  const std::vector<CallbackInfo> callbacks = executor_->callbacks();
  drain();  // after the counters: what they have missed has told why, or is about to
  diagnostic_msgs::msg::DiagnosticArray message;
  message.header.stamp = node_->now();
  message.status.push_back(status_of_process(callbacks));
  AllCounters now;
  for (const CallbackInfo& each : callbacks) {
    if (each.deadline.count() > 0) {
      const std::string name = to_string(Place{each.node, each.kind, each.name, each.group});
      message.status.push_back(status_of(each, name));
      now[name] = each.counters;
    }
  }
  before_ = std::move(now);
  misses_.clear();
  publisher_->publish(message);
}

}  // namespace rclrt_rclcpp
