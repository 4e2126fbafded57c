// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/process.hpp"

#include <alloca.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include "rclrt/realtime/throw_errno.hpp"

namespace rclrt::realtime {

namespace {

std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::string limit_of(int resource) {
  rlimit limit{};
  getrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur) + " bytes";
}

/// The number of bytes at the end of a stack that `prefault_stack` leaves untouched, for its own
/// function calls and for signal handlers.
constexpr std::size_t kEndOfStack = 32 * 1024;

/// Returns the number of bytes from the current stack frame to the end of the calling thread's
/// stack. (The C library keeps thread-local variables at the beginning of the stack.)
std::size_t room_on_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
    return 0;
  }
  void* lowest = nullptr;
  std::size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  const auto* const here = static_cast<const char*>(__builtin_frame_address(0));
  return static_cast<std::size_t>(here - static_cast<const char*>(lowest));
}

void touch_pages(volatile char* block, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += page_size()) {
    block[at] = 0;
  }
}

/// Loads a part of a library into memory with madvise(2). The `advice` exists since Linux 5.14.
/// Returns the size of the part in bytes; 0 if the kernel does not know the advice.
std::size_t populate(std::uintptr_t begin, std::uintptr_t end, int advice) noexcept {
  const std::uintptr_t first = begin / page_size() * page_size();
  auto* const address =
      reinterpret_cast<void*>(first);  // NOLINT(performance-no-int-to-ptr): of the linker
  return end > begin && madvise(address, end - first, advice) == 0 ? end - first : 0;
}

/// Loads the segments of one library into memory: private copies of the writable segments, and the
/// others as they are in the file. Adds their size in bytes to `*static_cast<std::size_t*>(total)`.
int populate_library(dl_phdr_info* library, std::size_t /*size*/, void* total) noexcept {
  // The dynamic linker has written the beginning of the writable segment and made it read-only.
  std::uintptr_t read_only_end = 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr) & part = library->dlpi_phdr[i];
    if (part.p_type == PT_GNU_RELRO) {
      read_only_end =
          (library->dlpi_addr + part.p_vaddr + part.p_memsz) / page_size() * page_size();
    }
  }
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr) & part = library->dlpi_phdr[i];
    if (part.p_type == PT_LOAD) {
      const std::uintptr_t begin = library->dlpi_addr + part.p_vaddr;
      const std::uintptr_t end = begin + part.p_memsz;
      const std::uintptr_t writable =
          (part.p_flags & PF_W) == 0 ? end : std::clamp(read_only_end, begin, end);
      *static_cast<std::size_t*>(total) += populate(begin, writable, MADV_POPULATE_READ) +
                                           populate(writable, end, MADV_POPULATE_WRITE);
    }
  }
  return 0;
}

// Not inlined: its stack frame is released when this function returns, and the pages stay mapped.
[[gnu::noinline]] void touch_stack(std::size_t bytes) {
  auto* const block = static_cast<volatile char*>(alloca(bytes));
  for (std::size_t at = bytes; at > 0; at -= std::min(at, page_size())) {
    block[at - 1] = 0;  // downwards, as a stack grows
  }
  if (bytes != 0) {
    block[0] = 0;  // may be on a separate page
  }
}

std::optional<std::string> prefault_main_stack(std::size_t bytes) {
  const std::size_t touched = prefault_stack(bytes);
  if (touched == bytes) {
    return std::nullopt;
  }
  return "the stack has room for " + std::to_string(touched) + " bytes only (its limit is " +
         limit_of(RLIMIT_STACK) + "): raise the limit with `ulimit -s` before, or ask for less";
}

const char* fix_of_device(int error) {
  return error == EACCES || error == EPERM
             ? "let this user write it by a udev rule (KERNEL==\"cpu_dma_latency\", "
               "GROUP=\"realtime\", MODE=\"0660\"), or run as root"
             : "a container must be given the device (--device); a virtual machine may have none, "
               "then its host decides";
}

}  // namespace

