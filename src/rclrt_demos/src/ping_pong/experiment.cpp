// SPDX-License-Identifier: Apache-2.0
#include "experiment.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::demos {

namespace {

constexpr int kBadInput = 2;
constexpr double kShortest_s = 1e-6;
constexpr double kLongest_s = 1e6;

}  // namespace

Seconds declare_seconds(Node& node, const std::string& name, double standard) {
  const auto parameter = node.declare_parameter(
      name, standard,
      {.description = "seconds", .read_only = true, .range = {{kShortest_s, kLongest_s}}});
  return Seconds(parameter.get());
}

Seconds declare_duration(Node& node) { return declare_seconds(node, "duration", 10.0); }

std::unique_ptr<Executor> make_executor(const std::shared_ptr<Context>& context,
                                        const std::string& name, int priority) {
  // The callbacks of each have one priority, which becomes the one below `top_priority`.
  return std::make_unique<PreemptiveExecutor>(
      context, ExecutorOptions{.name = name, .cpus = {0}, .top_priority = priority + 1});
}

Spinning::Spinning(Executor& executor) : executor_(executor) {
  executor_.prepare();  // here, where its exceptions can be caught
  thread_ = std::thread([this] { executor_.spin(); });
}

Spinning::~Spinning() {
  executor_.cancel();
  thread_.join();
}

void print_info(const Node& node, const std::string& text) {
  const Seconds now = std::chrono::system_clock::now().time_since_epoch();
  std::printf("[INFO] [%.9f] [%s]: %s\n", now.count(), node.get_name().c_str(), text.c_str());
  std::fflush(stdout);
}

void print_running(const Node& node, Seconds duration) {
  char text[96];
  std::snprintf(text, sizeof(text), "Running experiment from now on for %g seconds ...",
                duration.count());
  print_info(node, text);
}

int report_absent(const std::string& program, const std::string& other) {
  std::fprintf(stderr, "%s: no %s node came within %lld s; start `%s` at the same time\n",
               program.c_str(), other.c_str(), static_cast<long long>(kLongestDiscovery.count()),
               other.c_str());
  return 1;
}

void warn_without_realtime(const Executor& executor) {
  if (!executor.engine().realtime()) {
    std::fprintf(stderr,
                 "[WARN] without real-time priorities both paths get the same share of the CPU, "
                 "which shows nothing: %s\n",
                 executor.engine().realtime_reason().c_str());
  }
}

bool wait_for_the_end(const Context& context, Seconds duration) {
  constexpr std::int64_t kPoll_ns = 10'000'000;
  const std::int64_t end =
      realtime::monotonic_now_ns() + static_cast<std::int64_t>(duration.count() * 1e9);
  while (context.ok() && realtime::monotonic_now_ns() < end) {
    realtime::sleep_until_ns(std::min(end, realtime::monotonic_now_ns() + kPoll_ns));
  }
  return context.ok();
}

void require_known_arguments(const Context& context, const std::vector<Node*>& nodes) {
  if (!context.arguments().empty()) {
    throw std::invalid_argument("unknown argument \"" + context.arguments().front() +
                                "\"; expected ROS arguments alone: --ros-args -p NAME:=SECONDS");
  }
  std::vector<std::string> unknown = nodes.front()->parameters().undeclared_overrides();
  for (Node* const node : nodes) {
    const auto own = node->parameters().undeclared_overrides();
    std::erase_if(unknown, [&](const std::string& name) {
      return std::find(own.begin(), own.end(), name) == own.end();
    });
  }
  if (!unknown.empty()) {
    throw std::invalid_argument("unknown parameter \"" + unknown.front() +
                                "\"; expected ping_period (ping), high_busyloop, low_busyloop "
                                "(pong) or duration, in seconds");
  }
}

int run_program(const std::string& name, int argc, char** argv,
                const std::function<int(const std::shared_ptr<Context>&)>& program) {
  try {
    return program(Context::make(argc, argv));
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
  }
  return kBadInput;
}

}  // namespace rclrt::demos
