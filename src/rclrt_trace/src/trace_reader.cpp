// SPDX-License-Identifier: Apache-2.0
#include "trace_reader.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <unordered_map>
#include <vector>

#include "ctf_metadata.hpp"
#include "ctf_stream.hpp"
#include "host_clocks.hpp"
#include "missing_events.hpp"
#include "trace_files.hpp"
#include "trace_origins.hpp"

namespace rclrt::trace {

namespace {

namespace fs = std::filesystem;

// Indices of an event's numbers and texts in a stream: those of its context come first.
constexpr std::size_t kPid = 0;
constexpr std::size_t kTid = 1;
constexpr std::size_t kThread = 0;  // index of a text
constexpr std::size_t kNamespace = 2;
constexpr std::size_t kFirstNumber = 3;
constexpr std::size_t kFirstText = 1;
static_assert(kFirstNumber + kMostNumbers <= ctf::Stream::kPlaces);
static_assert(kFirstText + kMostTexts <= ctf::Stream::kPlaces);
static_assert(kMostLists <= ctf::Stream::kPlaces);

/// Chooses the events of kEventTypes and keeps their types.
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
    for (std::size_t i = 0; i < kMostLists; ++i) {
      if (type->lists[i] != nullptr) {
        known.complete &= want(event.fields.get(), type->lists[i], i, of_event.lists);
      }
    }
    want(context, "procname", kThread, of_context.texts);
    const bool has_pid = want(context, "vpid", kPid, of_context.numbers);
    const bool has_tid = want(context, "vtid", kTid, of_context.numbers);
    want(context, "pid_ns", kNamespace, of_context.numbers);
    if (!(has_pid && has_tid) && type->kind != EventKind::kKernelSwitch) {
      throw TraceError(
          "the events do not have the process and the thread that recorded them\n"
          "  fix: lttng add-context --userspace --type=vpid --type=vtid --type=procname "
          "--type=pid_ns, before lttng start; rclrt trace record and ros2 trace do that");
    }
    known_[&event] = known;
    return true;
  }

  const Known& operator[](const ctf::EventClass& event) const { return known_.at(&event); }

 private:
  /// Adds the member of this name to the fields to read, if there is one.
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
  for (std::size_t i = 0; i < kMostLists; ++i) {
    event.lists[i] = stream.list(i);
  }
  return event;
}

/// Returns the CPU that recorded the last event of a stream, or -1. The scheduling trace has a
/// stream for each CPU, with its number.
std::int32_t cpu_of(const ctf::Stream& stream, const ctf::Metadata& metadata) {
  constexpr std::uint64_t kMostCpus = 65'536;
  const bool is_numbered = metadata.domain == "scheduling";
  const auto cpu = is_numbered && !stream.cpu() ? stream.instance() : stream.cpu();
  return cpu && *cpu < kMostCpus ? static_cast<std::int32_t>(*cpu) : -1;
}

/// Returns, for each session, the time from which on all of its streams are complete. In a session
/// with a limit on disk space, more of one stream may be overwritten than of another.
std::map<std::string, std::int64_t> complete_since(const Streams& streams,
                                                   const std::vector<StreamKey>& keys,
                                                   const std::vector<std::string>& sessions) {
  using Packet = std::pair<std::uint64_t, std::uint64_t>;  // number and begin
  std::map<std::pair<std::string, StreamKey>, Packet> oldest;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (const auto first = streams[i]->first_packet()) {
      const auto [found, fresh] = oldest.try_emplace({sessions[i], keys[i]}, *first);
      found->second = std::min(found->second, *first);
    }
  }
  std::map<std::string, std::int64_t> since;
  for (const auto& [key, packet] : oldest) {
    std::int64_t& of_session = since[key.first];
    of_session = packet.first > 0 ? std::max(of_session, static_cast<std::int64_t>(packet.second))
                                  : of_session;
  }
  return since;
}

