// SPDX-License-Identifier: Apache-2.0
#include "simulation/processors.hpp"

#include <algorithm>

namespace rclrt::analysis::detail {

Id Processors::add(const SimulatedThread& thread) {
  const Id id = threads_.add(thread);
  first_cpus_ = id == 0 ? thread.cpus : first_cpus_;
  same_cpus_ = same_cpus_ && thread.cpus == first_cpus_;
  return id;
}

bool Processors::before(Id a, Id b) const {
  const SimulatedThread& one = threads_[a];
  const SimulatedThread& other = threads_[b];
  return one.key != other.key ? one.key > other.key : one.stamp < other.stamp;
}

void Processors::insert_ready(Id thread) {
  threads_[thread].state = ThreadState::kReady;
  const auto place = std::upper_bound(ready_.begin(), ready_.end(), thread,
                                      [this](Id a, Id b) { return before(b, a); });
  ready_.insert(place, thread);
}

void Processors::wake(Id thread) {
  threads_[thread].stamp = next_stamp_++;
  insert_ready(thread);
}

void Processors::sleep(Id thread) {
  SimulatedThread& own = threads_[thread];
  stop(own.cpu);
  own.state = ThreadState::kSleeping;
}

void Processors::wait(Id thread, std::int64_t rest_ns) {
  SimulatedThread& own = threads_[thread];
  stop(own.cpu);
  own.state = ThreadState::kWaiting;
  own.remaining_ns = rest_ns;
}

void Processors::set_key(Id thread, Key key) {
  SimulatedThread& own = threads_[thread];
  if (own.key == key) {
    return;
  }
  if (own.state == ThreadState::kReady) {
    ready_.erase(std::find(ready_.begin(), ready_.end(), thread));
    own.key = key;
    insert_ready(thread);
  } else {
    own.key = key;
  }
}

void Processors::account(SimulatedCpu& cpu) {
  SimulatedThread& thread = threads_[cpu.thread];
  const std::int64_t elapsed_ns = now_ns_ - cpu.since_ns;
  thread.remaining_ns -= elapsed_ns;
  thread.cpu_ns += elapsed_ns;
  busy_ns_ += elapsed_ns;
  cpu.since_ns = now_ns_;
}

void Processors::work(Id thread, std::int64_t work_ns) {
  SimulatedThread& own = threads_[thread];
  SimulatedCpu& cpu = cpus_[own.cpu];
  account(cpu);
  own.remaining_ns = work_ns;
  cpu.finish_ns = now_ns_ + work_ns;
}

void Processors::end_stretch(Id thread) {
  const SimulatedThread& own = threads_[thread];
  SimulatedCpu& cpu = cpus_[own.cpu];
  if (cpu.since_ns < now_ns_) {
    account(cpu);
  }
  if (observer_ != nullptr && own.callback != kNone && cpu.stretch_from_ns < now_ns_) {
    observer_->ran({own.callback, own.number, own.cpu, cpu.stretch_from_ns, now_ns_});
  }
  cpu.stretch_from_ns = now_ns_;
}

Id Processors::find_cpu(const SimulatedThread& thread) const {
  Id worst = kNone;
  for (Id cpu = 0; cpu < cpus_.size(); ++cpu) {
    if ((thread.cpus >> cpu & 1U) == 0) {
      continue;
    }
    const Id running = cpus_[cpu].thread;
    if (running == kNone) {
      return cpu;
    }
    if (threads_[running].key < thread.key &&
        (worst == kNone || before(cpus_[worst].thread, running))) {
      worst = cpu;
    }
  }
  return worst;
}

void Processors::start(Id cpu, Id thread) {
  SimulatedThread& own = threads_[thread];
  own.state = ThreadState::kRunning;
  own.cpu = cpu;
  cpus_[cpu] = {thread, now_ns_, now_ns_, now_ns_ + own.remaining_ns};
}

void Processors::stop(Id cpu) {
  end_stretch(cpus_[cpu].thread);
  threads_[cpus_[cpu].thread].cpu = kNone;
  cpus_[cpu].thread = kNone;
  cpus_[cpu].finish_ns = kNever;
}

void Processors::place() {
  for (std::size_t i = ready_.size(); i-- > 0;) {
    const Id thread = ready_[i];
    const Id cpu = find_cpu(threads_[thread]);
    if (cpu == kNone) {
      if (same_cpus_) {
        return;  // the threads behind it find none either
      }
      continue;
    }
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(i));
    const Id preempted = cpus_[cpu].thread;
    if (preempted != kNone) {
      stop(cpu);
      threads_[preempted].preemptions += threads_[preempted].instance != kNone ? 1 : 0;
      insert_ready(preempted);
    }
    start(cpu, thread);
    i = ready_.size();
  }
}

Id Processors::finished() const {
  for (Id cpu = 0; cpu < cpus_.size(); ++cpu) {
    if (cpus_[cpu].finish_ns == now_ns_) {
      return cpu;
    }
  }
  return kNone;
}

std::int64_t Processors::next_finish_ns() const {
  std::int64_t next_ns = kNever;
  for (const SimulatedCpu& cpu : cpus_) {
    next_ns = std::min(next_ns, cpu.finish_ns);
  }
  return next_ns;
}

void Processors::stop_all() {
  for (Id cpu = 0; cpu < cpus_.size(); ++cpu) {
    if (cpus_[cpu].thread != kNone) {
      stop(cpu);
    }
  }
}

}  // namespace rclrt::analysis::detail
