// SPDX-License-Identifier: Apache-2.0
#include "thread_switches.hpp"

#include <linux/perf_event.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "rclrt/realtime/throw_errno.hpp"

namespace rclrt::trace {

namespace {

/// Every user may lock 516 KiB per CPU: this buffer, and the page with its indices.
constexpr std::size_t kMostBytes = 512UL * 1024;
constexpr std::size_t kLeastBytes = 32UL * 1024;

/// The end of each record, with the sample types below.
struct Sample {
  std::uint32_t pid;
  std::uint32_t tid;
  std::uint64_t time;
};

int open_event(pid_t pid, int cpu) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_DUMMY;  // counts nothing: only the records are used
  attributes.context_switch = 1;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.sample_id_all = 1;
  attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

/// The buffer with the records of one CPU, shared with the kernel. The kernel writes at data_head,
/// which only the kernel changes. This class reads at data_tail, which only this class changes. The
/// records from data_tail to data_head are not read yet.
class ThreadSwitches::Ring {
 public:
  explicit Ring(int descriptor) : descriptor_(descriptor) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (size_ = kMostBytes; size_ >= kLeastBytes; size_ /= 2) {  // others may have locked some
      void* const memory =
          mmap(nullptr, page + size_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
      if (memory != MAP_FAILED) {
        control_ = static_cast<perf_event_mmap_page*>(memory);
        data_ = static_cast<const unsigned char*>(memory) + page;
        mapped_ = page + size_;
        return;
      }
    }
    const int error = errno;
    close(descriptor_);
    errno = error;
    realtime::throw_errno(
        "getting memory for the records of context switches (raise "
        "/proc/sys/kernel/perf_event_mlock_kb)");
  }
  ~Ring() {
    munmap(control_, mapped_);
    close(descriptor_);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  int descriptor() const { return descriptor_; }

  /// Returns whether the followed process and all that it started have ended.
  bool has_ended() const { return has_ended_; }
  void end() { has_ended_ = true; }

  void take(const std::function<void(const ThreadSwitch&)>& handle) {
    const std::uint64_t head =
        std::atomic_ref<__u64>(control_->data_head).load(std::memory_order_acquire);
    std::uint64_t tail = control_->data_tail;
    while (tail < head) {
      perf_event_header header{};
      read(tail, &header, sizeof header);
      if (header.type == PERF_RECORD_SWITCH) {
        handle(switch_at(tail, header));
      } else if (header.type == PERF_RECORD_LOST) {
        handle(lost_at(tail, header));
      }
      tail += header.size;
    }
    std::atomic_ref<__u64>(control_->data_tail).store(tail, std::memory_order_release);
  }

 private:
  /// Reads `bytes` bytes; a record may wrap around to the begin of the buffer.
  void read(std::uint64_t at, void* into, std::size_t bytes) const {
    const std::size_t place = at % size_;
    const std::size_t first = std::min(bytes, size_ - place);
    std::memcpy(into, data_ + place, first);
    std::memcpy(static_cast<unsigned char*>(into) + first, data_, bytes - first);
  }

  Sample sample_of(std::uint64_t at, const perf_event_header& header) const {
    Sample sample{};
    read(at + header.size - sizeof sample, &sample, sizeof sample);
    return sample;
  }

  ThreadSwitch switch_at(std::uint64_t at, const perf_event_header& header) const {
    const Sample sample = sample_of(at, header);
    const bool out = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
    const bool preempted = (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
    return {.time_ns = static_cast<std::int64_t>(sample.time),
            .pid = static_cast<std::int32_t>(sample.pid),
            .tid = static_cast<std::int32_t>(sample.tid),
            .state = !out        ? ThreadState::kRuns
                     : preempted ? ThreadState::kPreempted
                                 : ThreadState::kWaits};
  }

  ThreadSwitch lost_at(std::uint64_t at, const perf_event_header& header) const {
    std::uint64_t lost = 0;  // comes after the event's id
    read(at + sizeof header + sizeof(std::uint64_t), &lost, sizeof lost);
    return {.time_ns = static_cast<std::int64_t>(sample_of(at, header).time),
            .lost = std::max<std::uint64_t>(lost, 1)};
  }

  int descriptor_;
  bool has_ended_ = false;
  std::size_t size_ = 0;
  std::size_t mapped_ = 0;
  perf_event_mmap_page* control_ = nullptr;
  const unsigned char* data_ = nullptr;
};

ThreadSwitches::ThreadSwitches(pid_t pid) {
  const auto cpus = static_cast<int>(std::max(sysconf(_SC_NPROCESSORS_CONF), 1L));
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const int descriptor = open_event(pid, cpu);
    if (descriptor < 0 && errno != ENODEV) {
      realtime::throw_errno("context switches (perf_event_open)");
    }
    rings_.push_back(descriptor < 0 ? nullptr : std::make_unique<Ring>(descriptor));
  }
}

ThreadSwitches::~ThreadSwitches() = default;

bool ThreadSwitches::wait(int descriptor, std::chrono::milliseconds at_most) {
  std::vector<pollfd> descriptors{{.fd = descriptor, .events = POLLIN, .revents = 0}};
  for (const auto& ring : rings_) {
    const bool waits = ring && !ring->has_ended();
    descriptors.push_back({.fd = waits ? ring->descriptor() : -1, .events = POLLIN, .revents = 0});
  }
  poll(descriptors.data(), descriptors.size(), static_cast<int>(at_most.count()));
  for (std::size_t cpu = 0; cpu < rings_.size(); ++cpu) {
    if ((descriptors[cpu + 1].revents & POLLHUP) != 0) {
      rings_[cpu]->end();
    }
  }
  return descriptors.front().revents != 0;
}

void ThreadSwitches::take(std::size_t cpu, const std::function<void(const ThreadSwitch&)>& handle) {
  if (rings_[cpu]) {
    rings_[cpu]->take(handle);
  }
}

}  // namespace rclrt::trace
