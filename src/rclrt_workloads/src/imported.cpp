// SPDX-License-Identifier: Apache-2.0
#include "imported.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace rclrt::workloads::detail {

namespace {

/// The program's `main`, under the name that it was compiled with.
constexpr const char* kEntry = "rclrt_workload_main";

/// A library that is unloaded at the end.
class Library {
 public:
  /// Loads a private copy of the library, so that each object has global variables of its own. The
  /// dynamic loader recognises a file by its inode and name and would share the variables of a file
  /// that is loaded twice. The copy is a memory file that stays open: so its descriptor, and with
  /// it its name, is unique.
  explicit Library(const std::filesystem::path& path)
      : copy_(::memfd_create("rclrt workload", MFD_CLOEXEC)) {
    try {
      load(path);
    } catch (...) {
      ::close(copy_);
      throw;
    }
  }
  ~Library() {
    ::dlclose(handle_);
    ::close(copy_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void* find(const char* symbol) const { return ::dlsym(handle_, symbol); }

 private:
  void load(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file || copy_ < 0) {
      throw std::runtime_error(path.string() + ": cannot be read");
    }
    std::size_t written = 0;
    while (written < bytes.size()) {
      const ssize_t size = ::write(copy_, bytes.data() + written, bytes.size() - written);
      if (size < 0 && errno != EINTR) {
        throw std::system_error(errno, std::generic_category(), path.string());
      }
      written += static_cast<std::size_t>(std::max<ssize_t>(size, 0));
    }
    handle_ = ::dlopen(("/proc/self/fd/" + std::to_string(copy_)).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) {
      throw std::runtime_error(path.string() + ": " + ::dlerror());
    }
  }

  const int copy_;
  void* handle_ = nullptr;
};

class ImportedKernel final : public Kernel {
 public:
  explicit ImportedKernel(const std::filesystem::path& path)
      : library_(path), entry_(reinterpret_cast<int (*)()>(library_.find(kEntry))) {
    if (entry_ == nullptr) {
      throw std::runtime_error(path.string() + ": has no symbol " + kEntry +
                               "; expected a library that 'rclrt workloads import' made");
    }
  }

  std::uint64_t run() noexcept override { return static_cast<std::uint64_t>(entry_()); }

 private:
  const Library library_;
  int (*const entry_)();
};

bool is_plain(const std::string& name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || character == '_';
  });
}

}  // namespace

std::unique_ptr<Kernel> make_imported(const std::string& name) {
  const char* const path = std::getenv("RCLRT_WORKLOAD_PATH");
  if (path == nullptr || !is_plain(name)) {
    return nullptr;
  }
  std::istringstream directories(path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    const auto file = std::filesystem::path(directory) / (name + ".so");
    if (std::error_code none; !directory.empty() && std::filesystem::is_regular_file(file, none)) {
      return std::make_unique<ImportedKernel>(file);
    }
  }
  return nullptr;
}

}  // namespace rclrt::workloads::detail
