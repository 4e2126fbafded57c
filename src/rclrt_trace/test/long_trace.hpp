// SPDX-License-Identifier: Apache-2.0
// Writes traces of any size, as LTTng writes them: a stream per CPU, each with several files.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace rclrt::trace {

/// Writes a trace of a robot: on each of two CPUs a process with a timer every millisecond, which
/// publishes to a subscription. One iteration has seven events, about 300 bytes.
class LongTrace {
 public:
  static constexpr int kCpus = 2;
  static constexpr std::int64_t kPeriod_ns = 1'000'000;

  explicit LongTrace(const std::filesystem::path& directory) : directory_(directory) {
    std::filesystem::create_directories(directory);
    std::ofstream(directory / "metadata") << metadata();
  }

  /// Writes so many iterations on each CPU, in files of at most `file_bytes`.
  void write(std::uint64_t iterations, std::uint64_t file_bytes) {
    for (int cpu = 0; cpu < kCpus; ++cpu) {
      Stream stream(directory_, static_cast<std::uint32_t>(cpu), file_bytes);
      stream.create();
      for (std::uint64_t i = 0; i < iterations; ++i) {
        stream.iterate(i);
      }
      stream.finish();
    }
  }

  /// Returns the execution time of the timer in iteration `i`; that of the subscription is half.
  static std::int64_t work_ns(std::uint64_t i) {
    return 50'000 + static_cast<std::int64_t>(i * 0x9E3779B97F4A7C15U >> 44U) % 200'000;
  }

 private:
  enum Id : std::uint8_t {
    kNode,
    kPublisher,
    kSubscription,
    kObject,
    kAdded,
    kTimer,
    kTimerAdded,
    kTimerNode,
    kStart,
    kEnd,
    kRclPublish,
    kRmwPublish,
    kTake
  };

  class Stream {
   public:
    Stream(std::filesystem::path directory, std::uint32_t cpu, std::uint64_t file_bytes)
        : directory_(std::move(directory)), cpu_(cpu), file_bytes_(file_bytes) {
      begin_packet();
    }

    void create() {
      time_ns_ = 1'000'000;
      const std::string topic = "/points_" + std::to_string(cpu_);
      const std::string names[] = {"sensor_" + std::to_string(cpu_),
                                   "motor_" + std::to_string(cpu_)};
      event(kNode, {1}, {names[0], "/"});
      event(kNode, {2}, {names[1], "/"});
      event(kPublisher, {10, 1, 11, 10}, {topic});
      event(kTimer, {20, kPeriod_ns});
      event(kTimerAdded, {20, 21});
      event(kTimerNode, {20, 1});
      event(kSubscription, {30, 2, 31, 10}, {topic});
      event(kObject, {30, 32});
      event(kAdded, {32, 33});
    }

    void iterate(std::uint64_t i) {
      const std::int64_t release_ns = 1'000'000 + static_cast<std::int64_t>(i + 1) * kPeriod_ns;
      const std::uint64_t stamp = static_cast<std::uint64_t>(release_ns) * 2 + cpu_;
      time_ns_ = release_ns + 5'000;
      event(kStart, {21, 0});
      time_ns_ += work_ns(i) - 2'000;
      event(kRclPublish, {10});
      time_ns_ += 1'000;
      event(kRmwPublish, {11, stamp});
      time_ns_ += 1'000;
      event(kEnd, {21});
      time_ns_ += 20'000;
      event(kTake, {31, stamp, 1});
      time_ns_ += 1'000;
      event(kStart, {33, 0});
      time_ns_ += work_ns(i) / 2;
      event(kEnd, {33});
    }

    void finish() {
      end_packet();
      out_.close();
    }

   private:
    static constexpr std::size_t kPacketBytes = 256 * 1024;

    template <typename T>
    void put(T value) {
      const std::size_t at = packet_.size();
      packet_.resize(at + sizeof(value));
      std::memcpy(packet_.data() + at, &value, sizeof(value));
    }
    void put(std::string_view text) {
      packet_.insert(packet_.end(), text.begin(), text.end());
      packet_.push_back('\0');
    }