CpuWakeUpLimit::CpuWakeUpLimit(SaturatingMicroseconds limit, const std::string& device)
    : file_(open(device.c_str(), O_WRONLY | O_CLOEXEC)) {
  const auto value =
      static_cast<std::int32_t>(std::clamp<std::int64_t>(limit.count(), 0, INT32_MAX));
  if (file_ >= 0 && write(file_, &value, sizeof value) == sizeof value) {
    return;
  }
  const int error = errno;
  if (file_ >= 0) {
    close(file_);
  }
  throw_errno("writing " + device + " (" + fix_of_device(error) + ")", error);
}

CpuWakeUpLimit::~CpuWakeUpLimit() {
  if (file_ >= 0) {
    close(file_);
  }
}

void keep_heap() {
  constexpr int kGrowth = 512 << 10;
  mallopt(M_TOP_PAD, kGrowth);
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_MMAP_MAX, 0);
}

void limit_heaps(int heaps) { mallopt(M_ARENA_MAX, heaps); }

void set_default_stack_size(std::size_t bytes) {
  pthread_attr_t attributes;
  int error = pthread_getattr_default_np(&attributes);
  if (error == 0) {
    error = pthread_attr_setstacksize(&attributes, bytes);
    error = error != 0 ? error : pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
  }
  if (error != 0) {
    throw_errno("a default stack of " + std::to_string(bytes) + " bytes (ask for at least " +
                    std::to_string(PTHREAD_STACK_MIN) + ")",
                error);
  }
}

std::optional<std::string> prefault_heap(std::size_t bytes) {
  keep_heap();
  limit_heaps(1);
  if (!prefault_thread_heap(bytes)) {
    return "the heap cannot grow by " + std::to_string(bytes) +
           " bytes (address space: " + limit_of(RLIMIT_AS) +
           ", lockable: " + limit_of(RLIMIT_MEMLOCK) + "): raise the limit, or ask for less";
  }
  return std::nullopt;
}

bool prefault_thread_heap(std::size_t bytes) noexcept {
  if (bytes == 0) {
    return true;
  }
  auto* const block = static_cast<volatile char*>(std::malloc(bytes));
  if (block == nullptr) {
    return false;
  }
  touch_pages(block, bytes);
  std::free(const_cast<char*>(block));  // returns the block to the thread's heap
  return true;
}

std::size_t prefault_libraries() noexcept {
  std::size_t total = 0;
  dl_iterate_phdr(populate_library, &total);
  return total;
}

std::size_t prefault_stack(std::size_t bytes) {
  const std::size_t room = room_on_stack();
  const std::size_t most = room > kEndOfStack ? room - kEndOfStack : 0;
  const std::size_t touched = std::min(bytes, most);
  touch_stack(touched);
  return touched;
}

std::vector<std::string> PreparedProcess::problems() const {
  std::vector<std::string> lines;
  for (const ProcessStep& step : steps) {
    if (!step.problem.empty()) {
      lines.push_back(step.what + ": " + step.problem);
    }
  }
  return lines;
}

PreparedProcess prepare_process(const ProcessOptions& options) {
  PreparedProcess process;
  const auto add = [&](std::string what, const std::optional<std::string>& problem) {
    process.steps.push_back({std::move(what), problem.value_or("")});
  };
  if (options.keep_heap) {
    keep_heap();
    add("keep the heap", std::nullopt);
  }
  if (options.heap_prefault != 0) {
    add("prefault " + std::to_string(options.heap_prefault) + " bytes of heap",
        prefault_heap(options.heap_prefault));
  }
  if (options.stack_prefault != 0) {
    add("prefault " + std::to_string(options.stack_prefault) + " bytes of stack",
        prefault_main_stack(options.stack_prefault));
  }
  if (options.lock_memory) {
    add("lock memory", lock_memory());
  }
  if (options.cpu_wake_up) {
    std::optional<std::string> problem;
    try {
      process.cpu_wake_up = CpuWakeUpLimit(*options.cpu_wake_up);
    } catch (const std::exception& error) {
      problem = error.what();
    }
    add("limit the wake-up time of the CPUs", problem);
  }
  if (options.strict && !process.ok()) {
    std::string text = "the process cannot be prepared for real time:";
    for (const std::string& problem : process.problems()) {
      text += "\n  " + problem;
    }
    throw std::runtime_error(text);
  }
  return process;
}

}  // namespace rclrt::realtime
