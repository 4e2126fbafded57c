// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/process.hpp"

#include <alloca.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace rclrt::realtime {

std::optional<std::string> lock_memory() {
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    const int error = errno;
    return "locking memory failed (" + std::generic_category().message(error) +
           "): add \"memlock unlimited\" for this user in /etc/security/limits.d and log in "
           "again, or run with CAP_IPC_LOCK";
  }
  mallopt(M_TRIM_THRESHOLD, -1);  // freed memory stays with the process
  mallopt(M_MMAP_MAX, 0);         // large blocks come from the heap, whose pages are kept
  return std::nullopt;
}

// Not inlined: the memory is given back when this function returns, with its pages in place.
[[gnu::noinline]] void prefault_stack(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* const block = static_cast<volatile char*>(alloca(bytes));
  for (std::size_t at = bytes; at > 0; at -= std::min(at, page)) {
    block[at - 1] = 0;  // downwards, as a stack grows
  }
}

}  // namespace rclrt::realtime
