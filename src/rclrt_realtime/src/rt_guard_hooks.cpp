// SPDX-License-Identifier: Apache-2.0
// Interposed functions of the C library, which first check for a guard of the calling thread. They
// are defined in the program, so the linker finds them before the C library's, for shared libraries
// too.
#include "rt_guard_hooks.hpp"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer) || __has_feature(realtime_sanitizer)
#define RCLRT_NO_HOOKS
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RCLRT_NO_HOOKS
#endif

namespace rclrt::realtime::detail {

#if defined(RCLRT_NO_HOOKS)
const char* why_no_hooks() noexcept RCLRT_NONBLOCKING {
  return "calls are not watched in a sanitizer's build, which has put its own functions in front";
}
}  // namespace rclrt::realtime::detail
#else
const char* why_no_hooks() noexcept RCLRT_NONBLOCKING { return nullptr; }

namespace {

/// Returns whether the mutex has priority inheritance or a priority ceiling. The holder then runs
/// at least at the priority of a thread that waits, so the critical section bounds the wait. The
/// bits are glibc's.
bool has_priority_protocol(const pthread_mutex_t* mutex) {
  constexpr int kInherit = 0x20;
  constexpr int kProtect = 0x40;
  return (mutex->__data.__kind & (kInherit | kProtect)) != 0;
}

// Inlined, as the next functions, so that it adds no frame to the stacks.
[[gnu::always_inline]] inline void note_if_guarded(CallKind kind, const char* function,
                                                   std::size_t argument = 0) {
  if (t_guard != nullptr) [[unlikely]] {
    note(kind, function, argument);
  }
}

/// Tries to lock the mutex, if a guard watches the thread and the mutex has no priority protocol,
/// and records the violation. Returns EBUSY if the caller must still lock it: the mutex is not
/// free, or the call is no violation.
[[gnu::always_inline]] inline int try_if_guarded(pthread_mutex_t* mutex, const char* function) {
  if (t_guard == nullptr || has_priority_protocol(mutex)) [[likely]] {
    return EBUSY;
  }
  const int result = pthread_mutex_trylock(mutex);
  note(result != EBUSY ? CallKind::kFreeLock : CallKind::kLockWait, function, 0);
  return result;
}

/// The same for a readers-writer lock; the argument is the function that takes it without waiting.
[[gnu::always_inline]] inline int try_if_guarded(pthread_rwlock_t* lock,
                                                 int (*attempt)(pthread_rwlock_t*),
                                                 const char* function) {
  if (t_guard == nullptr) [[likely]] {
    return EBUSY;
  }
  const int result = attempt(lock);
  note(result != EBUSY ? CallKind::kFreeLock : CallKind::kLockWait, function, 0);
  return result;
}

/// Tries to decrement the semaphore, if a guard watches the thread. Success is no violation,
/// because the thread does not sleep. Otherwise records that the thread is going to sleep.
[[gnu::always_inline]] inline bool took_if_guarded(sem_t* semaphore, const char* function) {
  if (t_guard == nullptr) [[likely]] {
    return false;
  }
  if (sem_trywait(semaphore) == 0) {
    return true;
  }
  note(CallKind::kSleep, function, 0);
  return false;
}

/// The C library's function that the function of this name here interposes.
template <typename Function>
class Next {
 public:
  constexpr explicit Next(const char* name) : name_(name) {}

  template <typename... Arguments>
  auto operator()(Arguments... arguments) {
    Function* function = function_.load(std::memory_order_relaxed);  // all threads find the same
    if (function == nullptr) [[unlikely]] {
      function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
      function_.store(function, std::memory_order_relaxed);
    }
    return function(arguments...);
  }

 private:
  const char* const name_;
  std::atomic<Function*> function_{nullptr};
};

}  // namespace
}  // namespace rclrt::realtime::detail

