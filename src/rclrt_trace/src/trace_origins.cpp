// SPDX-License-Identifier: Apache-2.0
#include "trace_origins.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace rclrt::trace {

namespace {

/// Returns whether the events of every stream have the pid namespace of their process.
bool says_namespaces(const ctf::Metadata& metadata) {
  return !metadata.streams.empty() && std::ranges::all_of(metadata.streams, [](const auto& stream) {
    const ctf::TypePtr& context = stream.second.event_context;
    return context && std::ranges::find(context->members, "pid_ns", &ctf::Member::name) !=
                          context->members.end();
  });
}

bool is_kernel_domain(const ctf::Metadata& metadata) {
  return metadata.domain == "kernel" || metadata.domain == "scheduling";
}

/// Returns a name as a terminal and a note can show it. A host's name has only letters, digits,
/// dots and hyphens (RFC 1123), so nothing of a correct one is lost.
std::string shown_name(const std::string& name) {
  constexpr std::size_t kMostLetters = 64;
  std::string shown = name.substr(0, kMostLetters);
  std::ranges::replace_if(shown, [](unsigned char c) { return c < 0x20 || c > 0x7E; }, '?');
  return shown;
}

}  // namespace

void TraceOrigins::add(const std::filesystem::path& trace, const ctf::Metadata& metadata) {
  std::string session = metadata.clock + metadata.hostname + "\n" + metadata.domain + "\n";
  session += !metadata.session.empty() ? metadata.session
             : !metadata.uuid.empty()  ? metadata.uuid
                                       : trace.string();
  traces_.push_back({.directory = trace,
                     .metadata = &metadata,
                     .session = std::move(session),
                     .has_namespaces = says_namespaces(metadata)});
}

void TraceOrigins::check() {
  find_hosts();
  stated_.resize(hosts_.size());
  for (const Trace& each : traces_) {
    if (!is_kernel_domain(*each.metadata)) {
      Stated& by_all = stated_[each.host];
      by_all.names = by_all.names && !each.metadata->hostname.empty();
      by_all.processes = by_all.processes && !each.metadata->process.empty();
      by_all.namespaces = by_all.namespaces && each.has_namespaces;
    }
  }
}

/// Traces with the same clock are of one host. Different host names alone do not make two hosts:
/// they may be those of containers on one machine.
void TraceOrigins::find_hosts() {
  for (Trace& trace : traces_) {
    const ctf::Metadata& metadata = *trace.metadata;
    if (metadata.clock.empty()) {
      continue;
    }
    const auto known = std::ranges::find(hosts_, metadata.clock, &TracedHost::boot);
    trace.host = static_cast<std::uint32_t>(known - hosts_.begin());
    if (known == hosts_.end()) {
      hosts_.push_back({.name = metadata.hostname, .boot = metadata.clock});
    }
    TracedHost& host = hosts_[trace.host];
    host.name = host.name.empty() ? metadata.hostname : host.name;
  }
  for (Trace& trace : traces_) {
    if (trace.metadata->clock.empty()) {
      trace.host = host_without_clock(trace);
    }
    TracedHost& host = hosts_[trace.host];
    if (const std::int64_t offset = trace.metadata->clock_offset_ns; offset != 0) {
      const bool is_first = host.most_clock_offset_ns == 0;
      host.least_clock_offset_ns = is_first ? offset : std::min(host.least_clock_offset_ns, offset);
      host.most_clock_offset_ns = std::max(host.most_clock_offset_ns, offset);
    }
  }
  name_hosts();
}

/// Returns the host of a trace that does not state its clock: the host of that name, or the only
/// one. Adds it if there is none.
std::uint32_t TraceOrigins::host_without_clock(const Trace& trace) {
  const std::string& name = trace.metadata->hostname;
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
    if (name.empty() || hosts_[i].name.empty() || hosts_[i].name == name) {
      candidates.push_back(i);
    }
  }
  if (candidates.empty()) {
    hosts_.push_back({.name = name, .boot = {}});
    return static_cast<std::uint32_t>(hosts_.size() - 1);
  }
  if (candidates.size() > 1) {
    throw TraceError(trace.directory.string() + ": does not state of which machine it is (" +
                     (name.empty()
                          ? "neither its name nor its boot"
                          : "two machines have the name '" + name + "', and it has no boot") +
                     ")\n  fix: read it alone, or record it again with rclrt trace record");
  }
  TracedHost& host = hosts_[candidates.front()];
  host.name = host.name.empty() ? name : host.name;
  return candidates.front();
}

/// Gives each host a name of its own.
void TraceOrigins::name_hosts() {
  constexpr std::size_t kShort = 8;  // digits of a boot_id
  std::map<std::string, int> counts;
  for (TracedHost& host : hosts_) {
    host.name = host.name.empty() ? "host" : shown_name(host.name);
    ++counts[host.name];
  }
  for (TracedHost& host : hosts_) {
    host.name +=
        counts[host.name] > 1 ? " (boot " + shown_name(host.boot.substr(0, kShort)) + ")" : "";
  }
  std::set<std::string> names;
  for (TracedHost& host : hosts_) {
    const std::string name = host.name;
    for (int number = 2; !names.insert(host.name).second; ++number) {
      host.name = name + " " + std::to_string(number);
    }
  }
}

bool TraceOrigins::is_of_kernel(std::size_t trace) const {
  return is_kernel_domain(*traces_[trace].metadata);
}

std::uint32_t TraceOrigins::space_of(std::size_t trace, std::uint64_t pid_namespace) {
  Trace& own = traces_[trace];
  const ctf::Metadata& metadata = *own.metadata;
  const std::uint64_t said = pid_namespace != 0 ? pid_namespace : metadata.pid_namespace;
  const auto [space, fresh] = own.spaces.try_emplace(said, 0);
  if (fresh) {
    const Stated& by_all = stated_[own.host];
    space->second =
        spaces_
            .try_emplace({own.host, by_all.names ? metadata.hostname : "",
                          by_all.processes ? metadata.process : "", by_all.namespaces ? said : 0},
                         static_cast<std::uint32_t>(spaces_.size()))
            .first->second;
  }
  return space->second;
}

bool DuplicateFilter::is_duplicate(const TraceEvent& event, std::size_t trace) {
  if (event.kind == EventKind::kKernelSwitch || event.kind == EventKind::kLoss ||
      event.kind == EventKind::kSwitchesLost) {
    return false;  // these belong to no thread
  }
  Last& last = last_[{event.space, event.pid, event.tid, is_scheduling(event.kind)}];
  const bool same = last.kind == event.kind && last.numbers == event.numbers &&
                    std::ranges::equal(last.texts, event.texts);
  if (same && !last.traces.empty() && std::ranges::find(last.traces, trace) == last.traces.end()) {
    last.traces.push_back(trace);
    return true;
  }
  if (!same) {
    last.kind = event.kind;
    last.numbers = event.numbers;
    std::ranges::copy(event.texts, last.texts.begin());
  }
  last.traces.assign(1, trace);
  return false;
}

}  // namespace rclrt::trace