/// Adds the counts of all streams to the result. Each file of a stream has the number of events
/// that the whole stream lost, so the loss of a stream is the largest number in its files.
void add_up(const Streams& streams, const std::vector<StreamKey>& keys,
            const std::vector<bool>& of_kernel, const std::vector<std::uint32_t>& host_of,
            ReadCounts& counts) {
  std::map<StreamKey, std::uint64_t> lost;
  std::set<std::uint64_t> cpus;
  std::vector<std::set<std::uint64_t>> cpus_of(counts.hosts.size());
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const ctf::Stream& stream = *streams[i];
    counts.events += stream.events();
    if (stream.cpu() && stream.events() > 0 && !of_kernel[i]) {
      cpus.insert(*stream.cpu());
      cpus_of[host_of[i]].insert(*stream.cpu());
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
  for (const std::set<std::uint64_t>& own : cpus_of) {
    counts.cpus_of.push_back(own.size());
  }
}

/// Throws TraceError if a metadata file is cut off between two declarations. Such a file is valid,
/// but most packets then contain something that it does not declare. If only a few packets do,
/// those are damaged.
void require_whole_metadata(const Streams& streams, const std::vector<std::size_t>& number_of,
                            const std::vector<std::unique_ptr<ctf::Metadata>>& metadata,
                            const std::vector<fs::path>& traces) {
  std::vector<std::uint64_t> packets(traces.size());
  std::vector<std::uint64_t> undeclared(traces.size());
  std::vector<std::string> first(traces.size());
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const std::size_t trace = number_of[i];
    packets[trace] += streams[i]->packets();
    undeclared[trace] += streams[i]->undeclared();
    if (streams[i]->undeclared() > 0 && first[trace].empty() && !streams[i]->damage().empty()) {
      first[trace] = streams[i]->damage().front();
    }
  }
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (metadata[i]->may_be_cut && undeclared[i] > 0 && undeclared[i] * 2 >= packets[i]) {
      throw TraceError((traces[i] / "metadata").string() +
                       ": is cut off at its end: most packets hold what it does not declare; " +
                       first[i] + "\n  fix: copy the trace again, or record it again");
    }
  }
}

/// Returns the traces below some directories, each once.
std::vector<fs::path> traces_below(std::span<const fs::path> directories) {
  std::vector<fs::path> traces;
  std::set<fs::path> known;
  for (const fs::path& directory : directories) {
    for (const fs::path& trace : find_traces(directory)) {
      if (known.insert(fs::weakly_canonical(trace)).second) {
        traces.push_back(trace);
      }
    }
  }
  return traces;
}

/// The traces of some directories, with all their streams.
class Traces {
 public:
  Traces(std::span<const fs::path> directories, const HostClocks* clocks)
      : traces_(traces_below(directories)), clocks_(clocks) {
    for (const fs::path& trace : traces_) {
      const std::vector<fs::path> files = find_streams(trace);
      metadata_.push_back(std::make_unique<ctf::Metadata>(read_metadata(trace, files)));
      origins_.add(trace, *metadata_.back());
      const std::size_t number = metadata_.size() - 1;
      for (const fs::path& file : files) {
        trace_of_.push_back(metadata_.back()->uuid.empty() ? trace.string()
                                                           : metadata_.back()->uuid);
        number_of_.push_back(number);
        of_kernel_.push_back(origins_.is_of_kernel(number));
        sessions_.push_back(origins_.session_of(number));
        streams_.push_back(std::make_unique<ctf::Stream>(file, *metadata_.back(), choice_, seen_));
      }
    }
    origins_.check();
  }

