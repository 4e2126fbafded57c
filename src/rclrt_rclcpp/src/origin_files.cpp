// SPDX-License-Identifier: Apache-2.0
#include "origin_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "rclrt/realtime/clock.hpp"

namespace rclrt_rclcpp {

/// What a file has. Changed only together with kVersion.
struct OriginMapping::File {
  static constexpr std::uint64_t kMagic = 0x726f'7472'6c63'7200;  // "\0rclrtor"
  static constexpr std::uint64_t kVersion = 1;

  std::uint64_t magic = kMagic;
  std::uint64_t version = kVersion;
  std::array<char, 512> node{};  // its full name, ends with 0
  OriginRing ring;
};

namespace {

using File = OriginMapping::File;

/// Where POSIX shared memory is, on Linux (shm_overview(7)).
constexpr const char* kDirectory = "/dev/shm";

std::string prefix() { return "rclrt-origins." + std::to_string(geteuid()) + "."; }
std::string prefix(std::size_t domain) { return prefix() + std::to_string(domain) + "."; }

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) {
      close(value_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const noexcept { return value_; }
  int release() noexcept { return std::exchange(value_, -1); }

 private:
  int value_;
};

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(), "cannot make " + path.string());
}

/// Its pages are there: a real-time thread that reads or writes it waits for none.
void* map(int descriptor) noexcept {
  void* const address =
      mmap(nullptr, sizeof(File), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor, 0);
  return address == MAP_FAILED ? nullptr : address;
}

/// Returns what a file has if it is one of this user's and complete; nullptr otherwise.
std::shared_ptr<const OriginMapping> open_file(const std::filesystem::path& path,
                                               std::string& node) {
  const Descriptor descriptor(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (descriptor.get() < 0 || fstat(descriptor.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != geteuid() || status.st_size != static_cast<off_t>(sizeof(File))) {
    return nullptr;
  }
  auto* const file = static_cast<File*>(map(descriptor.get()));
  if (file == nullptr) {
    return nullptr;
  }
  auto mapping = std::make_shared<const OriginMapping>(file);
  if (file->magic != File::kMagic || file->version != File::kVersion) {
    return nullptr;
  }
  node.assign(file->node.data(), strnlen(file->node.data(), file->node.size()));
  return mapping;
}

/// Calls `use` with the name and inode of each file that begins so.
template <typename Use>
void for_each_file(const std::string& begins, const Use& use) {
  std::error_code error;
  for (std::filesystem::directory_iterator each(kDirectory, error), end; !error && each != end;
       each.increment(error)) {
    const std::string name = each->path().filename();
    struct stat status{};
    if (name.starts_with(begins) && lstat(each->path().c_str(), &status) == 0) {
      use(name, std::uint64_t{status.st_ino});
    }
  }
}

}  // namespace

OriginMapping::~OriginMapping() { munmap(file_, sizeof(File)); }

OriginRing& OriginMapping::ring() const noexcept { return file_->ring; }

// The file gets its name last, when it is complete and locked. So nobody takes it for abandoned.
OriginWriter::OriginWriter(std::size_t domain, const std::string& node) {
  static std::atomic<std::uint64_t> made{0};
  const std::filesystem::path directory = kDirectory;
  path_ = directory / (prefix(domain) + std::to_string(getpid()));
  if (node.size() >= std::tuple_size<decltype(File::node)>()) {
    throw std::invalid_argument("the name of the node " + node + " is too long");
  }
  Descriptor file(open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.get() < 0 || flock(file.get(), LOCK_SH | LOCK_NB) != 0) {
    fail(path_);
  }
  if (const int error = posix_fallocate(file.get(), 0, sizeof(File)); error != 0) {
    errno = error;
    fail(path_);
  }
  void* const address = map(file.get());
  if (address == nullptr) {
    fail(path_);
  }
  auto* const content = new (address) File();
  std::copy(node.begin(), node.end(), content->node.begin());
  mapping_ = std::make_unique<OriginMapping>(content);
  const std::string unnamed = "/proc/self/fd/" + std::to_string(file.get());
  for (;;) {
    const std::filesystem::path name =
        path_.string() + "." + std::to_string(made.fetch_add(1, std::memory_order_relaxed));
    if (linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      path_ = name;
      break;
    }
    if (errno != EEXIST) {  // of another container's process that has this number, too
      fail(path_);
    }
  }
  descriptor_ = file.release();
}

OriginWriter::~OriginWriter() {
  unlink(path_.c_str());
  close(descriptor_);
}

OriginRing::Place* OriginWriter::begin(std::int64_t origin_ns) noexcept RCLRT_NONBLOCKING {
  return mapping_->ring().begin(rclrt::realtime::read_clock_ns(CLOCK_REALTIME), origin_ns);
}

void OriginWriter::end(OriginRing::Place& place) noexcept RCLRT_NONBLOCKING {
  OriginRing::end(place, rclrt::realtime::read_clock_ns(CLOCK_REALTIME));
}

void OriginFiles::look() {
  std::map<std::string, Known> now;
  for_each_file(prefix(domain_), [&](const std::string& name, std::uint64_t inode) {
    const auto before = known_.find(name);
    if (before != known_.end() && before->second.inode == inode) {
      now.insert(known_.extract(before));
      return;
    }
    Known& known = now[name];
    known.inode = inode;
    known.mapping = open_file(std::filesystem::path(kDirectory) / name, known.node);
  });
  known_ = std::move(now);
}

std::vector<std::shared_ptr<const OriginMapping>> OriginFiles::of(const std::string& node) const {
  std::vector<std::shared_ptr<const OriginMapping>> result;
  for (const auto& [name, known] : known_) {
    if (known.mapping != nullptr && known.node == node) {
      result.push_back(known.mapping);
    }
  }
  return result;
}

void OriginFiles::remove_abandoned() noexcept {
  try {
    for_each_file(prefix(), [](const std::string& name, std::uint64_t /*inode*/) {
      const std::filesystem::path path = std::filesystem::path(kDirectory) / name;
      const Descriptor file(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
      if (file.get() >= 0 && flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
        unlink(path.c_str());
      }
    });
  } catch (const std::exception&) {  // memory: they stay for the next one
    return;
  }
}

}  // namespace rclrt_rclcpp
