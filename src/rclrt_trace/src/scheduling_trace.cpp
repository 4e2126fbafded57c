// SPDX-License-Identifier: Apache-2.0
#include "scheduling_trace.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <climits>
#include <cstdio>
#include <random>
#include <string_view>
#include <utility>

#include "ctf_types.hpp"
#include "rclrt/realtime/replacing_file.hpp"
#include "rclrt/realtime/throw_errno.hpp"

namespace rclrt::trace {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostPacketBytes = 64UL * 1024;
constexpr std::uint64_t kLeastFileBytes = 8UL * 1024;
constexpr std::size_t kHeaderBytes = 4 + 16 + 4 + 8 + 5 * 8;  // a packet's header and context
constexpr std::uint8_t kSwitchId = 0;
constexpr std::uint8_t kLostId = 1;
constexpr std::chrono::milliseconds kPause{200};

/// Declarations of the streams' types. The reader uses the names of these events and fields.
constexpr std::string_view kTypes = R"(
stream {
  id = 0;
  packet.context := struct {
    clock64_t timestamp_begin; clock64_t timestamp_end;
    uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num;
  };
  event.header := struct { uint8_t id; clock64_t timestamp; };
  event.context := struct { int32_t _vpid; int32_t _vtid; };
};
event {
  name = "rclrt:thread_switch"; id = 0; stream_id = 0;
  fields := struct { uint8_t _state; };
};
event {
  name = "rclrt:thread_switches_lost"; id = 1; stream_id = 0;
  fields := struct { uint64_t _count; uint64_t _since; };
};
)";

constexpr std::string_view kIntegers = R"(
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
)";

constexpr std::string_view kClockType = R"(
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := clock64_t;
)";

/// Returns the time of the wall clock minus CLOCK_MONOTONIC. Reads both clocks several times, and
/// uses the pair that was read in the shortest time.
std::chrono::nanoseconds offset_from_epoch() {
  using Wall = std::chrono::system_clock;
  using Monotonic = std::chrono::steady_clock;
  constexpr int kReadings = 10;
  auto least = Monotonic::duration::max();
  std::chrono::nanoseconds offset{};
  for (int i = 0; i < kReadings; ++i) {
    const auto before = Monotonic::now();
    const auto wall = Wall::now();
    const auto took = Monotonic::now() - before;
    if (took < least) {
      least = took;
      offset = wall.time_since_epoch() - before.time_since_epoch() - took / 2;
    }
  }
  return offset;
}

/// Returns the declaration of the clock in the metadata, as LTTng writes it. Its UUID is that of
/// the boot, so other readers of CTF see that both traces have the same clock.
std::string clock_of_this_boot() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  const bool is_uuid = boot.size() == 36 && std::ranges::all_of(boot, [](unsigned char c) {
                         return std::isxdigit(c) != 0 || c == '-';
                       });
  return "\nclock { name = \"monotonic\"; " + (is_uuid ? "uuid = \"" + boot + "\"; " : "") +
         "freq = 1000000000; absolute = TRUE; offset = " +
         std::to_string(offset_from_epoch().count()) + "; };";
}

[[noreturn]] void fail(const fs::path& file) { realtime::throw_errno(file.string()); }

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  gethostname(name.data(), name.size() - 1);
  std::string result(name.data());
  std::erase_if(result,
                [](unsigned char c) { return std::isprint(c) == 0 || c == '"' || c == '\\'; });
  return result;
}

/// Returns the pid namespace of the process ids that the kernel reports: our own; 0: not known.
std::uint64_t pid_namespace() {
  struct stat status{};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

std::string as_text(const std::array<unsigned char, 16>& uuid) {
  std::string result;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned>(uuid[i]));
    result += (i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(digits.data());
  }
  return result;
}

void append(std::string& to, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    to.push_back(static_cast<char>(value >> (8 * i) & 0xFFU));
  }
}

}  // namespace

SchedulingTrace::SchedulingTrace(fs::path directory, std::size_t cpus, std::uint64_t most_bytes)
    : directory_(std::move(directory)),
      most_bytes_of_file_(std::max(most_bytes / (2 * cpus), kLeastFileBytes)),
      packet_bytes_(std::min(most_bytes_of_file_ / 4, kMostPacketBytes)),
      streams_(cpus) {
  std::random_device random;
  std::ranges::generate(uuid_, [&] { return static_cast<unsigned char>(random()); });
  fs::create_directories(directory_);
  write_metadata();
}

