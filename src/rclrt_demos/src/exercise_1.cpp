// SPDX-License-Identifier: Apache-2.0
// Exercise 1: how late does a thread wake up? One thread on each of some CPUs computes 200 us of
// each millisecond.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <rclrt/realtime/cyclic_thread.hpp>
#include <string>

#include "exercise/session.hpp"

namespace {

using namespace rclrt::demos;  // NOLINT(google-build-using-namespace): this is its program
using namespace std::chrono_literals;
namespace rt = rclrt::realtime;

constexpr int kPriority = 80;
constexpr std::chrono::nanoseconds kPeriod = 1ms;
constexpr std::chrono::nanoseconds kWork = 200us;

constexpr Exercise kExercise{
    .name = "1",
    .baseline = "the threads have normal scheduling, SCHED_OTHER",
    .solution = "the threads have SCHED_FIFO priority 80",
    .priority = kPriority,
    .takes_threads = true,
};

/// Returns the scheduling of a measured thread on `cpu`. The flaw: under normal scheduling the
/// kernel shares the CPU among all threads, so this thread waits for its turn. The fix: under
/// SCHED_FIFO it runs as soon as it is released.
rt::Scheduling scheduling(const Session& session, int cpu) {
  rt::Scheduling result = session.solution() ? session.fifo(kPriority) : session.normal();
  result.cpus = {cpu};
  return result;
}

/// A thread and its records: Sleep until the release, Wakeup from then to the start, Loop.
class LatencyThread {
 public:
  LatencyThread(Session& session, std::size_t index, int cpu)
      : track_(session.add_track("RtThread" + std::to_string(index))),
        loop_(track_.add_slice("Loop", session.samples(kPeriod))),
        sleep_(track_.add_slice("Sleep", session.samples(kPeriod))),
        wakeup_(track_.add_slice("Wakeup", session.samples(kPeriod))),
        overrun_(track_.add_instants("LoopOverrun", session.samples(kPeriod))),
        thread_({.thread = {.name = track_.name(), .scheduling = scheduling(session, cpu)},
                 .period_ns = kPeriod.count(),
                 .overrun = rt::OverrunPolicy::kSkip},
                [this](const rt::Release& release) { cycle(release); }) {}

  rt::CyclicThread& thread() noexcept { return thread_; }

 private:
  void cycle(const rt::Release& release) noexcept {
    const std::int64_t start_ns = release.nominal_ns + release.lateness_ns;
    if (last_end_ns_ != 0 && last_end_ns_ < release.nominal_ns) {
      sleep_.record(last_end_ns_, release.nominal_ns);
    }
    wakeup_.record(release.nominal_ns, start_ns);
    compute(kWork);
    last_end_ns_ = rt::monotonic_now_ns();
    loop_.record(start_ns, last_end_ns_);
    if (last_end_ns_ > release.nominal_ns + kPeriod.count()) {
      overrun_.record(last_end_ns_, last_end_ns_);
    }
  }

  Track& track_;
  Slice& loop_;
  Slice& sleep_;
  Slice& wakeup_;
  Slice& overrun_;
  std::int64_t last_end_ns_ = 0;
  rt::CyclicThread thread_;  // last: it uses everything above
};

void run(Session& session) {
  const std::vector<int> cpus = rt::allowed_cpus();
  const std::size_t wanted = session.options().threads;
  if (wanted > cpus.size()) {
    throw rclrt::text::UsageError("--threads " + std::to_string(wanted) + ": this process has " +
                                  std::to_string(cpus.size()) +
                                  " CPUs; expected one for each thread");
  }
  const std::size_t count = wanted != 0 ? wanted : std::min<std::size_t>(2, cpus.size());
  std::deque<LatencyThread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back(session, i, cpus[i]);
  }
  for (LatencyThread& one : threads) {
    one.thread().start();
  }
  session.wait();
  for (LatencyThread& one : threads) {
    one.thread().stop();
    session.note("cycles", one.thread().counts().cycles);
    session.note("missed_cycles", one.thread().counts().missed);
    session.note("overruns", one.thread().counts().overruns);
  }
}

}  // namespace

int main(int argc, char** argv) { return run_exercise(kExercise, argc, argv, run); }
