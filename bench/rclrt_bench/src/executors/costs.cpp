// SPDX-License-Identifier: Apache-2.0
#include "costs.hpp"

#include <bit>
#include <cerrno>
#include <cstddef>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::bench {

std::atomic<std::uint64_t>* traced_system_calls = nullptr;

namespace {
// Only a counter, which publishes no other data: relaxed is enough.
constinit std::atomic<std::uint64_t> allocations{0};
}  // namespace

Costs read_costs() noexcept {
  return {.allocations = allocations.load(std::memory_order_relaxed),
          .system_calls = traced_system_calls == nullptr ? 0 : traced_system_calls->load(),
          .cpu_ns = realtime::read_clock_ns(CLOCK_PROCESS_CPUTIME_ID)};
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
bool counts_allocations() noexcept { return false; }
#else
bool counts_allocations() noexcept { return true; }

namespace {
void count() noexcept { allocations.fetch_add(1, std::memory_order_relaxed); }
}  // namespace
#endif

}  // namespace rclrt::bench

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

using rclrt::bench::count;

// These definitions replace the C library's functions in the whole process, also for calls from
// shared libraries.
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): the C library's names
extern "C" {

void* __libc_malloc(std::size_t size) noexcept;
void* __libc_calloc(std::size_t number, std::size_t size) noexcept;
void* __libc_realloc(void* block, std::size_t size) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept;

void* malloc(std::size_t size) noexcept {
  count();
  return __libc_malloc(size);
}

void* calloc(std::size_t number, std::size_t size) noexcept {
  count();
  return __libc_calloc(number, size);
}

void* realloc(void* block, std::size_t size) noexcept {
  count();
  return __libc_realloc(block, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
  count();
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  count();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) noexcept {
  count();
  if (alignment % sizeof(void*) != 0 || !std::has_single_bit(alignment)) {
    return EINVAL;
  }
  void* const result = __libc_memalign(alignment, size);
  if (result == nullptr) {
    return ENOMEM;
  }
  *block = result;
  return 0;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

#endif
