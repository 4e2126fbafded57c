// SPDX-License-Identifier: Apache-2.0
#include "origin_segments.hpp"

#include <signal.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/throw_errno.hpp"

namespace rclrt_robot {

namespace {

constexpr std::size_t kNameSize = 512;

/// Returns an identifier of this process's network namespace; 0: unknown. Nodes of one ROS domain
/// in different networks do not communicate, and may have the same names.
std::uint64_t network() {
  struct stat status{};
  return stat("/proc/self/ns/net", &status) == 0 ? status.st_ino : 0;
}

/// Returns the time at which a process started, in clock ticks since the boot (field 22 of
/// /proc/PID/stat). 0: the process does not exist or is not visible. PID and start time together
/// identify a process for ever.
std::uint64_t start_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t name_ends = text.rfind(')');  // a name may hold anything
  std::istringstream fields(name_ends == std::string::npos ? "" : text.substr(name_ends + 1));
  constexpr int kBeforeStart = 19;
  std::string skipped;
  for (int i = 0; i < kBeforeStart; ++i) {
    fields >> skipped;
  }
  std::uint64_t start = 0;
  return fields >> start ? start : 0;
}

}  // namespace

/// The content of a segment of shared memory. If you change it, also change kVersion. Another
/// process may have written anything here.
struct OriginMapping::Content {
  static constexpr std::uint64_t kMagic = 0x726f'7472'6c63'7200;  // "\0rclrtor"
  static constexpr std::uint64_t kVersion = 3;

  // kMagic once the writer has set all other fields; 0 before that and after the writer has ended.
  // PAIRS WITH: attach(), which reads the other fields after it has read this one.
  std::atomic<std::uint64_t> magic{0};
  std::uint64_t version = kVersion;
  std::uint64_t network = 0;
  std::uint64_t domain = 0;
  std::uint64_t writer_start = 0;      // see start_of()
  std::array<char, kNameSize> node{};  // its full name, ends with 0
  OriginRing ring;
};

namespace {

using Content = OriginMapping::Content;

struct Segment {
  int number = -1;
  pid_t writer = 0;  // 0: of another PID namespace
};

void* attach_memory(int number) noexcept {
  void* const address = shmat(number, nullptr, 0);
  return reinterpret_cast<std::intptr_t>(address) == -1 ? nullptr : address;
}

/// Touches all pages: a real-time thread that reads or writes them then causes no page fault.
void touch(const void* memory) noexcept {
  const auto* const bytes = static_cast<const volatile unsigned char*>(memory);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t at = 0; at < sizeof(Content); at += page) {
    (void)bytes[at];
  }
}

[[noreturn]] void fail(const std::string& node) {
  rclrt::realtime::throw_errno("cannot get shared memory for the origins of node " + node);
}

/// Calls `use` with each segment of this user's that has the right size.
template <typename Use>
void for_each_segment(const Use& use) {
  shm_info info{};
  const int last = shmctl(0, SHM_INFO, reinterpret_cast<shmid_ds*>(&info));
  for (int index = 0; index <= last; ++index) {
    shmid_ds status{};
    const int number = shmctl(index, SHM_STAT, &status);
    // A segment that its writer, which has it attached, has marked for removal.
    if (number >= 0 && status.shm_perm.uid == geteuid() && status.shm_segsz == sizeof(Content) &&
        (status.shm_perm.mode & SHM_DEST) != 0) {
      use(Segment{number, status.shm_cpid});
    }
  }
}

/// Returns the segment attached if its content is of this domain and network; else nullptr.
std::shared_ptr<const OriginMapping> attach(int number, std::size_t domain) {
  void* const address = attach_memory(number);
  if (address == nullptr) {
    return nullptr;
  }
  touch(address);
  auto mapping = std::make_shared<const OriginMapping>(static_cast<Content*>(address));
  const Content& content = mapping->content();
  // PAIRS WITH: SegmentWriter's constructor
  const bool is_ours = content.magic.load(std::memory_order_acquire) == Content::kMagic &&
                       content.version == Content::kVersion && content.domain == domain &&
                       content.network == network();
  return is_ours ? std::move(mapping) : nullptr;
}

/// Returns whether the process that writes the segment is alive. If it was killed, its last
/// instance would appear to run for ever. A writer in another PID namespace cannot be looked up,
/// and counts as alive.
bool is_alive(const Segment& segment, const Content& content) {
  return content.magic.load(std::memory_order_relaxed) == Content::kMagic &&
         (segment.writer <= 0 || content.writer_start == 0 ||
          start_of(segment.writer) == content.writer_start);
}

}  // namespace

OriginMapping::~OriginMapping() { shmdt(content_); }

OriginRing& OriginMapping::ring() const noexcept RCLRT_NONBLOCKING { return content_->ring; }

SegmentWriter::SegmentWriter(std::size_t domain, const std::string& node) {
  if (node.size() >= kNameSize) {
    throw std::invalid_argument("the name of the node " + node +
                                " is too long to share the origins of its data; shorten it");
  }
  const int number = shmget(IPC_PRIVATE, sizeof(Content), IPC_CREAT | IPC_EXCL | S_IRUSR | S_IWUSR);
  void* const address = number < 0 ? nullptr : attach_memory(number);
  const int error = errno;
  if (number >= 0) {
    shmctl(number, IPC_RMID, nullptr);  // removed with the last process that has it attached
  }
  if (address == nullptr) {
    errno = error;
    fail(node);
  }
  auto* const content = new (address) Content();  // writes every page
  mapping_ = std::make_unique<OriginMapping>(content);
  content->network = network();
  content->domain = domain;
  content->writer_start = start_of(getpid());
  std::copy(node.begin(), node.end(), content->node.begin());
  content->magic.store(Content::kMagic, std::memory_order_release);  // PAIRS WITH: attach()
}

SegmentWriter::~SegmentWriter() {
  mapping_->content().magic.store(0, std::memory_order_relaxed);  // attached readers scan again
}

void* SegmentWriter::begin(Origin origin) noexcept RCLRT_NONBLOCKING {
  OriginRing::Place* const place = mapping_->ring().claim();
  if (place != nullptr) {
    OriginRing::start(*place, rclrt::realtime::read_clock_ns(CLOCK_REALTIME), pack(origin));
  }
  return place;
}

void SegmentWriter::end(void* place) noexcept RCLRT_NONBLOCKING {
  OriginRing::end(*static_cast<OriginRing::Place*>(place),
                  rclrt::realtime::read_clock_ns(CLOCK_REALTIME));
}

void OriginSegments::scan() {
  std::map<int, Known> now;
  for_each_segment([&](const Segment& segment) {
    Known known;
    if (const auto before = known_.find(segment.number); before != known_.end()) {
      known = std::move(before->second);
    } else {
      known.mapping = attach(segment.number, domain_);
    }
    if (known.mapping != nullptr && is_alive(segment, known.mapping->content())) {
      const auto& name = known.mapping->content().node;
      known.node.assign(name.data(), strnlen(name.data(), name.size()));
      now[segment.number] = std::move(known);
    }
  });
  known_ = std::move(now);
}

std::vector<std::shared_ptr<const OriginMapping>> OriginSegments::of(
    const std::string& node) const {
  std::vector<std::shared_ptr<const OriginMapping>> result;
  for (const auto& [number, known] : known_) {
    if (!known.node.empty() && known.node == node) {
      result.push_back(known.mapping);
    }
  }
  return result;
}

}  // namespace rclrt_robot
