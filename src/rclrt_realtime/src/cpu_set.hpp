// SPDX-License-Identifier: Apache-2.0
// A CPU mask with room for every CPU the kernel can name.
#pragma once

#include <sched.h>

#include <memory>
#include <new>
#include <vector>

namespace rclrt::realtime {

class CpuSet {
 public:
  CpuSet() : set_(CPU_ALLOC(kCpus)) {
    if (!set_) {
      throw std::bad_alloc();
    }
    CPU_ZERO_S(bytes(), set_.get());
  }

  explicit CpuSet(const std::vector<int>& cpus) : CpuSet() {
    for (const int cpu : cpus) {
      if (cpu >= 0 && cpu < kCpus) {
        CPU_SET_S(static_cast<std::size_t>(cpu), bytes(), set_.get());
      }
    }
  }

  static CpuSet all() {
    CpuSet set;
    for (int cpu = 0; cpu < kCpus; ++cpu) {
      CPU_SET_S(static_cast<std::size_t>(cpu), set.bytes(), set.get());
    }
    return set;
  }

  cpu_set_t* get() const { return set_.get(); }
  std::size_t bytes() const { return CPU_ALLOC_SIZE(kCpus); }

  /// Returns the CPUs, ascending.
  std::vector<int> cpus() const {
    std::vector<int> result;
    for (int cpu = 0; cpu < kCpus; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes(), set_.get())) {
        result.push_back(cpu);
      }
    }
    return result;
  }

 private:
  static constexpr int kCpus = 8192;  // NR_CPUS of the largest kernels

  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  std::unique_ptr<cpu_set_t, Free> set_;
};

}  // namespace rclrt::realtime
