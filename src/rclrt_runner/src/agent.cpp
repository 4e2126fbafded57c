// SPDX-License-Identifier: Apache-2.0
#include "agent.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <rclrt/model/parse.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "channel.hpp"
#include "command_line.hpp"
#include "host_protocol.hpp"
#include "hosts.hpp"
#include "processes.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt/realtime/throw_errno.hpp"
#include "require_possible.hpp"
#include "run.hpp"
#include "spinning.hpp"

namespace rclrt::runner {

namespace {

using std::chrono::milliseconds;

constexpr int kFailed = 1;
constexpr int kBadInput = 2;
constexpr milliseconds kGreeting{10'000};
constexpr milliseconds kRequest{60'000};
constexpr milliseconds kSilence{10'000};
constexpr milliseconds kLook{100};
constexpr std::uint32_t kLargestDomain = 232;
constexpr std::int64_t kLeastLead_ns = 100'000'000;
constexpr std::int64_t kLongest_ns = std::int64_t{86'400} * 1'000'000'000;

/// The difference of the time of the run and CLOCK_MONOTONIC, in memory that forked processes
/// share.
class SharedDifference {
 public:
  SharedDifference() {
    void* const memory = ::mmap(nullptr, sizeof(std::atomic<std::int64_t>), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      realtime::throw_errno("cannot share memory with the processes");
    }
    value_ = new (memory) std::atomic<std::int64_t>(0);
  }
  ~SharedDifference() { ::munmap(value_, sizeof *value_); }
  SharedDifference(const SharedDifference&) = delete;
  SharedDifference& operator=(const SharedDifference&) = delete;

  std::atomic<std::int64_t>& value() { return *value_; }

 private:
  std::atomic<std::int64_t>* value_;
};

/// The thread that answers pings and obeys the other end. It stops the run, as SIGINT does, if the
/// other end asks for it, is gone, or is silent.
class Link {
 public:
  Link(Channel& channel, std::atomic<std::int64_t>& difference_ns, StopRequests& requests)
      : channel_(channel), difference_ns_(difference_ns), requests_(requests) {
    // Delays of the answers widen the interval of the clock, so this thread is above the executors.
    thread_ = realtime::Thread({.name = "rclrt agent", .scheduling = starting()},
                               [this](const realtime::StopFlag& stop) { listen(stop); });
  }
  ~Link() {
    thread_.stop();
    requests_.arrived(milliseconds(0));  // its own requests end with it
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Waits for the epoch, by CLOCK_MONOTONIC. std::nullopt: the run ends before.
  std::optional<std::int64_t> wait_for_epoch() {
    std::unique_lock lock(mutex_);
    while (!epoch_ns_ && !requests_.arrived(milliseconds(0))) {
      changed_.wait_for(lock, kLook);
    }
    return epoch_ns_;
  }

  /// Returns why the other end is gone; empty: it is not.
  std::string failure() {
    const std::scoped_lock lock(mutex_);
    return failure_;
  }

 private:
  void listen(const realtime::StopFlag& stop) {
    auto heard_at = std::chrono::steady_clock::now();
    std::uint64_t bytes = channel_.bytes_read();
    while (!stop.stop_requested()) {
      try {
        if (!channel_.read(kLook)) {
          end("the host that coordinates the run closed the connection");
          return;
        }
        while (const auto message = channel_.next()) {
          take(*message);
        }
        if (std::exchange(bytes, channel_.bytes_read()) != channel_.bytes_read()) {
          heard_at = std::chrono::steady_clock::now();
        }
      } catch (const std::exception& error) {
        end("the host that coordinates the run " + std::string(error.what()));
        return;
      }
      if (std::chrono::steady_clock::now() - heard_at > kSilence) {
        end("nothing has come from the host that coordinates the run for ten seconds");
        return;
      }
    }
  }

  void take(const Message& message) {
    switch (message.kind) {
      case MessageKind::kPing:
        channel_.send(MessageKind::kPong,
                      to_bytes(HostPing{ping_of(message.body).sequence, read_clock_pair()}));
        return;
      case MessageKind::kDifference:
        difference_ns_.store(times_of(message.body).difference_ns);
        return;
      case MessageKind::kBegin: {
        const HostTimes times = times_of(message.body);
        const std::scoped_lock lock(mutex_);
        if (epoch_ns_) {
          throw std::runtime_error("begins the run twice");
        }
        difference_ns_.store(times.difference_ns);
        epoch_ns_ = times.epoch_ns - times.difference_ns;
        changed_.notify_all();
        return;
      }
      case MessageKind::kEnd:
        StopRequests::request();
        return;
      default:
        throw std::runtime_error("sends an unknown message");
    }
  }

  void end(const std::string& cause) {
    {
      const std::scoped_lock lock(mutex_);
      failure_ = cause;
    }
    StopRequests::request();
  }

  Channel& channel_;
  std::atomic<std::int64_t>& difference_ns_;
  StopRequests& requests_;
  std::mutex mutex_;  // guards the two below
  std::condition_variable changed_;
  std::optional<std::int64_t> epoch_ns_;
  std::string failure_;
  realtime::Thread thread_;  // last: it uses all of the above
};

/// Returns the application of a request. Throws std::invalid_argument.
model::Application application_of(const HostRequest& request) {
  const model::ParseResult parsed = model::parse_application(request.application);
  if (!parsed.application) {
    throw std::invalid_argument("the application: " + (parsed.diagnostics.empty()
                                                           ? "cannot be read"
                                                           : parsed.diagnostics.front().message));
  }
  if (request.duration_ns <= 0 || request.duration_ns > kLongest_ns ||
      request.domain > kLargestDomain) {
    throw std::invalid_argument("a duration or a ROS domain is out of range");
  }
  return *parsed.application;
}

/// Sends the instances in messages that are not too large.
void send_instances(Channel& channel, std::span<const recorder::LoggedInstance> instances) {
  constexpr std::size_t kAtOnce = 4'096;
  while (!instances.empty()) {
    const auto now = instances.first(std::min(kAtOnce, instances.size()));
    channel.send(MessageKind::kInstances, to_bytes(now));
    instances = instances.subspan(now.size());
  }
}

/// Runs the processes. Throws the cause if one fails.
void run_part(Channel& channel, const HostRequest& request) {
  const model::Application application = application_of(request);
  SharedDifference difference;
  const RunOptions options{.executor = parse_runnable_executor(request.executor),
                           .duration = std::chrono::nanoseconds(request.duration_ns),
                           .strict = request.strict,
                           .alone = request.alone,
                           .time = RunTime(difference.value())};
  const auto executors = processes_on(application, request.host);
  if (executors.empty()) {
    throw std::invalid_argument("the application has no executor on host '" +
                                printable(request.host) + "'");
  }
  require_possible(application, executors, options.executor);
  ::setenv("ROS_DOMAIN_ID", std::to_string(request.domain).c_str(), 1);
  std::fprintf(stderr, "rclrt agent: runs %zu process%s of '%s' as host '%s'\n", executors.size(),
               executors.size() == 1 ? "" : "es", application.name.c_str(),
               printable(request.host).c_str());
  StopRequests requests;
  Processes processes(application, executors, options, {}, requests);
  Link link(channel, difference.value(), requests);
  const auto stopped = [&] {
    if (const std::string failure = link.failure(); !failure.empty()) {
      throw std::runtime_error(failure);
    }
    channel.send(MessageKind::kNotBegun);
  };
  const std::vector<Part> prepared = processes.wait_until_prepared();
  if (prepared.empty()) {
    return stopped();
  }
  channel.send(MessageKind::kPrepared, to_bytes(prepared));
  const auto epoch_ns = link.wait_for_epoch();
  if (!epoch_ns) {
    return stopped();
  }
  // The executors need the rest of the time to start their timers.
  if (*epoch_ns - realtime::monotonic_now_ns() < kLeastLead_ns) {
    throw std::runtime_error("got the epoch too late: the connection is too slow");
  }
  processes.begin(*epoch_ns);
  const std::vector<Part> states =
      processes.wait([&](auto instances) { send_instances(channel, instances); });
  if (states.empty()) {
    return stopped();
  }
  if (const std::string failure = link.failure(); !failure.empty()) {
    throw std::runtime_error(failure);
  }
  channel.send(MessageKind::kDone, to_bytes(states));
}

std::optional<HostRequest> receive_request(Channel& channel) {
  const auto end = std::chrono::steady_clock::now() + kRequest;
  while (std::chrono::steady_clock::now() < end) {
    if (const auto message = channel.next()) {
      return message->kind == MessageKind::kRequest ? std::optional(request_of(message->body))
                                                    : std::nullopt;
    }
    if (!channel.read(kLook)) {
      break;
    }
  }
  return std::nullopt;
}

/// Tells both sides what is wrong.
int fail(Channel& channel, const std::exception& error, int code) {
  std::fprintf(stderr, "rclrt agent: %s\n", error.what());
  const std::string text = error.what();
  channel.send(MessageKind::kFailed, std::as_bytes(std::span(text)));
  return code;
}

}  // namespace

int serve_run(int in, int out) {
  std::signal(SIGPIPE, SIG_IGN);  // a write fails instead
  Channel channel(in, out);
  try {
    channel.send_line(agent_greeting());
    const auto line = channel.receive_line(kGreeting);
    if (!line) {
      throw std::runtime_error("is silent; expected `rclrt run`");
    }
    check_coordinator_greeting(*line);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rclrt agent: the other end %s\n", error.what());
    return kBadInput;
  }
  try {
    const auto request = receive_request(channel);
    if (!request) {
      std::fprintf(stderr, "rclrt agent: the other end left without a request\n");
      return kFailed;
    }
    run_part(channel, *request);
    return 0;
  } catch (const std::invalid_argument& error) {
    return fail(channel, error, kBadInput);
  } catch (const std::exception& error) {
    return fail(channel, error, kFailed);
  }
}

}  // namespace rclrt::runner
