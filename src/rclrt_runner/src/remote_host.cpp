// SPDX-License-Identifier: Apache-2.0
#include "remote_host.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <rclrt/model/write.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "host_protocol.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/text/number.hpp"

namespace rclrt::runner {

namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kMillisecond_ns = 1'000'000;
constexpr std::int64_t kGreeting_ns = 30'000 * kMillisecond_ns;  // ssh takes its time
constexpr milliseconds kHostPoll{50};
constexpr std::int64_t kSilence_ns = 10'000 * kMillisecond_ns;
/// Pings before the begin; most of them are in quick succession, since the fastest one counts.
constexpr std::uint64_t kEnoughAnswers = 50;
constexpr std::int64_t kQuickPing_ns = 5 * kMillisecond_ns;
constexpr std::int64_t kPing_ns = 100 * kMillisecond_ns;
constexpr std::size_t kMostSent = 256;
/// How often the host gets the difference of the clocks, and by how much it changes at most: enough
/// for a drift of 200 millionths, and too little to exchange the order of instances.
constexpr std::int64_t kDifference_ns = 500 * kMillisecond_ns;
constexpr std::int64_t kLargestChange_ns = 100'000;
constexpr std::int64_t kNothingIsKnown_ns = std::int64_t{1'000'000} * 1'000 * kMillisecond_ns;
/// All instances that ended so long before a message of the host have come.
constexpr std::int64_t kLateArrival_ns = 1'000 * kMillisecond_ns;

/// Returns the text of a message of another host.
std::string text_of(const Message& message) {
  constexpr std::size_t kLongest = 4'000;
  return printable(
      std::string(reinterpret_cast<const char*>(message.body.data()), message.body.size()),
      kLongest);
}

/// Returns the ROS domain of this process.
std::uint32_t ros_domain() {
  const char* const text = std::getenv("ROS_DOMAIN_ID");
  return text == nullptr ? 0 : text::parse_number<std::uint32_t>(text, {0, 232}).value_or(0);
}

}  // namespace

std::string host_of(const model::Application& application,
                    const std::vector<std::size_t>& process) {
  const auto& host = application.executors[process.front()].host;
  return host ? application.hosts[*host].name : std::string();
}

std::vector<std::vector<std::size_t>> processes_on(const model::Application& application,
                                                   const std::string& host) {
  auto result = application.processes();
  std::erase_if(result, [&](const auto& each) { return host_of(application, each) != host; });
  return result;
}

RemoteHost::RemoteHost(HostConnection connection, const model::Application& application,
                       const RunOptions& options)
    : connection_(std::move(connection)),
      application_(application),
      options_(options),
      processes_(processes_on(application, connection_.host)),
      channel_(connection_.file, connection_.file),
      came_(application.callbacks.size()),
      heard_at_ns_(realtime::monotonic_now_ns()) {
  result_.name = connection_.host;
  // Times of one host are compared with each other: the difference of the clocks follows the drift.
  result_.drift_ppb = kLargestChange_ns * 1'000'000'000 / kDifference_ns;
  for (const auto& each : processes_) {
    own_.insert(own_.end(), each.begin(), each.end());
  }
}

void RemoteHost::start(Take take, std::function<void()> failed) {
  take_ = std::move(take);
  failed_ = std::move(failed);
  heard_at_ns_ = realtime::monotonic_now_ns();
  channel_.send(MessageKind::kRequest,
                to_bytes(HostRequest{.host = connection_.host,
                                     .application = model::to_yaml(application_),
                                     .executor = label_of(options_.executor),
                                     .duration_ns = options_.duration.count(),
                                     .strict = options_.strict,
                                     .alone = options_.alone,
                                     .domain = ros_domain()}));
  thread_ = realtime::Thread({.name = "host " + connection_.host},
                             [this](const realtime::StopFlag& stop) { talk(stop); });
}

RemoteHost::~RemoteHost() {
  disconnect();
  ::close(connection_.file);
}

void RemoteHost::disconnect() {
  thread_.request_stop();
  ::shutdown(connection_.file, SHUT_RDWR);
  thread_.stop();
}

RemoteHost::State RemoteHost::seen_state() const {
  return state_ == State::kPrepared && offset_.answers() < kEnoughAnswers ? State::kConnecting
                                                                          : state_;
}

RemoteHost::State RemoteHost::state() const {
  const std::scoped_lock lock(mutex_);
  return seen_state();
}

RemoteHost::State RemoteHost::wait_for(State state, milliseconds limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [&] { return seen_state() >= state; });
  return seen_state();
}

