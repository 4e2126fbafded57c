// SPDX-License-Identifier: Apache-2.0
#include "processes.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>
#include <utility>

#include "process.hpp"
#include "rclrt/realtime/throw_errno.hpp"

namespace rclrt::runner {

namespace {

// The first byte of a message from a process to the one that started it.
constexpr char kPrepared = 'p';     // its state is in the file
constexpr char kDone = 'd';         // its state at the end is in the file
constexpr char kInterrupted = 'i';  // by a signal; the same
constexpr char kNotBegun = 'n';     // it was stopped before the epoch
constexpr char kFailed = 'f';       // the text follows
constexpr std::size_t kMessageBytes = 4096;

constexpr int kForever = -1;
constexpr int kLook_ms = 100;
constexpr std::chrono::seconds kPatience{5};

void send(int socket, char kind, const std::string& text = {}) {
  const std::string message = kind + text.substr(0, kMessageBytes - 1);
  // A refusal means that the receiver is gone.
  static_cast<void>(::send(socket, message.data(), message.size(), MSG_NOSIGNAL));
}

/// The ends of a process that has started another one: for messages, for instances, and the file of
/// its state.
struct Ends {
  int socket;
  int instances;
  int file;
  StopRequests& requests;
};

/// The requests over the socket to the process that started this one.
class RemoteStarter final : public Starter {
 public:
  RemoteStarter(const Ends& ends, const RunTime& time) : ends_(ends), time_(time) {}

  std::optional<std::int64_t> begin(const Part& state) override {
    write_part(ends_.file, state);
    send(ends_.socket, kPrepared);
    std::int64_t epoch_ns = 0;
    ssize_t size = 0;
    do {
      size = ::recv(ends_.socket, &epoch_ns, sizeof epoch_ns, 0);
    } while (size < 0 && errno == EINTR);
    return size == sizeof epoch_ns ? std::optional(epoch_ns) : std::nullopt;
  }

