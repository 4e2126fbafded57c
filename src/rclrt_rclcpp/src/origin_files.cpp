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
#include <cstddef>
#include <cstring>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "rclrt/realtime/clock.hpp"

namespace rclrt_rclcpp {

namespace {
constexpr std::size_t kNameSize = 512;
}

/// What a file has. Changed only together with kVersion.
struct OriginMapping::File {
  static constexpr std::uint64_t kMagic = 0x726f'7472'6c63'7200;  // "\0rclrtor"
  static constexpr std::uint64_t kVersion = 1;

  std::uint64_t magic = kMagic;
  std::uint64_t version = kVersion;
  std::array<char, kNameSize> node{};  // its full name, ends with 0
  OriginRing ring;
};

namespace {

using File = OriginMapping::File;

/// Where POSIX shared memory is, on Linux (shm_overview(7)).
constexpr const char* kDirectory = "/dev/shm";

std::string prefix() { return "rclrt-origins." + std::to_string(geteuid()) + "."; }

/// Nodes of one domain that are in different networks do not hear each other, and may have the same
/// names.
std::string prefix(std::size_t domain) {
  struct stat network{};
  const bool is_known = stat("/proc/self/ns/net", &network) == 0;
  return prefix() + std::to_string(is_known ? network.st_ino : 0) + "." + std::to_string(domain) +
         ".";
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) {
      close(value_);
    }
  }
  Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
  Descriptor& operator=(Descriptor&&) = delete;

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

/// Opens a file of this user's of the right size; of another one the descriptor is negative, and
/// `is_wrong` is set if it will always be.
Descriptor open_file(const std::filesystem::path& path, bool& is_wrong) {
  // O_NONBLOCK: whoever has a lease on it would be waited for.
  Descriptor descriptor(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (descriptor.get() < 0) {
    is_wrong = errno == ELOOP || errno == EISDIR || errno == EACCES || errno == ENXIO;
    return descriptor;
  }
  struct stat status{};
  is_wrong = fstat(descriptor.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
             status.st_uid != geteuid() || status.st_size != static_cast<off_t>(sizeof(File));
  return is_wrong ? Descriptor(-1) : std::move(descriptor);
}

/// Reads the name of the node; empty: the file has another content.
std::string read_node(int descriptor) {
  struct {
    std::uint64_t magic;
    std::uint64_t version;
    std::array<char, kNameSize> node;
  } head{};
  static_assert(sizeof(head) == offsetof(File, ring));
  if (pread(descriptor, &head, sizeof(head), 0) != static_cast<ssize_t>(sizeof(head)) ||
      head.magic != File::kMagic || head.version != File::kVersion) {
    return "";
  }
  return {head.node.data(), strnlen(head.node.data(), head.node.size())};
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

OriginRing& OriginMapping::ring() const noexcept RCLRT_NONBLOCKING { return file_->ring; }

// The file gets its name last, when it is complete and locked. So nobody takes it for abandoned.
OriginWriter::OriginWriter(std::size_t domain, const std::string& node) {
  static std::atomic<std::uint64_t> made{0};
  const std::filesystem::path directory = kDirectory;
  path_ = directory / (prefix(domain) + std::to_string(getpid()));
  if (node.size() >= kNameSize) {
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

OriginRing::Place* OriginWriter::begin(Origin origin) noexcept RCLRT_NONBLOCKING {
  OriginRing::Place* const place = mapping_->ring().claim();
  if (place != nullptr) {
    OriginRing::start(*place, rclrt::realtime::read_clock_ns(CLOCK_REALTIME), origin.packed());
  }
  return place;
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
    bool is_wrong = false;
    const Descriptor file = open_file(std::filesystem::path(kDirectory) / name, is_wrong);
    std::string node = file.get() >= 0 ? read_node(file.get()) : "";
    if (file.get() >= 0 || is_wrong) {  // else it is tried again
      now[name] = {inode, std::move(node), nullptr};
    }
  });
  known_ = std::move(now);
}

std::vector<std::shared_ptr<const OriginMapping>> OriginFiles::of(const std::string& node) {
  std::vector<std::shared_ptr<const OriginMapping>> result;
  for (auto& [name, known] : known_) {
    if (known.node.empty() || known.node != node) {
      continue;
    }
    if (known.mapping == nullptr) {
      bool is_wrong = false;
      const Descriptor file = open_file(std::filesystem::path(kDirectory) / name, is_wrong);
      void* const address = file.get() >= 0 ? map(file.get()) : nullptr;
      if (address == nullptr) {
        continue;  // tried again by the next look
      }
      known.mapping = std::make_shared<const OriginMapping>(static_cast<File*>(address));
    }
    result.push_back(known.mapping);
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
