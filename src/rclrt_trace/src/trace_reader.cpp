// SPDX-License-Identifier: Apache-2.0
#include "trace_reader.hpp"

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <queue>
#include <sstream>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "ctf_metadata.hpp"
#include "ctf_stream.hpp"

namespace rclrt::trace {

namespace {

namespace fs = std::filesystem;

// Where a stream keeps the numbers and texts of an event: first those of its context.
constexpr std::size_t kPid = 0;
constexpr std::size_t kTid = 1;
constexpr std::size_t kThread = 0;  // a text
constexpr std::size_t kFirstNumber = 2;
constexpr std::size_t kFirstText = 1;
static_assert(kFirstNumber + kMostNumbers <= ctf::Stream::kPlaces);
static_assert(kFirstText + kMostTexts <= ctf::Stream::kPlaces);

/// Every directory at or below this one that has a trace's metadata, sorted.
std::vector<fs::path> find_traces(const fs::path& directory) {
  std::vector<fs::path> result;
  try {
    if (fs::is_regular_file(directory / "metadata")) {
      result.push_back(directory);
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
      if (entry.is_directory() && fs::is_regular_file(entry.path() / "metadata")) {
        result.push_back(entry.path());
      }
    }
  } catch (const fs::filesystem_error& error) {
    throw TraceError(directory.string() + ": " + error.code().message());
  }
  if (result.empty()) {
    throw TraceError(directory.string() +
                     ": no LTTng trace here or below; expected a directory that has a file "
                     "\"metadata\"");
  }
  std::sort(result.begin(), result.end());
  return result;
}

ctf::Metadata read_metadata(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  if (!in) {
    throw TraceError(file.string() + ": cannot be read, or is empty");
  }
  try {
    return ctf::parse_metadata(ctf::metadata_text(content.str()));
  } catch (const ctf::MetadataError& error) {
    throw TraceError(file.string() + ": " + error.what() +
                     "\n  the metadata is damaged, or of a trace that LTTng did not write");
  }
}

/// Files of a trace that are streams: LTTng puts their indices into a directory of their own.
std::vector<fs::path> find_streams(const fs::path& trace) {
  std::vector<fs::path> result;
  for (const fs::directory_entry& entry : fs::directory_iterator(trace)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name != "metadata" && !name.starts_with(".")) {
      result.push_back(entry.path());
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// Chooses the events of kEventTypes, and remembers what they are.
class KnownEvents final : public ctf::Choice {
 public:
  struct Known {
    const EventType* type = nullptr;
    bool complete = true;
  };

  bool choose(const ctf::EventClass& event, const ctf::Type* context, ctf::Fields& of_context,
              ctf::Fields& of_event) override {
    const auto* const type = std::ranges::find(kEventTypes, event.name, &EventType::name);
    if (type == kEventTypes.end()) {
      return false;
    }
    Known known{.type = type};
    for (std::size_t i = 0; i < kMostNumbers; ++i) {
      if (type->numbers[i] != nullptr) {
        known.complete &=
            want(event.fields.get(), type->numbers[i], kFirstNumber + i, of_event.numbers);
      }
    }
    for (std::size_t i = 0; i < kMostTexts; ++i) {
      if (type->texts[i] != nullptr) {
        known.complete &= want(event.fields.get(), type->texts[i], kFirstText + i, of_event.texts);
      }
    }
    want(context, "procname", kThread, of_context.texts);
    if (!want(context, "vpid", kPid, of_context.numbers) ||
        !want(context, "vtid", kTid, of_context.numbers)) {
      throw TraceError(
          "the events do not say which process and thread they are of\n"
          "  fix: lttng add-context --userspace --type=vpid --type=vtid --type=procname, before "
          "lttng start; rclrt trace record and ros2 trace do that");
    }
    known_[&event] = known;
    return true;
  }

  const Known& operator[](const ctf::EventClass& event) const { return known_.at(&event); }

 private:
  /// Adds the member of this name, if there is one.
  static bool want(const ctf::Type* structure, const char* name, std::size_t place,
                   std::vector<std::pair<std::size_t, std::size_t>>& wanted) {
    if (structure == nullptr) {
      return false;
    }
    const auto found = std::ranges::find(structure->members, name, &ctf::Member::name);
    if (found == structure->members.end()) {
      return false;
    }
    wanted.emplace_back(static_cast<std::size_t>(found - structure->members.begin()), place);
    return true;
  }

  std::unordered_map<const ctf::EventClass*, Known> known_;
};

TraceEvent event_of(const ctf::Stream& stream, const KnownEvents::Known& known) {
  TraceEvent event;
  event.kind = known.type->kind;
  event.complete = known.complete;
  event.time_ns = stream.time();
  event.pid = static_cast<std::int64_t>(stream.numbers()[kPid]);
  event.tid = static_cast<std::int64_t>(stream.numbers()[kTid]);
  event.thread = stream.text(kThread);
  std::copy_n(stream.numbers() + kFirstNumber, kMostNumbers, event.numbers.begin());
  for (std::size_t i = 0; i < kMostTexts; ++i) {
    event.texts[i] = stream.text(kFirstText + i);
  }
  return event;
}

}  // namespace

ReadCounts read_trace(const fs::path& directory,
                      const std::function<void(const TraceEvent&)>& handle) {
  ReadCounts counts;
  KnownEvents choice;
  std::vector<std::unique_ptr<ctf::Metadata>> metadata;
  std::vector<std::unique_ptr<ctf::Stream>> streams;
  for (const fs::path& trace : find_traces(directory)) {
    metadata.push_back(std::make_unique<ctf::Metadata>(read_metadata(trace / "metadata")));
    for (const fs::path& file : find_streams(trace)) {
      streams.push_back(std::make_unique<ctf::Stream>(file, *metadata.back(), choice));
    }
  }
  counts.traces = metadata.size();
  const auto later = [&](std::size_t a, std::size_t b) {
    return streams[a]->time() != streams[b]->time() ? streams[a]->time() > streams[b]->time()
                                                    : a > b;
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> order(later);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (streams[i]->next()) {
      order.push(i);
    }
  }
  while (!order.empty()) {
    const std::size_t next = order.top();
    order.pop();
    ctf::Stream& stream = *streams[next];
    // The next events of a stream are often earlier than those of all others.
    do {
      ++counts.known;
      handle(event_of(stream, choice[stream.event()]));
      if (!stream.next()) {
        break;
      }
      if (!order.empty() && later(next, order.top())) {
        order.push(next);
        break;
      }
    } while (true);
  }
  for (const auto& stream : streams) {
    counts.events += stream->events();
    counts.lost += stream->lost_events();
    counts.lost_packets += stream->lost_packets();
    counts.damage.insert(counts.damage.end(), stream->damage().begin(), stream->damage().end());
  }
  return counts;
}

}  // namespace rclrt::trace