void SchedulingTrace::write_metadata() const {
  realtime::ReplacingFile file(directory_ / "metadata");
  file.stream()
      << "/* CTF 1.8 */\n"
      << kIntegers << "trace {\n  major = 1; minor = 8; byte_order = le;\n  uuid = \""
      << as_text(uuid_)
      << "\";\n  packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; "
         "uint64_t stream_instance_id; };\n};\n"
      << "env { hostname = \"" << host_name()
      << "\"; domain = \"scheduling\"; pid_ns = " << pid_namespace() << "; };\n"
      << clock_of_this_boot() << kClockType << kTypes;
  file.commit();
}

void SchedulingTrace::add(std::size_t cpu, const ThreadSwitch& change) {
  Stream& stream = streams_[cpu];
  if (stream.events.empty()) {
    stream.first_ns = change.time_ns;
  }
  const std::int64_t before_ns = std::exchange(stream.last_ns, change.time_ns);
  append(stream.events, change.lost > 0 ? kLostId : kSwitchId, 1);
  append(stream.events, static_cast<std::uint64_t>(change.time_ns), 8);
  append(stream.events, static_cast<std::uint32_t>(change.pid), 4);
  append(stream.events, static_cast<std::uint32_t>(change.tid), 4);
  if (change.lost > 0) {
    append(stream.events, change.lost, 8);
    append(stream.events, static_cast<std::uint64_t>(before_ns), 8);
  } else {
    append(stream.events, static_cast<std::uint64_t>(change.state), 1);
  }
  if (stream.events.size() >= packet_bytes_) {
    write_packet(cpu);
  }
}

void SchedulingTrace::flush() {
  for (std::size_t cpu = 0; cpu < streams_.size(); ++cpu) {
    if (!streams_[cpu].events.empty()) {
      write_packet(cpu);
      if (!streams_[cpu].out.flush()) {
        fail(file_of(cpu));
      }
    }
  }
}

void SchedulingTrace::write_packet(std::size_t cpu) {
  Stream& stream = streams_[cpu];
  const std::uint64_t bytes = kHeaderBytes + stream.events.size();
  if (!stream.out.is_open() || stream.bytes + bytes > most_bytes_of_file_) {
    open(cpu);
  }
  std::string header;
  append(header, ctf::kStreamMagic, 4);
  header.append(uuid_.begin(), uuid_.end());
  append(header, 0, 4);
  append(header, cpu, 8);
  append(header, static_cast<std::uint64_t>(stream.first_ns), 8);
  append(header, static_cast<std::uint64_t>(stream.last_ns), 8);
  append(header, bytes * 8, 8);
  append(header, bytes * 8, 8);
  append(header, stream.packets++, 8);
  stream.out << header << stream.events;
  if (!stream.out) {
    fail(file_of(cpu));
  }
  stream.bytes += bytes;
  stream.events.clear();
}

void SchedulingTrace::open(std::size_t cpu) {
  Stream& stream = streams_[cpu];
  if (stream.out.is_open()) {
    stream.out.close();
    stream.file = 1 - stream.file;
  }
  stream.out.open(file_of(cpu), std::ios::binary | std::ios::trunc);
  if (!stream.out) {
    fail(file_of(cpu));
  }
  stream.bytes = 0;
}

fs::path SchedulingTrace::file_of(std::size_t cpu) const {
  return directory_ / ("cpu_" + std::to_string(cpu) + "_" + std::to_string(streams_[cpu].file));
}

void record_scheduling(pid_t pid, const fs::path& directory, std::uint64_t most_bytes, int stop) {
  ThreadSwitches switches(pid);
  SchedulingTrace trace(directory, switches.cpus(), most_bytes);
  std::puts("ready");
  std::fflush(stdout);
  bool ends = false;
  while (!ends) {
    ends = switches.wait(stop, kPause);
    for (std::size_t cpu = 0; cpu < switches.cpus(); ++cpu) {
      switches.take(cpu, [&](const ThreadSwitch& change) { trace.add(cpu, change); });
    }
    trace.flush();
  }
}

}  // namespace rclrt::trace
