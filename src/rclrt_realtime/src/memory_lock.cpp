// SPDX-License-Identifier: Apache-2.0
// Locks memory as far as the kernel's limit permits.
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <system_error>

#include "permission.hpp"
#include "rclrt/realtime/process.hpp"

namespace rclrt::realtime {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitizer = true;  // it disables mlockall, and maps terabytes
#else
constexpr bool kSanitizer = false;
#endif

rlimit memlock() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  return limit;
}

/// Returns the bytes that this process has mapped, which is what the limit counts.
std::uint64_t mapped_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Returns how many bytes the main thread's stack may still grow. If the stack is locked and grows
/// beyond the memory limit, the kernel ends the process with a segmentation fault.
std::uint64_t room_of_main_stack() {
  constexpr std::uint64_t kUsual = std::uint64_t{8} << 20;  // if the stack is unlimited
  rlimit limit{};
  getrlimit(RLIMIT_STACK, &limit);
  const std::uint64_t most =
      limit.rlim_cur == RLIM_INFINITY ? kUsual : static_cast<std::uint64_t>(limit.rlim_cur);
  const std::uint64_t now = number_in_status("VmStk:").value_or(0) << 10U;
  return most - std::min(most, now);
}

/// Returns whether a mapping beyond `limit` succeeds while future mappings are locked. The function
/// tries it, because CAP_IPC_LOCK counts only in the initial user namespace, and the kernel does
/// not show whether this process is in that namespace.
bool maps_beyond(rlim_t limit) {
  const std::size_t bytes = limit + static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const trial =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (trial == MAP_FAILED) {
    return errno != EAGAIN;  // EAGAIN: the limit; ENOMEM: the address space
  }
  munmap(trial, bytes);
  return true;
}

std::string fix(const rlimit& limit) {
  if (limit.rlim_max == RLIM_INFINITY && limit.rlim_cur != RLIM_INFINITY) {
    return "run \"ulimit -l unlimited\" in the shell that starts this program, which its hard "
           "limit "
           "permits";
  }
  return fix_by_limit("memlock unlimited", "LimitMEMLOCK=infinity", "--ulimit memlock=-1",
                      "CAP_IPC_LOCK");
}

std::string limit_text(const rlimit& limit) {
  return "the limit of locked memory is " + bytes_text(limit.rlim_cur) + " (memlock)";
}

std::string refused(int error, const rlimit& limit) {
  return "memory is not locked: " + std::generic_category().message(error) + "; " +
         limit_text(limit) + ": " + fix(limit);
}

/// Locks what is mapped now if the limit holds it.
std::string lock_within(const rlimit& limit) {
  const std::uint64_t mapped = mapped_bytes();
  const std::uint64_t room = room_of_main_stack();
  if (mapped + room > limit.rlim_cur) {
    return "memory is not locked: " + limit_text(limit) + ", and " + bytes_text(mapped) +
           " are mapped" +
           (mapped > limit.rlim_cur
                ? ""
                : " and " + bytes_text(room) + " more once the stack has grown") +
           ": " + fix(limit);
  }
  if (mlockall(MCL_CURRENT) != 0) {
    return refused(errno, limit);
  }
  keep_heap();
  return "memory is locked as far as it is mapped now (" + bytes_text(mapped) +
         "), and none that is mapped later: " + limit_text(limit) +
         ", beyond which threads would not start and allocations would fail: " + fix(limit);
}

}  // namespace

std::optional<std::string> lock_memory() {
  const rlimit limit = memlock();
  const bool limited = !kSanitizer && limit.rlim_cur != RLIM_INFINITY;
  if (limited && !has_capability(Capability::kIpcLock)) {
    return lock_within(limit);
  }
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    return limited ? lock_within(limit) : refused(errno, limit);
  }
  if (limited && !maps_beyond(limit.rlim_cur)) {
    munlockall();
    return lock_within(limit);
  }
  keep_heap();
  return std::nullopt;
}

}  // namespace rclrt::realtime
