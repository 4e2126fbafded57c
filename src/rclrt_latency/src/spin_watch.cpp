// SPDX-License-Identifier: Apache-2.0
#include "spin_watch.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <rclrt/text/number.hpp>
#include <string_view>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::latency {

namespace {

/// Reads how long the calling thread was ready without a CPU; 0 if the kernel does not count it.
class RunDelay {
 public:
  RunDelay() : file_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
  ~RunDelay() {
    if (file_ >= 0) {
      close(file_);
    }
  }
  RunDelay(const RunDelay&) = delete;
  RunDelay& operator=(const RunDelay&) = delete;

  std::int64_t read_ns() const noexcept {
    std::array<char, 96> text{};
    if (file_ < 0 || pread(file_, text.data(), text.size() - 1, 0) <= 0) {
      return 0;
    }
    std::string_view rest(text.data());
    text::take_number<std::int64_t>(rest);  // its time on a CPU
    rest.remove_prefix(rest.empty() ? 0 : 1);
    return text::take_number<std::int64_t>(rest).value_or(0);
  }

 private:
  int file_;
};

/// Every switch to another thread and back takes longer.
constexpr std::int64_t kSwitchNs = 1'500;

/// Reads the clocks, the wall clock last: time between them counts to this reading.
Reading read_clocks(std::int64_t run_delay_ns) noexcept {
  const std::int64_t cpu_ns = realtime::thread_cpu_now_ns();
  return {realtime::monotonic_now_ns(), cpu_ns, run_delay_ns};
}

void become_idle_class() noexcept {
  const sched_param parameters{};
  sched_setscheduler(0, SCHED_IDLE, &parameters);  // needs no permission
}

}  // namespace

SpinWatch::SpinWatch(int cpu, std::int64_t threshold_ns, std::size_t capacity)
    : cpu_(cpu), threshold_ns_(threshold_ns), gaps_(capacity) {}

SpinWatch::~SpinWatch() { stop(); }

void SpinWatch::start() {
  thread_ = realtime::Thread(
      {.name = "watch" + std::to_string(cpu_), .scheduling = {.cpus = {cpu_}}}, [this] { run(); });
}

void SpinWatch::stop() noexcept {
  stopping_.store(true);
  thread_.join();
}

void SpinWatch::run() noexcept {
  become_idle_class();
  const RunDelay delay;
  std::int64_t run_delay_ns = delay.read_ns();
  const Reading first = read_clocks(run_delay_ns);
  Reading last = first;
  while (!stopping_.load(std::memory_order_relaxed)) {  // orders nothing else
    Reading now = read_clocks(run_delay_ns);
    if (now.wall_ns - last.wall_ns >= kSwitchNs) {
      // Also after a short gap, so that its run delay does not count for a later one.
      run_delay_ns = delay.read_ns();
      now.run_delay_ns = run_delay_ns;
      // Once more: the gap may lie between the two clocks of this reading.
      now.cpu_ns = realtime::thread_cpu_now_ns();
      const Gap gap = divide(cpu_, last, now);
      if (gap.unexplained_by_threads_ns() >= threshold_ns_) {
        keep(gap);
      }
      now = read_clocks(run_delay_ns);
    }
    last = now;
    readings_.fetch_add(1, std::memory_order_relaxed);  // an independent count
  }
  const std::int64_t whole_ns = std::max<std::int64_t>(1, last.wall_ns - first.wall_ns);
  watched_ = static_cast<double>(last.cpu_ns - first.cpu_ns) / static_cast<double>(whole_ns);
}

void SpinWatch::keep(const Gap& gap) noexcept {
  if (size_ == gaps_.size()) {
    ++lost_;
    return;
  }
  gaps_[size_++] = gap;
}

}  // namespace rclrt::latency
