// SPDX-License-Identifier: Apache-2.0
#include "trace_reader.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <queue>
#include <set>
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
    const bool has_pid = want(context, "vpid", kPid, of_context.numbers);
    const bool has_tid = want(context, "vtid", kTid, of_context.numbers);
    if (!(has_pid && has_tid) && type->kind != EventKind::kKernelSwitch) {
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

/// Clocks of two machines are not the same, and neither are their process ids.
void require_one_machine(const fs::path& directory, const std::string& one,
                         const std::string& other) {
  if (one != other) {
    throw TraceError(directory.string() + ": traces of two machines, '" + one + "' and '" + other +
                     "'; expected those of one");
  }
}

/// A stream of a trace, which may have several files.
using StreamKey = std::pair<std::string, std::uint64_t>;

/// Of what the streams are: of the nodes, or of who had a CPU.
bool is_of_kernel(const ctf::Metadata& metadata) {
  return metadata.domain == "kernel" || metadata.domain == "scheduling";
}

/// When all streams of one kind go on to the end: a bounded trace has overwritten more of one than
/// of another.
std::int64_t complete_since(const std::vector<std::unique_ptr<ctf::Stream>>& streams,
                            const std::vector<StreamKey>& keys, const std::vector<bool>& of_kernel,
                            bool kernel) {
  using Packet = std::pair<std::uint64_t, std::uint64_t>;  // number and begin
  std::map<StreamKey, Packet> oldest;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (of_kernel[i] != kernel) {
      continue;
    }
    if (const auto first = streams[i]->first_packet()) {
      const auto [found, fresh] = oldest.try_emplace(keys[i], *first);
      found->second = std::min(found->second, *first);
    }
  }
  std::uint64_t since = 0;
  for (const auto& [key, packet] : oldest) {
    since = packet.first > 0 ? std::max(since, packet.second) : since;
  }
  return static_cast<std::int64_t>(since);
}

/// Adds up what the streams have met. Each file has the loss of its whole stream.
void add_up(const std::vector<std::unique_ptr<ctf::Stream>>& streams,
            const std::vector<StreamKey>& keys, const std::vector<bool>& of_kernel,
            ReadCounts& counts) {
  std::map<StreamKey, std::uint64_t> lost;
  std::set<std::uint64_t> cpus;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const ctf::Stream& stream = *streams[i];
    counts.events += stream.events();
    if (stream.cpu() && stream.events() > 0 && !of_kernel[i]) {
      cpus.insert(*stream.cpu());
    }
    counts.lost_packets += stream.lost_packets();
    counts.damage.insert(counts.damage.end(), stream.damage().begin(), stream.damage().end());
    std::uint64_t& of_stream = lost[keys[i]];
    of_stream = std::max(of_stream, stream.lost_events());
  }
  for (const auto& [key, of_stream] : lost) {
    counts.lost += of_stream;
  }
  counts.cpus = cpus.size();
}

}  // namespace

ReadCounts read_trace(const fs::path& directory,
                      const std::function<void(const TraceEvent&)>& handle) {
  ReadCounts counts;
  KnownEvents choice;
  std::vector<std::unique_ptr<ctf::Metadata>> metadata;
  std::vector<std::unique_ptr<ctf::Stream>> streams;
  std::vector<std::string> trace_of;  // of each stream: what tells its trace from others
  std::vector<bool> of_kernel;        // of each stream
  ctf::SeenPackets seen;
  for (const fs::path& trace : find_traces(directory)) {
    metadata.push_back(std::make_unique<ctf::Metadata>(read_metadata(trace / "metadata")));
    require_one_machine(directory, metadata.front()->hostname, metadata.back()->hostname);
    for (const fs::path& file : find_streams(trace)) {
      trace_of.push_back(metadata.back()->uuid.empty() ? trace.string() : metadata.back()->uuid);
      of_kernel.push_back(is_of_kernel(*metadata.back()));
      streams.push_back(std::make_unique<ctf::Stream>(file, *metadata.back(), choice, seen));
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
  std::vector<StreamKey> keys;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    keys.emplace_back(trace_of[i], streams[i]->instance().value_or(UINT64_MAX - i));
  }
  const std::int64_t complete_from = complete_since(streams, keys, of_kernel, false);
  const std::int64_t scheduling_from = complete_since(streams, keys, of_kernel, true);
  std::vector<std::uint64_t> before(streams.size());  // when the last event of each stream was
  while (!order.empty()) {
    const std::size_t next = order.top();
    order.pop();
    ctf::Stream& stream = *streams[next];
    // The next events of a stream are often earlier than those of all others.
    do {
      ++counts.known;
      if (stream.after_gap()) {
        handle({.kind = of_kernel[next] ? EventKind::kSwitchesLost : EventKind::kLoss,
                .time_ns = stream.time(),
                .numbers = {0, before[next]}});
      }
      before[next] = static_cast<std::uint64_t>(stream.time());
      const TraceEvent event = event_of(stream, choice[stream.event()]);
      if (is_scheduling(event.kind)) {
        if (event.time_ns >= scheduling_from) {
          handle(event);
        }
      } else if (event.time_ns >= complete_from || is_creation(event.kind)) {
        handle(event);
      } else {
        ++counts.early;
      }
      if (!stream.next()) {
        break;
      }
      if (!order.empty() && later(next, order.top())) {
        order.push(next);
        break;
      }
    } while (true);
  }
  add_up(streams, keys, of_kernel, counts);
  return counts;
}

}  // namespace rclrt::trace
