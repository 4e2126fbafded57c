// SPDX-License-Identifier: Apache-2.0
#include "thread_list.hpp"

#include <dlfcn.h>
#include <unistd.h>

extern "C" {  // these headers do not declare it
#include <proc_service.h>
#include <thread_db.h>
}

#include <bit>
#include <mutex>
#include <utility>

#include "rclrt/realtime/scheduling.hpp"

/// The process that libthread_db reads: this one, which continues to run meanwhile.
struct ps_prochandle {
  long reads_left = 0;  // a list that changes while it is read may have no end
};

// The functions through which libthread_db accesses a process; see proc_service.h.
extern "C" {
#pragma GCC visibility push(default)

ps_err_e ps_pdread(ps_prochandle* process, psaddr_t address, void* to, std::size_t size) {
  return process->reads_left-- > 0 && rclrt::realtime::read_memory(address, to, size) ? PS_OK
                                                                                      : PS_ERR;
}

ps_err_e ps_pglobal_lookup(ps_prochandle* /*process*/, const char* /*object*/, const char* name,
                           psaddr_t* address) {
  *address = dlsym(RTLD_DEFAULT, name);
  return *address != nullptr ? PS_OK : PS_NOSYM;
}

pid_t ps_getpid(ps_prochandle* /*process*/) { return getpid(); }

// Nothing is written, and registers are not needed.
ps_err_e ps_pdwrite(ps_prochandle*, psaddr_t, const void*, std::size_t) { return PS_ERR; }
ps_err_e ps_lgetregs(ps_prochandle*, lwpid_t, prgregset_t) { return PS_ERR; }
ps_err_e ps_lsetregs(ps_prochandle*, lwpid_t, const prgregset_t) { return PS_ERR; }
ps_err_e ps_lgetfpregs(ps_prochandle*, lwpid_t, prfpregset_t*) { return PS_ERR; }
ps_err_e ps_lsetfpregs(ps_prochandle*, lwpid_t, const prfpregset_t*) { return PS_ERR; }

#pragma GCC visibility pop
}

namespace rclrt::realtime {

namespace {

/// Collects the threads of libthread_db's iteration.
class Collector {
 public:
  StartedThreads take() { return std::move(threads_); }

  static int add(const td_thrhandle_t* thread, void* collector) {
    static_cast<Collector*>(collector)->add(thread);
    return 0;
  }

 private:
  void add(const td_thrhandle_t* thread) {
    td_thrinfo_t info{};
    // libthread_db gives the process's id for a thread that has just begun or ended.
    if (td_thr_get_info(thread, &info) != TD_OK || info.ti_lid <= 0 || info.ti_lid == getpid() ||
        info.ti_startfunc == nullptr) {
      return;
    }
    StartedThread& started = threads_[info.ti_lid];
    started.function = reinterpret_cast<const void*>(info.ti_startfunc);
    started.argument = find_argument(std::bit_cast<const char*>(info.ti_tid), started.function);
  }

  /// Finds the argument of a thread's start function: the C library stores it right after the start
  /// function in the thread's descriptor, to which the pthread_t points.
  const void* find_argument(const char* descriptor, const void* function) {
    if (argument_offset_) {
      return read_at<const void*>(descriptor + *argument_offset_).value_or(nullptr);
    }
    constexpr std::size_t kMostBytes = 4096;
    for (std::size_t at = 0; at < kMostBytes; at += sizeof(void*)) {
      const auto value = read_at<const void*>(descriptor + at);
      if (!value) {
        break;
      }
      if (*value == function) {
        argument_offset_ = at + sizeof(void*);
        return read_at<const void*>(descriptor + *argument_offset_).value_or(nullptr);
      }
    }
    return nullptr;
  }

  StartedThreads threads_;
  std::optional<std::size_t> argument_offset_;  // the same for all threads
};

/// Returns std::nullopt if the list changed while it was read.
std::optional<StartedThreads> read_list(std::size_t threads) {
  const long most_reads = 1000 + 50 * static_cast<long>(threads);  // a thread takes about ten
  ps_prochandle process{most_reads};
  td_thragent_t* agent = nullptr;
  if (td_ta_new(&process, &agent) != TD_OK) {
    return std::nullopt;
  }
  Collector collector;
  const td_err_e result =
      td_ta_thr_iter(agent, &Collector::add, &collector, TD_THR_ANY_STATE, TD_THR_LOWEST_PRIORITY,
                     TD_SIGNO_MASK, TD_THR_ANY_USER_FLAGS);
  td_ta_delete(agent);
  return result == TD_OK ? std::optional(collector.take()) : std::nullopt;
}

}  // namespace

StartedThreads read_started_threads() {
  // libthread_db has internal state that no lock protects.
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  static const td_err_e kReady = td_init();
  constexpr int kAttempts = 10;
  for (int attempt = 0; kReady == TD_OK && attempt < kAttempts; ++attempt) {
    const std::size_t threads = thread_ids().size();
    auto first = read_list(threads);
    const auto second = first ? read_list(threads) : std::nullopt;
    if (second) {
      // The list is read twice, and only entries that are equal in both reads are kept. A
      // descriptor is read in parts, and another thread may reuse it meanwhile.
      std::erase_if(*first, [&](const auto& each) {
        const auto again = second->find(each.first);
        return again == second->end() || again->second != each.second;
      });
      return *std::move(first);
    }
  }
  return {};
}

}  // namespace rclrt::realtime
