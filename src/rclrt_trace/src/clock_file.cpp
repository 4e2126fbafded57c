// SPDX-License-Identifier: Apache-2.0
#include "clock_file.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "ctf_types.hpp"
#include "rclrt/realtime/boot_number.hpp"
#include "trace_reader.hpp"

namespace rclrt::trace {

namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr std::size_t kSampleSize = 6;  // the last two: the age of the bounds, and steps until then

/// Reads the parts of the file. Its errors name the file and the place.
class ClockFileReader {
 public:
  explicit ClockFileReader(const std::filesystem::path& path) : path_(path) {}

  ClockFile read() const {
    std::ifstream file(path_);
    if (!file) {
      throw TraceError(path_.string() + ": cannot be read; expected a file of rclrt clock --out");
    }
    const Json json = Json::parse(file, nullptr, false);
    if (json.is_discarded() || !json.is_object() || json.value("rclrt_clock", Json()) != kVersion) {
      fail("", "is not a file of rclrt clock --out, version 1");
    }
    if (get(json, "", "test_clock") != false) {
      fail("/test_clock",
           "RCLRT_TEST_CLOCK made a clock wrong on purpose: the file is not about "
           "the clocks of the traces");
    }
    ClockFile result{.path = path_, .host = text(json, "", "host"), .boot = text(json, "", "boot")};
    const Json& peers = get(json, "", "peers");
    if (!peers.is_array()) {
      fail("/peers", "expected a list");
    }
    for (std::size_t i = 0; i < peers.size(); ++i) {
      result.peers.push_back(peer(peers[i], "/peers/" + std::to_string(i)));
    }
    const Json& events = get(json, "", "events");
    for (const Json& event : events.is_array() ? events : Json::array()) {
      // The clock of this host was set: all offsets changed.
      if (event.is_object() && event.value("event", Json()) == "clock_set") {
        for (ClockPeer& each : result.peers) {
          each.steps += each.steps == 0 ? 1 : 0;
        }
      }
    }
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& place, const std::string& what) const {
    throw TraceError(path_.string() + ":" + (place.empty() ? " " : " " + place + ": ") + what);
  }

  const Json& get(const Json& object, const std::string& place, const char* key) const {
    if (!object.is_object() || !object.contains(key)) {
      fail(place + "/" + key, "is missing");
    }
    return object[key];
  }

  std::string text(const Json& object, const std::string& place, const char* key) const {
    const Json& value = get(object, place, key);
    if (!value.is_string()) {
      fail(place + "/" + key, "expected a text");
    }
    return value.get<std::string>();
  }

  ClockPeer peer(const Json& json, const std::string& place) const {
    ClockPeer result{.host = text(json, place, "host"), .boot = text(json, place, "boot")};
    const Json& steps = get(json, place, "steps");
    const Json& samples = get(json, place, "samples");
    if (!steps.is_number_unsigned() || !samples.is_array()) {
      fail(place, "expected a number of steps and a list of samples");
    }
    result.steps = steps.get<std::uint64_t>();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      result.samples.push_back(sample(samples[i], place + "/samples/" + std::to_string(i)));
    }
    return result;
  }

  ClockSample sample(const Json& json, const std::string& place) const {
    // The time since boot and offsets: 36 and 18 years.
    static constexpr std::array<std::int64_t, 4> kMost{
        std::int64_t{1} << 60, std::int64_t{1} << 62, std::int64_t{1} << 59, std::int64_t{1} << 59};
    std::array<std::int64_t, 4> numbers{};
    bool is_valid = json.is_array() && json.size() == kSampleSize;
    for (std::size_t i = 0; is_valid && i < numbers.size(); ++i) {
      // A larger number would become a negative one.
      is_valid = json[i].is_number_integer() &&
                 (!json[i].is_number_unsigned() || json[i].get<std::uint64_t>() <= INT64_MAX);
      numbers[i] = is_valid ? json[i].get<std::int64_t>() : 0;
      is_valid = is_valid && std::abs(numbers[i] / 2) <= kMost[i] / 2;
    }
    if (!is_valid || numbers[0] <= 0 || numbers[1] <= 0 || numbers[2] > numbers[3]) {
      fail(place, "expected six whole numbers: two times, a lower and an upper bound, age, steps");
    }
    return {numbers[0], numbers[1], numbers[2], numbers[3]};
  }

  const std::filesystem::path& path_;
};

}  // namespace

ClockFile read_clock_file(const std::filesystem::path& path) {
  return ClockFileReader(path).read();
}

std::string boot_text(const std::string& boot_id) {
  constexpr std::size_t kDigits = 16;
  std::array<char, kDigits + 1> text{};
  std::snprintf(text.data(), text.size(), "%016llx",
                static_cast<unsigned long long>(realtime::boot_number(boot_id)));
  return text.data();
}

}  // namespace rclrt::trace
