// SPDX-License-Identifier: Apache-2.0
// Programs that a test starts without the permission for real-time scheduling.
#pragma once

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace rclrt_robot::test {

/// Takes the permission for real-time scheduling from programs that the calling thread starts
/// meanwhile. The thread must not do anything else after that.
class WithoutRealtime {
 public:
  WithoutRealtime() {
    getrlimit(RLIMIT_RTPRIO, &before_);
    const rlimit none{0, before_.rlim_max};
    setrlimit(RLIMIT_RTPRIO, &none);
    prctl(PR_CAPBSET_DROP, CAP_SYS_NICE);  // refused if the process lacks the right to drop it
  }
  ~WithoutRealtime() { setrlimit(RLIMIT_RTPRIO, &before_); }
  WithoutRealtime(const WithoutRealtime&) = delete;
  WithoutRealtime& operator=(const WithoutRealtime&) = delete;

 private:
  rlimit before_{};
};

}  // namespace rclrt_robot::test
