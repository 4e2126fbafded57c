// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/thread_origin.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fnmatch.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include "thread_entry.hpp"
#include "thread_list.hpp"

namespace rclrt::realtime {

bool read_memory(const void* address, void* to, std::size_t size) {
  const iovec local{to, size};
  const iovec remote{const_cast<void*>(address), size};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

namespace {

/// Libraries of classes that start threads for other code, such as std::thread. They are not
/// reported as the origin of a thread.
constexpr std::array<const char*, 3> kWrappers{"libstdc++.so*", "libc++.so*",
                                               "libboost_thread.so*"};

/// Returns a text of at most 4 kB that ends with a zero; std::nullopt if there is none.
std::optional<std::string> read_text(const char* address) {
  std::string text;
  std::array<char, 256> part{};  // no read crosses a page: 4096 is a multiple
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
  // The dynamic linker has the program's name from its caller; the kernel has the file.
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

/// Returns the type name of an object with the virtual table `table`; empty if its library has no
/// type information. By the Itanium C++ ABI, a pointer to the type's description precedes the
/// table, and the name is the description's second member.
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
  // The argument is an object of a class that the starting code has derived.
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