std::int64_t RemoteHost::round_trip_ns() const {
  const std::scoped_lock lock(mutex_);
  return longest_trip_ns_;
}

void RemoteHost::lose(const std::string& cause) {
  {
    const std::scoped_lock lock(mutex_);
    if (state_ >= State::kDone) {
      return;
    }
    add_knot(read_clock_pair());
    state_ = State::kLost;
    result_.lost = cause;
    complete_until_ns_ = heard_at_ns_ - kLateArrival_ns;
    changed_.notify_all();
  }
  failed_();
}

void RemoteHost::talk(const realtime::StopFlag& stop) {
  try {
    while (!stop.stop_requested() && state() < State::kDone) {
      exchange();
    }
  } catch (const std::exception& error) {
    if (!stop.stop_requested()) {
      lose(error.what());
    }
  }
}

bool RemoteHost::greet(const std::function<bool()>& goes_on) {
  const std::int64_t limit_ns = realtime::monotonic_now_ns() + kGreeting_ns;
  while (goes_on()) {
    if (const auto line = channel_.receive_line(kHostPoll)) {
      result_.machine = check_agent_greeting(*line);
      channel_.send_line(coordinator_greeting());
      return true;
    }
    if (realtime::monotonic_now_ns() > limit_ns) {
      throw std::runtime_error("is silent; expected `rclrt agent` there");
    }
  }
  return false;
}

void RemoteHost::exchange() {
  const std::int64_t now_ns = realtime::monotonic_now_ns();
  send_due(now_ns);
  const std::int64_t wait_ns = std::max<std::int64_t>(next_ping_ns_ - now_ns, 0);
  const bool is_there = channel_.read(milliseconds(1 + wait_ns / kMillisecond_ns));
  const ClockPair received = read_clock_pair();
  while (const auto message = channel_.next()) {
    if (message->kind == MessageKind::kPong) {
      take_pong(*message, received);
    } else {
      take_message(*message);
    }
  }
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(bytes_, channel_.bytes_read()) != channel_.bytes_read()) {
      heard_at_ns_ = received.monotonic_ns;
    }
    if (received.monotonic_ns - heard_at_ns_ <= kSilence_ns &&
        (is_there || state_ >= State::kDone)) {
      return;
    }
  }
  throw std::runtime_error(is_there ? "has not answered for ten seconds" : "closed the connection");
}

/// Sends a ping and the difference of the clocks, if it is time.
void RemoteHost::send_due(std::int64_t now_ns) {
  // At first a ping follows each answer. Several on their way at once would wait for each other.
  const bool is_quick = sequence_ < 2 * kEnoughAnswers && sent_.empty();
  if (now_ns >= next_ping_ns_ || (is_quick && now_ns >= last_ping_ns_ + kQuickPing_ns)) {
    const ClockPair clocks = read_clock_pair();
    sent_.push_back({++sequence_, clocks});
    if (sent_.size() > kMostSent) {
      sent_.erase(sent_.begin());
    }
    channel_.send(MessageKind::kPing, to_bytes(HostPing{sequence_, clocks}));
    last_ping_ns_ = now_ns;
    next_ping_ns_ = now_ns + kPing_ns;
  }
  HostTimes times;
  {
    const std::scoped_lock lock(mutex_);
    if (epoch_ns_ && next_difference_ns_ == 0) {
      next_difference_ns_ = now_ns + kDifference_ns;  // it has the one of the begin
    }
    if (!epoch_ns_ || now_ns < next_difference_ns_) {
      return;
    }
    follow(read_clock_pair(), kLargestChange_ns);
    times.difference_ns = difference_ns_;
  }
  next_difference_ns_ = now_ns + kDifference_ns;
  channel_.send(MessageKind::kDifference, to_bytes(times));
}

/// Notes by how much the difference that the host has may be wrong now.
void RemoteHost::note_error(const ClockPair& now) {
  if (const auto interval = offset_.at(now); interval && epoch_ns_) {
    error_ns_ = std::max(
        {error_ns_, difference_ns_ + interval->high_ns, -interval->low_ns - difference_ns_});
  }
}

/// Notes the largest error since the last knot.
void RemoteHost::add_knot(const ClockPair& now) {
  note_error(now);
  result_.knots.push_back({now.monotonic_ns, error_ns_});
  error_ns_ = 0;
}

