// SPDX-License-Identifier: Apache-2.0
#include "exercise/results.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "rclrt/realtime/perfetto_writer.hpp"

namespace rclrt::demos {

namespace {

using Json = nlohmann::ordered_json;

Json slices_json(const std::deque<Track>& tracks) {
  Json result = Json::array();
  for (const Track& track : tracks) {
    for (const Slice& slice : track.slices()) {
      auto found = std::find_if(result.begin(), result.end(),
                                [&](const Json& one) { return one["name"] == slice.name(); });
      if (found == result.end()) {
        result.push_back({{"name", slice.name()}, {"values_ns", Json::array()}});
        found = std::prev(result.end());
      }
      for (const TimeSpan& span : slice.spans()) {
        (*found)["values_ns"].push_back(span.end_ns - span.begin_ns);
      }
    }
  }
  return result;
}

/// Returns the value rounded to a millionth: more digits have no meaning.
double rounded(double value) { return std::round(value * 1e6) / 1e6; }

/// A span and its name, as written to the trace.
struct NamedSpan {
  TimeSpan span;
  const std::string* name;
};

void write_track(realtime::PerfettoWriter& writer, const Track& track) {
  const realtime::PerfettoTrack id = writer.add_track(track.name());
  std::vector<NamedSpan> spans;
  for (const Slice& slice : track.slices()) {
    for (const TimeSpan& span : slice.spans()) {
      spans.push_back({span, &slice.name()});
    }
  }
  // Among spans that begin at one time the longest is the outermost.
  std::stable_sort(spans.begin(), spans.end(), [](const NamedSpan& a, const NamedSpan& b) {
    return a.span.begin_ns != b.span.begin_ns ? a.span.begin_ns < b.span.begin_ns
                                              : a.span.end_ns > b.span.end_ns;
  });
  for (const NamedSpan& one : spans) {
    writer.begin_slice(id, one.span.begin_ns, {.name = *one.name});
    writer.end_slice(id, one.span.end_ns);
  }
  for (const Slice& instants : track.instants()) {
    for (const TimeSpan& span : instants.spans()) {
      writer.instant(id, span.begin_ns, {.name = instants.name()});
    }
  }
}

}  // namespace

std::string to_json(const Results& results) {
  Json json{{"exercise", results.exercise},
            {"variant", results.variant},
            {"seconds", results.seconds},
            {"interrupted", results.interrupted},
            {"real_time", results.no_realtime.empty()}};
  if (!results.no_realtime.empty()) {
    json["reason"] = results.no_realtime;
  }
  json["pid"] = getpid();
  json["slices"] = slices_json(results.tracks);
  json["notes"] = results.notes;
  if (!results.pendulum.empty()) {
    Json& pendulum = json["pendulum"] = Json::array();
    for (const auto& [time_s, position, desired] : results.pendulum) {
      pendulum.push_back({rounded(time_s), rounded(position), rounded(desired)});
    }
  }
  return json.dump() + "\n";
}

void write_trace(const std::filesystem::path& path, const Results& results) {
  realtime::PerfettoWriter writer(path,
                                  realtime::this_perfetto_process("exercise " + results.exercise));
  for (const Track& track : results.tracks) {
    write_track(writer, track);
  }
  writer.finish();
}

}  // namespace rclrt::demos
