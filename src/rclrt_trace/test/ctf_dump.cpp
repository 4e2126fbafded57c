// SPDX-License-Identifier: Apache-2.0
// Prints the content of a trace: for each event the time, the name, and its fields with names that
// begin with "s_" (integers), "t_" (texts) or "l_" (lists of integers).
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ctf_stream.hpp"
#include "trace_files.hpp"

namespace {

using namespace rclrt::trace;  // NOLINT(google-build-using-namespace): this is its program

struct Everything final : ctf::Choice {
  bool choose(const ctf::EventClass& event, const ctf::Type*, ctf::Fields&,
              ctf::Fields& of_event) override {
    for (std::size_t i = 0; event.fields && i < event.fields->members.size(); ++i) {
      const ctf::Member& member = event.fields->members[i];
      if (member.name.starts_with("s_")) {
        of_event.numbers.emplace_back(i, of_event.numbers.size());
      } else if (member.name.starts_with("t_")) {
        of_event.texts.emplace_back(i, of_event.texts.size());
      } else if (member.name.starts_with("l_")) {
        of_event.lists.emplace_back(i, of_event.lists.size());
      }
    }
    chosen[&event] = of_event;
    return true;
  }

  std::unordered_map<const ctf::EventClass*, ctf::Fields> chosen;
};

void print_integer(const ctf::Type& type, std::uint64_t value) {
  if (type.is_signed) {
    std::printf("%" PRId64, static_cast<std::int64_t>(value));
  } else {
    std::printf("%" PRIu64, value);
  }
}

void print(const ctf::Stream& stream, const ctf::Fields& fields) {
  std::printf("%" PRId64 " %s", stream.time(), stream.event().name.c_str());
  const auto& members = stream.event().fields->members;
  for (const auto& [member, place] : fields.numbers) {
    std::printf(" %s=", members[member].name.c_str());
    print_integer(*members[member].type, stream.numbers()[place]);
  }
  for (const auto& [member, place] : fields.texts) {
    std::printf(" %s=%s", members[member].name.c_str(), std::string(stream.text(place)).c_str());
  }
  for (const auto& [member, place] : fields.lists) {
    std::printf(" %s=", members[member].name.c_str());
    const char* separator = "";
    for (const std::uint64_t value : stream.list(place)) {
      std::fputs(separator, stdout);
      print_integer(*members[member].type->element, value);
      separator = ",";
    }
  }
  std::puts("");
}

void dump(const char* directory) {
  const auto files = find_streams(directory);
  const ctf::Metadata metadata = read_metadata(directory, files);
  Everything choice;
  ctf::SeenPackets seen;
  for (const auto& file : files) {
    ctf::Stream stream(file, metadata, choice, seen);
    while (stream.next()) {
      print(stream, choice.chosen.at(&stream.event()));
    }
    for (const std::string& damage : stream.damage()) {
      std::printf("damage: %s\n", damage.c_str());
    }
    std::printf("lost: %" PRIu64 " %" PRIu64 "\n", stream.lost_events(), stream.lost_packets());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i) {
      std::printf("trace: %s\n", argv[i]);
      dump(argv[i]);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