/// Moves the difference of the clocks to the middle of its interval, by at most `most_ns`. Returns
/// false if the interval is not known.
bool RemoteHost::follow(const ClockPair& now, std::int64_t most_ns) {
  const auto interval = offset_.at(now);
  if (!interval) {
    return false;
  }
  note_error(now);  // of the old one, with which instances were converted up to now
  const std::int64_t middle_ns = -(interval->low_ns + interval->width_ns() / 2);
  difference_ns_ += std::clamp(middle_ns - difference_ns_, -most_ns, most_ns);
  add_knot(now);
  note_error(now);
  return true;
}

void RemoteHost::take_pong(const Message& message, const ClockPair& received) {
  const HostPing pong = ping_of(message.body);
  const auto sent = std::ranges::find(sent_, pong.sequence, &Sent::sequence);
  if (sent == sent_.end()) {
    return;
  }
  const std::scoped_lock lock(mutex_);
  offset_.add(sent->clocks, pong.clocks, received);
  const std::int64_t trip_ns = received.after_ns - sent->clocks.before_ns;
  longest_trip_ns_ = std::max(longest_trip_ns_ - longest_trip_ns_ / 64, trip_ns);
  sent_.erase(sent_.begin(), std::next(sent));  // those before it were lost
  changed_.notify_all();
}

/// Takes the states at the end.
void RemoteHost::end(const Message& message) {
  auto parts = parts_of(message.body, processes_.size(), application_);
  {
    const std::scoped_lock lock(mutex_);
    add_knot(read_clock_pair());
    parts_ = std::move(parts);
    has_ended_ = true;
    const std::int64_t end_ns = epoch_ns_.value_or(0) + options_.duration.count();
    const bool is_early =
        std::ranges::any_of(parts_, [&](const Part& part) { return part.ended_ns < end_ns; });
    if (!is_early || is_asked_to_end_) {
      state_ = State::kDone;
      changed_.notify_all();
      return;
    }
  }
  lose("its agent was stopped there");
}

void RemoteHost::take_message(const Message& message) {
  switch (message.kind) {
    case MessageKind::kInstances: {
      const auto instances = instances_of(message.body, own_, application_);
      {
        const std::scoped_lock lock(mutex_);
        for (const auto& each : instances) {
          ++came_[each.record.callback].released;
          ++came_[each.record.callback].completed;
        }
      }
      take_(instances);
      return;
    }
    case MessageKind::kPrepared: {
      auto parts = parts_of(message.body, processes_.size(), application_);
      const std::scoped_lock lock(mutex_);
      parts_ = std::move(parts);
      state_ = State::kPrepared;
      changed_.notify_all();
      return;
    }
    case MessageKind::kDone:
      end(message);
      return;
    case MessageKind::kNotBegun: {
      const std::unique_lock lock(mutex_);
      if (!is_asked_to_end_) {
        throw std::runtime_error("its agent was stopped there");
      }
      state_ = State::kNotBegun;
      changed_.notify_all();
      return;
    }
    case MessageKind::kFailed:
      throw std::runtime_error(text_of(message));
    default:
      throw std::runtime_error("sends an unknown message");
  }
}

void RemoteHost::begin(std::int64_t epoch_ns) {
  HostTimes times{.difference_ns = 0, .epoch_ns = epoch_ns};
  {
    const std::scoped_lock lock(mutex_);
    if (!follow(read_clock_pair(), INT64_MAX / 4)) {
      throw std::runtime_error("host '" + connection_.host + "': its clock is not known");
    }
    times.difference_ns = difference_ns_;
    epoch_ns_ = epoch_ns;
    result_.knots.clear();
    add_knot(read_clock_pair());
  }
  channel_.send(MessageKind::kBegin, to_bytes(times));
}

void RemoteHost::request_end() {
  {
    const std::scoped_lock lock(mutex_);
    is_asked_to_end_ = true;
  }
  channel_.send(MessageKind::kEnd);
}

std::vector<Part> RemoteHost::parts() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Part> result = parts_;
  if (state_ == State::kLost && !has_ended_ && !result.empty()) {
    for (Part& each : result) {
      each.ended_ns = complete_until_ns_;
    }
    result.front().counts = came_;  // its own counts are lost
  }
  return result;
}

recorder::HostTimes RemoteHost::result() const {
  const std::scoped_lock lock(mutex_);
  recorder::HostTimes result = result_;
  result.received = result.sent = offset_.answers();
  result.steps = offset_.steps();
  for (auto& knot : result.knots) {
    knot.error_ns = result.steps > 0 ? kNothingIsKnown_ns : knot.error_ns;
  }
  return result;
}

}  // namespace rclrt::runner