using rclrt::realtime::detail::CallKind;
using rclrt::realtime::detail::Next;
using rclrt::realtime::detail::note_if_guarded;
using rclrt::realtime::detail::took_if_guarded;
using rclrt::realtime::detail::try_if_guarded;

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): the C library's names
extern "C" {

// The C library's own names of the functions that are interposed here. These names are never
// interposed. The linker resolves them, so no look-up at run time allocates.
void* __libc_malloc(std::size_t size) noexcept;
void __libc_free(void* block) noexcept;
void* __libc_calloc(std::size_t count, std::size_t size) noexcept;
void* __libc_realloc(void* block, std::size_t size) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept;

void* malloc(std::size_t size) noexcept {
  note_if_guarded(CallKind::kAllocate, "malloc", size);
  return __libc_malloc(size);
}

void free(void* block) noexcept {
  if (block != nullptr) {
    note_if_guarded(CallKind::kFree, "free");
    __libc_free(block);
  }
}

void* calloc(std::size_t count, std::size_t size) noexcept {
  note_if_guarded(CallKind::kAllocate, "calloc", count * size);
  return __libc_calloc(count, size);
}

void* realloc(void* block, std::size_t size) noexcept {
  note_if_guarded(CallKind::kAllocate, "realloc", size);
  return __libc_realloc(block, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
  note_if_guarded(CallKind::kAllocate, "memalign", size);
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  note_if_guarded(CallKind::kAllocate, "aligned_alloc", size);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) noexcept {
  note_if_guarded(CallKind::kAllocate, "posix_memalign", size);
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

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static constinit Next<int(pthread_mutex_t*)> next("pthread_mutex_lock");
  if (const int result = try_if_guarded(mutex, "pthread_mutex_lock"); result != EBUSY) {
    return result;
  }
  return next(mutex);
}

int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* deadline) noexcept {
  static constinit Next<int(pthread_mutex_t*, const timespec*)> next("pthread_mutex_timedlock");
  if (const int result = try_if_guarded(mutex, "pthread_mutex_timedlock"); result != EBUSY) {
    return result;
  }
  return next(mutex, deadline);
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                            const timespec* deadline) noexcept {
  static constinit Next<int(pthread_mutex_t*, clockid_t, const timespec*)> next(
      "pthread_mutex_clocklock");
  if (const int result = try_if_guarded(mutex, "pthread_mutex_clocklock"); result != EBUSY) {
    return result;
  }
  return next(mutex, clock, deadline);
}

int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  static constinit Next<int(pthread_rwlock_t*)> next("pthread_rwlock_rdlock");
  const int result = try_if_guarded(lock, pthread_rwlock_tryrdlock, "pthread_rwlock_rdlock");
  return result != EBUSY ? result : next(lock);
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* deadline) noexcept {
  static constinit Next<int(pthread_rwlock_t*, const timespec*)> next("pthread_rwlock_timedrdlock");
  const int result = try_if_guarded(lock, pthread_rwlock_tryrdlock, "pthread_rwlock_timedrdlock");
  return result != EBUSY ? result : next(lock, deadline);
}

int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                               const timespec* deadline) noexcept {
  static constinit Next<int(pthread_rwlock_t*, clockid_t, const timespec*)> next(
      "pthread_rwlock_clockrdlock");
  const int result = try_if_guarded(lock, pthread_rwlock_tryrdlock, "pthread_rwlock_clockrdlock");
  return result != EBUSY ? result : next(lock, clock, deadline);
}

int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  static constinit Next<int(pthread_rwlock_t*)> next("pthread_rwlock_wrlock");
  const int result = try_if_guarded(lock, pthread_rwlock_trywrlock, "pthread_rwlock_wrlock");
  return result != EBUSY ? result : next(lock);
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* deadline) noexcept {
  static constinit Next<int(pthread_rwlock_t*, const timespec*)> next("pthread_rwlock_timedwrlock");
  const int result = try_if_guarded(lock, pthread_rwlock_trywrlock, "pthread_rwlock_timedwrlock");
  return result != EBUSY ? result : next(lock, deadline);
}

int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                               const timespec* deadline) noexcept {
  static constinit Next<int(pthread_rwlock_t*, clockid_t, const timespec*)> next(
      "pthread_rwlock_clockwrlock");
  const int result = try_if_guarded(lock, pthread_rwlock_trywrlock, "pthread_rwlock_clockwrlock");
  return result != EBUSY ? result : next(lock, clock, deadline);
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static constinit Next<int(pthread_cond_t*, pthread_mutex_t*)> next("pthread_cond_wait");
  note_if_guarded(CallKind::kSleep, "pthread_cond_wait");
  return next(condition, mutex);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* deadline) {
  static constinit Next<int(pthread_cond_t*, pthread_mutex_t*, const timespec*)> next(
      "pthread_cond_timedwait");
  note_if_guarded(CallKind::kSleep, "pthread_cond_timedwait");
  return next(condition, mutex, deadline);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* deadline) {
  static constinit Next<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)> next(
      "pthread_cond_clockwait");
  note_if_guarded(CallKind::kSleep, "pthread_cond_clockwait");
  return next(condition, mutex, clock, deadline);
}

int sem_wait(sem_t* semaphore) {
  static constinit Next<int(sem_t*)> next("sem_wait");
  return took_if_guarded(semaphore, "sem_wait") ? 0 : next(semaphore);
}

int sem_timedwait(sem_t* semaphore, const timespec* deadline) {
  static constinit Next<int(sem_t*, const timespec*)> next("sem_timedwait");
  return took_if_guarded(semaphore, "sem_timedwait") ? 0 : next(semaphore, deadline);
}

int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* deadline) {
  static constinit Next<int(sem_t*, clockid_t, const timespec*)> next("sem_clockwait");
  return took_if_guarded(semaphore, "sem_clockwait") ? 0 : next(semaphore, clock, deadline);
}

int nanosleep(const timespec* duration, timespec* remaining) {
  static constinit Next<int(const timespec*, timespec*)> next("nanosleep");
  note_if_guarded(CallKind::kSleep, "nanosleep");
  return next(duration, remaining);
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* remaining) {
  static constinit Next<int(clockid_t, int, const timespec*, timespec*)> next("clock_nanosleep");
  note_if_guarded(CallKind::kSleep, "clock_nanosleep");
  return next(clock, flags, time, remaining);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
#endif
