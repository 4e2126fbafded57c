// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/thread_origin.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fnmatch.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

extern "C" {  // which these headers leave to their user
#include <proc_service.h>
#include <thread_db.h>
}

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>

#include "rclrt/realtime/scheduling.hpp"
#include "thread_entry.hpp"

/// The process that libthread_db reads: this one, which goes on meanwhile.
struct ps_prochandle {
  long reads_left = 0;  // a list that changes while it is read may have no end
};

namespace {

/// Reads memory of this process that may not be mapped (any more), which is an error then. Of the
/// own process that needs no permission; /proc/self/mem could not be opened by one with
/// capabilities.
bool read_memory(const void* address, void* to, std::size_t size) {
  const iovec local{to, size};
  const iovec remote{const_cast<void*>(address), size};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

template <typename T>
std::optional<T> read_at(const void* address) {
  T value{};
  return read_memory(address, static_cast<void*>(&value), sizeof value) ? std::optional(value)
                                                                        : std::nullopt;
}

}  // namespace

// The functions by which libthread_db asks its user for everything; see proc_service.h.
extern "C" {
#pragma GCC visibility push(default)

ps_err_e ps_pdread(ps_prochandle* process, psaddr_t address, void* to, std::size_t size) {
  return process->reads_left-- > 0 && read_memory(address, to, size) ? PS_OK : PS_ERR;
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

/// A thread as pthread_create was asked for it.
struct StartedThread {
  const void* function = nullptr;
  const void* argument = nullptr;

  bool operator==(const StartedThread&) const = default;
};

using StartedThreads = std::map<pid_t, StartedThread>;

/// Classes that start threads for others: their libraries say nothing of a thread.
constexpr std::array<const char*, 3> kWrappers{"libstdc++.so*", "libc++.so*",
                                               "libboost_thread.so*"};

/// Returns a text of at most 4 kB that ends with a zero; std::nullopt if there is none.
std::optional<std::string> read_text(const char* address) {
  std::string text;
  std::array<char, 256> part{};  // does not go over the end of a page: 4096 is a multiple
  while (text.size() < 4096) {
    const char* const from = address + text.size();
    const std::size_t size = part.size() - reinterpret_cast<std::uintptr_t>(from) % part.size();
    if (!read_memory(from, part.data(), size)) {
      return std::nullopt;
    }
    const auto end = std::find(part.begin(), part.begin() + size, '\0');
    text.append(part.begin(), end);
    if (end != part.begin() + size) {
      return text;
    }
  }
  return std::nullopt;
}

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

  /// The C library keeps a thread's argument right behind its start function, in its descriptor,
  /// which its pthread_t points to.
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

/// Returns nothing if the list changed while it was read.
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

StartedThreads read_started_threads() {
  // libthread_db has state of its own without a lock.
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  static const td_err_e kReady = td_init();
  constexpr int kAttempts = 10;
  for (int attempt = 0; kReady == TD_OK && attempt < kAttempts; ++attempt) {
    const std::size_t threads = thread_ids().size();
    auto first = read_list(threads);
    const auto second = first ? read_list(threads) : std::nullopt;
    if (second) {
      // A descriptor is read in parts, and may become another thread's meanwhile: what is the same
      // twice belongs together.
      std::erase_if(*first, [&](const auto& each) {
        const auto again = second->find(each.first);
        return again == second->end() || again->second != each.second;
      });
      return *std::move(first);
    }
  }
  return {};
}

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::string program_name() {
  std::array<char, 4096> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  return file_name(std::string(path.data(), static_cast<std::size_t>(std::max(size, ssize_t{0}))));
}

/// Returns the library or program that the address is in; an empty text if there is none.
std::string library_of(const void* address) {
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    return "";
  }
  // The dynamic linker calls the program what its caller did; ask the kernel.
  Dl_info program{};
  const auto* const header = std::bit_cast<const void*>(getauxval(AT_PHDR));
  if (dladdr(header, &program) != 0 && program.dli_fbase == info.dli_fbase) {
    return program_name();
  }
  return file_name(read_text(info.dli_fname).value_or(""));  // it may be unloaded meanwhile
}

std::string demangle(const std::string& name) {
  int status = 0;
  char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  const std::string result = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return result;
}

std::string symbol_at(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_saddr == address && info.dli_sname != nullptr
             ? demangle(read_text(info.dli_sname).value_or(""))
             : "";
}

const void* add_bytes(const void* address, std::ptrdiff_t bytes) {
  return static_cast<const char*>(address) + bytes;
}

/// Returns the type of an object with this table of virtual functions, if its library was built
/// with type information: by the Itanium C++ ABI the table has a pointer to the type before it, and
/// the type its name second.
std::string type_of(const void* table) {
  constexpr std::ptrdiff_t kPointer = sizeof(void*);
  const auto type = read_at<const void*>(add_bytes(table, -kPointer));
  if (!type || library_of(*type).empty()) {
    return "";
  }
  const auto name = read_at<const char*>(add_bytes(*type, kPointer));
  if (!name || library_of(*name).empty()) {
    return "";
  }
  const std::string text = read_text(*name).value_or("");
  return text.empty() ? "" : demangle(text.front() == '*' ? text.substr(1) : text);
}

bool is_wrapper(const void* function, const std::string& library) {
  return function == ThreadEntry::address() ||
         std::any_of(kWrappers.begin(), kWrappers.end(), [&](const char* pattern) {
           return fnmatch(pattern, library.c_str(), 0) == 0;
         });
}

ThreadOrigin origin_of(const StartedThread& thread) {
  ThreadOrigin started{library_of(thread.function), symbol_at(thread.function)};
  if (!is_wrapper(thread.function, started.library)) {
    return started;
  }
  // The argument is an object whose class the starting code has derived.
  const auto table = read_at<const void*>(thread.argument);
  std::string library = table ? library_of(*table) : "";
  if (library.empty()) {
    return started;
  }
  return {std::move(library), type_of(*table)};
}

}  // namespace

std::map<pid_t, ThreadOrigin> thread_origins() {
  std::map<pid_t, ThreadOrigin> result{{getpid(), {program_name(), "main"}}};
  for (const auto& [tid, thread] : read_started_threads()) {
    result.emplace(tid, origin_of(thread));
  }
  return result;
}

}  // namespace rclrt::realtime