  ReadCounts read(const std::function<void(const TraceEvent&)>& handle) {
    counts_.traces = metadata_.size();
    counts_.hosts = origins_.hosts();
    time_of_.resize(streams_.size());
    const auto later = [&](std::size_t a, std::size_t b) {
      return time_of_[a] != time_of_[b] ? time_of_[a] > time_of_[b] : a > b;
    };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> order(later);
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (next(i)) {
        order.push(i);
      }
      streams_[i]->let_go_of_bytes();  // a session has many files, one after the other
    }
    std::vector<StreamKey> keys;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      keys.emplace_back(trace_of_[i], streams_[i]->instance().value_or(UINT64_MAX - i));
    }
    complete_from_ = complete_since(streams_, keys, sessions_);
    const FileOrder files(streams_, keys);
    MissingEvents missing(
        streams_, files, of_kernel_, handle,
        [&](std::size_t stream, std::int64_t time_ns) { return common_ns(stream, time_ns); });
    while (!order.empty()) {
      const std::size_t number = order.top();
      order.pop();
      // Stays with this stream while its next event is earlier than those of all others, as is
      // usual.
      do {
        ++counts_.known;
        missing.before_event(number);
        take(number, handle);
        if (!next(number)) {
          missing.after_last_event(number);
          streams_[number]->let_go_of_bytes();
          break;
        }
        if (!order.empty() && later(number, order.top())) {
          order.push(number);
          break;
        }
      } while (true);
    }
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      missing.after_file_without_events(i);
    }
    require_whole_metadata(streams_, number_of_, metadata_, traces_);
    std::vector<std::uint32_t> hosts;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      hosts.push_back(host_of(i));
    }
    add_up(streams_, keys, of_kernel_, hosts, counts_);
    return std::move(counts_);
  }

 private:
  std::uint32_t host_of(std::size_t stream) const { return origins_.host_of(number_of_[stream]); }

  /// Returns a time of a stream on the common time axis.
  std::int64_t common_ns(std::size_t stream, std::int64_t time_ns) const {
    return clocks_ == nullptr ? time_ns : clocks_->common_ns(host_of(stream), time_ns);
  }

  bool next(std::size_t stream) {
    if (!streams_[stream]->next()) {
      return false;
    }
    time_of_[stream] = common_ns(stream, streams_[stream]->time());
    return true;
  }

  /// Hands on the event at which the stream is, unless it is incomplete or known.
  void take(std::size_t number, const std::function<void(const TraceEvent&)>& handle) {
    const ctf::Stream& stream = *streams_[number];
    const std::size_t trace = number_of_[number];
    TraceEvent event = event_of(stream, choice_[stream.event()]);
    event.host = host_of(number);
    event.space = origins_.space_of(trace, stream.numbers()[kNamespace]);
    event.cpu = cpu_of(stream, *metadata_[trace]);
    event.time_ns = time_of_[number];
    event.clock_offset_ns = metadata_[trace]->clock_offset_ns;
    if (event.clock_offset_ns != 0) {
      event.clock_offset_ns += stream.time() - event.time_ns;
    }
    for (const std::size_t i : times_of(event.kind)) {
      const auto time_ns = static_cast<std::int64_t>(event.numbers[i]);
      if (time_ns > 0 && time_ns <= ctf::kLatestSigned_ns) {
        event.numbers[i] = static_cast<std::uint64_t>(common_ns(number, time_ns));
      }
    }
    const auto from = complete_from_.find(sessions_[number]);
    if (from != complete_from_.end() && stream.time() < from->second && !is_creation(event.kind)) {
      counts_.early += is_scheduling(event.kind) ? 0 : 1;
    } else if (filter_.is_duplicate(event, trace)) {
      ++counts_.duplicates;
    } else {
      handle(event);
    }
  }

  /// Returns the places of the numbers of an event that are times.
  static std::span<const std::size_t> times_of(EventKind kind) {
    static constexpr std::array<std::size_t, 2> kSecondAndThird{1, 2};
    switch (kind) {
      case EventKind::kCallbackRelease:
        return kSecondAndThird;
      case EventKind::kSwitchesLost:
        return {kSecondAndThird.data(), 1};
      default:
        return {};
    }
  }

  const std::vector<fs::path> traces_;
  const HostClocks* const clocks_;
  ReadCounts counts_;
  KnownEvents choice_;
  std::vector<std::unique_ptr<ctf::Metadata>> metadata_;
  Streams streams_;
  std::vector<std::string> trace_of_;   // of each stream: the identity of its trace
  std::vector<std::size_t> number_of_;  // of each stream: the place of its trace in metadata_
  std::vector<bool> of_kernel_;         // of each stream
  std::vector<std::string> sessions_;   // of each stream
  std::vector<std::int64_t> time_of_;   // of each stream: of its event, on the common time axis
  std::map<std::string, std::int64_t> complete_from_;
  ctf::SeenPackets seen_;
  TraceOrigins origins_;
  DuplicateFilter filter_;
};

}  // namespace

std::vector<TracedHost> find_hosts(std::span<const fs::path> directories) {
  std::vector<std::unique_ptr<ctf::Metadata>> metadata;
  TraceOrigins origins;
  for (const fs::path& trace : traces_below(directories)) {
    metadata.push_back(std::make_unique<ctf::Metadata>(read_metadata(trace, find_streams(trace))));
    origins.add(trace, *metadata.back());
  }
  origins.check();
  return origins.hosts();
}

ReadCounts read_traces(std::span<const fs::path> directories, const HostClocks* clocks,
                       const std::function<void(const TraceEvent&)>& handle) {
  return Traces(directories, clocks).read(handle);
}

}  // namespace rclrt::trace