  bool goes_on() override {
    if (ends_.requests.arrived(std::chrono::milliseconds(0))) {
      return false;
    }
    char byte = 0;
    return ::recv(ends_.socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
  }

  void add(std::span<const recorder::LoggedInstance> instances) override {
    if (time_.is_remote()) {
      converted_.assign(instances.begin(), instances.end());
      std::ranges::for_each(converted_, [this](auto& each) { to_run_time(each.record, time_); });
      instances = converted_;
    }
    auto bytes = std::as_bytes(instances);
    while (!bytes.empty()) {
      const ssize_t sent = ::send(ends_.instances, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EINTR) {
        return;  // the receiver is gone
      }
      bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
    }
  }

  void finish(Part state) override {
    ::shutdown(ends_.instances, SHUT_WR);
    write_part(ends_.file, state);
    const bool interrupted = ends_.requests.arrived(std::chrono::milliseconds(0));
    send(ends_.socket, interrupted ? kInterrupted : kDone);
  }

  void fail(const std::string& cause) override { send(ends_.socket, kFailed, cause); }

 private:
  const Ends ends_;
  const RunTime time_;
  std::vector<recorder::LoggedInstance> converted_;
};

/// Runs the whole life of a forked process.
[[noreturn]] void live(const model::Application& application, std::span<const std::size_t> own,
                       const RunOptions& options, std::span<const char* const> arguments,
                       const Ends& ends) {
  try {
    RemoteStarter starter(ends, options.time);
    if (!run_process(application, own, options, arguments, starter)) {
      send(ends.socket, kNotBegun);
    }
  } catch (const std::exception& error) {
    send(ends.socket, kFailed, error.what());
  }
  std::fflush(nullptr);
  ::_exit(0);  // objects in the memory of the forking process are not this one's to destroy
}

/// Connects two sockets. Sets `ours`, and returns the other one.
File connect_sockets(int type, File& ours) {
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    realtime::throw_errno("cannot start a process");
  }
  ours = File(sockets[0]);
  return File(sockets[1]);
}

std::string name_of(const model::Application& application, std::span<const std::size_t> own) {
  const std::string& process = application.executors[own.front()].process;
  std::string executors;
  for (const std::size_t each : own) {
    executors += (executors.empty() ? "" : ", ") + application.executors[each].name;
  }
  return (process.empty() ? "the unnamed process" : "process '" + process + "'") +
         std::string(own.size() == 1 ? " (executor " : " (executors ") + executors + ")";
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    const char* const name = ::sigabbrev_np(WTERMSIG(status));
    return "was ended by " + (name != nullptr ? "SIG" + std::string(name)
                                              : "signal " + std::to_string(WTERMSIG(status)));
  }
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

void File::close() {
  if (number_ >= 0) {
    ::close(std::exchange(number_, -1));
  }
}

StopRequests::StopRequests() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  file_ = File(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (file_.number() < 0) {
    realtime::throw_errno("signalfd");
  }
  ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
}

StopRequests::~StopRequests() {
  // A signal that was read is handled. Those that came after it asked for the same.
  signalfd_siginfo more{};
  while (arrived_ && ::read(file_.number(), &more, sizeof more) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void StopRequests::request() noexcept { ::kill(::getpid(), SIGINT); }

bool StopRequests::arrived(std::chrono::milliseconds limit) {
  pollfd event{file_.number(), POLLIN, 0};
  if (!arrived_ && ::poll(&event, 1, static_cast<int>(limit.count())) > 0) {
    signalfd_siginfo signal{};
    arrived_ = ::read(file_.number(), &signal, sizeof signal) > 0;
  }
  return arrived_;
}

Processes::Processes(const model::Application& application,
                     const std::vector<std::vector<std::size_t>>& executors,
                     const RunOptions& options, std::span<const char* const> arguments,
                     StopRequests& requests)
    : requests_(requests) {
  std::fflush(nullptr);
  const pid_t starter = ::getpid();
  for (const auto& own : executors) {
    Child child{.name = name_of(application, own),
                .pid = -1,
                .socket = File(),
                .instances = File(),
                .part = File(::memfd_create("rclrt part", MFD_CLOEXEC))};
    if (child.part.number() < 0) {
      realtime::throw_errno("cannot start a process");
    }
    const File theirs = connect_sockets(SOCK_SEQPACKET, child.socket);
    const File instances = connect_sockets(SOCK_STREAM, child.instances);
    child.pid = ::fork();
    if (child.pid < 0) {
      realtime::throw_errno("cannot start a process");
    }
    if (child.pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const std::string& process = application.executors[own.front()].process;
      if (!process.empty()) {
        ::prctl(PR_SET_NAME, process.c_str());
      }
      if (::getppid() != starter) {
        ::_exit(0);
      }
      // Open sockets of other processes would hide here that this process has gone.
      child.socket.close();
      child.instances.close();
      for (Child& other : children_) {
        other.socket.close();
        other.instances.close();
      }
      live(application, own, options, arguments,
           {theirs.number(), instances.number(), child.part.number(), requests});
    }
    children_.push_back(std::move(child));
  }
}

Processes::~Processes() { call_off(); }

std::vector<Part> Processes::wait_until_prepared() {
  const bool prepared = wait_for(State::kPrepared, [](auto) {});
  const bool all = std::ranges::all_of(children_, &Child::measured);
  return prepared && all ? states() : std::vector<Part>();
}

void Processes::begin(std::int64_t epoch_ns) {
  for (const Child& child : children_) {
    static_cast<void>(::send(child.socket.number(), &epoch_ns, sizeof epoch_ns, MSG_NOSIGNAL));
  }
}

std::vector<Part> Processes::wait(const Take& take) {
  wait_for(State::kDone, take);
  const bool measured = std::ranges::all_of(children_, &Child::measured);
  return measured ? states() : std::vector<Part>();
}

std::vector<Part> Processes::states() const {
  std::vector<Part> result;
  for (const Child& child : children_) {
    result.push_back(read_part(child.part.number()));
  }
  return result;
}

bool Processes::wait_for(State state, const Take& take) {
  const auto arrived = [&](const Child& child) { return child.state >= state; };
  std::optional<std::chrono::steady_clock::time_point> limit;  // none: the user did not stop it
  while (!std::ranges::all_of(children_, arrived)) {
    std::vector<pollfd> events{{limit ? -1 : requests_.file(), POLLIN, 0}};
    for (const Child& child : children_) {
      // One that is prepared may end while the others prepare.
      const bool is_done = child.state == State::kDone;
      events.push_back({is_done ? -1 : child.socket.number(), POLLIN, 0});
      events.push_back({arrived(child) ? -1 : child.instances.number(), POLLIN, 0});
    }
    if (::poll(events.data(), events.size(), limit ? kLook_ms : kForever) < 0 && errno != EINTR) {
      realtime::throw_errno("poll");
    }
    if (limit && std::chrono::steady_clock::now() > *limit) {
      throw std::runtime_error("not all processes have ended their part of the run within " +
                               std::to_string(kPatience.count()) + " s; the results are lost");
    }
    if (!limit && requests_.arrived(std::chrono::milliseconds(0))) {
      if (state == State::kPrepared) {
        call_off();
        return false;
      }
      request_end();
      limit = std::chrono::steady_clock::now() + kPatience;
    }
    for (std::size_t i = 0; i < children_.size(); ++i) {
      if (events[2 * i + 2].revents != 0) {
        read_instances(children_[i], take, false);
      }
      if (events[2 * i + 1].revents != 0) {
        receive(children_[i], take);
      }
    }
  }
  return true;
}

void Processes::read_instances(Child& child, const Take& take, bool to_the_end) {
  constexpr std::size_t kOnce = 512 * sizeof(recorder::LoggedInstance);
  ssize_t size = 0;
  do {
    const std::size_t before = child.bytes.size();
    child.bytes.resize(before + kOnce);
    do {
      size = ::recv(child.instances.number(), child.bytes.data() + before, kOnce, 0);
    } while (size < 0 && errno == EINTR);
    child.bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    std::vector<recorder::LoggedInstance> instances(child.bytes.size() /
                                                    sizeof(recorder::LoggedInstance));
    const std::size_t whole = instances.size() * sizeof(recorder::LoggedInstance);
    std::memcpy(instances.data(), child.bytes.data(), whole);
    child.bytes.erase(child.bytes.begin(),
                      child.bytes.begin() + static_cast<std::ptrdiff_t>(whole));
    take(instances);
  } while (size > 0 && to_the_end);
  if (size <= 0) {
    child.instances.close();  // its end, or that of the process, which its socket shows
  }
}

void Processes::receive(Child& child, const Take& take) {
  std::string message(kMessageBytes, '\0');
  const ssize_t size = ::recv(child.socket.number(), message.data(), message.size(), 0);
  if (size < 0 && errno == EINTR) {
    return;
  }
  message.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (message.empty()) {
    int status = 0;
    ::waitpid(child.pid, &status, 0);
    child.pid = -1;
    throw std::runtime_error(child.name + " " + how_it_ended(status) + "; the others were stopped");
  }
  switch (message.front()) {
    case kPrepared:
      child.state = State::kPrepared;
      return;
    case kFailed:
      throw std::runtime_error(child.name + ": " + message.substr(1));
    case kNotBegun:
    case kInterrupted:
      // A Ctrl-C reaches all processes of the terminal; this process reads it as an event.
      if (!requests_.arrived(std::chrono::milliseconds(500))) {
        throw std::runtime_error(child.name + " was interrupted; the others were stopped");
      }
      break;
    default:
      break;
  }
  child.measured = message.front() != kNotBegun;
  child.state = State::kDone;
  if (child.measured && child.instances.number() >= 0) {
    read_instances(child, take, true);
  }
}

void Processes::request_end() noexcept {
  for (const Child& child : children_) {
    ::shutdown(child.socket.number(), SHUT_WR);
  }
}

void Processes::call_off() noexcept {
  request_end();
  const auto limit = std::chrono::steady_clock::now() + kPatience;
  for (Child& child : children_) {
    int status = 0;
    while (child.pid > 0 && ::waitpid(child.pid, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > limit) {
        std::fprintf(stderr, "rclrt: %s did not end within %d s and was killed\n",
                     child.name.c_str(), static_cast<int>(kPatience.count()));
        ::kill(child.pid, SIGKILL);
        ::waitpid(child.pid, nullptr, 0);
        status = 0;
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (child.state == State::kDone && status != 0) {
      std::fprintf(stderr, "rclrt: %s %s after the run\n", child.name.c_str(),
                   how_it_ended(status).c_str());
    }
    child.pid = -1;
  }
}

}  // namespace rclrt::runner