    void event(Id id, std::initializer_list<std::uint64_t> numbers,
               std::initializer_list<std::string_view> texts = {}) {
      if (packet_.size() > kPacketBytes) {
        end_packet();
        begin_packet();
      }
      put(id);
      put(static_cast<std::uint64_t>(time_ns_));
      put(100 + cpu_);
      put(100 + cpu_);
      put(std::string_view("robot"));
      for (const std::uint64_t number : numbers) {
        put(number);
      }
      for (const std::string_view text : texts) {
        put(text);
      }
    }

    void begin_packet() {
      packet_.clear();
      put(std::uint32_t{0xC1FC1FC1});
      for (std::uint8_t byte = 0; byte < 16; ++byte) {
        put(byte);
      }
      put(std::uint32_t{0});
      put(std::uint64_t{cpu_});
      put(std::uint64_t{0});  // the sizes, once they are known
      put(std::uint64_t{0});
      put(packets_++);
      put(cpu_);
    }

    void end_packet() {
      const std::uint64_t bits = packet_.size() * 8;
      std::memcpy(packet_.data() + 32, &bits, sizeof(bits));
      std::memcpy(packet_.data() + 40, &bits, sizeof(bits));
      if (!out_.is_open() || written_ > file_bytes_) {
        out_.close();
        out_.open(directory_ / ("stream_" + std::to_string(cpu_) + "_" + std::to_string(files_++)),
                  std::ios::binary);
        written_ = 0;
      }
      out_.write(packet_.data(), static_cast<std::streamsize>(packet_.size()));
      written_ += packet_.size();
    }

    std::filesystem::path directory_;
    std::uint32_t cpu_;
    std::uint64_t file_bytes_;
    std::int64_t time_ns_ = 0;
    std::vector<char> packet_;
    std::uint64_t packets_ = 0;
    std::uint64_t written_ = 0;
    std::size_t files_ = 0;
    std::ofstream out_;
  };

  static std::string metadata() {
    std::string text = R"(/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
trace { major = 1; minor = 8; byte_order = le; uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f";
  packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; }; };
env { hostname = "robot"; };
clock { name = "monotonic"; freq = 1000000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := time;
stream { id = 0; event.header := struct { u8 id; time timestamp; };
  packet.context := struct { u64 content_size; u64 packet_size; u64 packet_seq_num; u32 cpu_id; };
  event.context := struct { u32 vpid; u32 vtid; string procname; }; };
)";
    const std::array<std::pair<const char*, const char*>, 13> events{{
        {"rcl_node_init", "u64 node_handle; string node_name; string namespace;"},
        {"rcl_publisher_init",
         "u64 publisher_handle; u64 node_handle; u64 rmw_publisher_handle; u64 queue_depth; "
         "string topic_name;"},
        {"rcl_subscription_init",
         "u64 subscription_handle; u64 node_handle; u64 rmw_subscription_handle; u64 queue_depth; "
         "string topic_name;"},
        {"rclcpp_subscription_init", "u64 subscription_handle; u64 subscription;"},
        {"rclcpp_subscription_callback_added", "u64 subscription; u64 callback;"},
        {"rcl_timer_init", "u64 timer_handle; u64 period;"},
        {"rclcpp_timer_callback_added", "u64 timer_handle; u64 callback;"},
        {"rclcpp_timer_link_node", "u64 timer_handle; u64 node_handle;"},
        {"callback_start", "u64 callback; u64 is_intra_process;"},
        {"callback_end", "u64 callback;"},
        {"rcl_publish", "u64 publisher_handle;"},
        {"rmw_publish", "u64 rmw_publisher_handle; u64 timestamp;"},
        {"rmw_take", "u64 rmw_subscription_handle; u64 source_timestamp; u64 taken;"},
    }};
    for (std::size_t id = 0; id < events.size(); ++id) {
      text += std::string("event { name = \"ros2:") + events[id].first +
              "\"; id = " + std::to_string(id) + "; stream_id = 0; fields := struct { " +
              events[id].second + " }; };\n";
    }
    return text;
  }

  std::filesystem::path directory_;
};

}  // namespace rclrt::trace
