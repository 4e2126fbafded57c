// SPDX-License-Identifier: Apache-2.0
#include "trace_origins.hpp"

#include <algorithm>
#include <utility>

namespace rclrt::trace {

namespace {

constexpr const char* kOneSession =
    "\n  fix: name the directory of one recording session, or read them one by one";

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

}  // namespace

void TraceOrigins::add(const std::filesystem::path& trace, const ctf::Metadata& metadata) {
  std::string session = metadata.hostname + "\n" + metadata.domain + "\n";
  session += !metadata.session.empty() ? metadata.session
             : !metadata.uuid.empty()  ? metadata.uuid
                                       : trace.string();
  traces_.push_back({.directory = trace,
                     .metadata = &metadata,
                     .session = std::move(session),
                     .has_namespaces = says_namespaces(metadata)});
}

void TraceOrigins::check() {
  require_one_clock();
  require_one_machine();
  const auto all = [&](const auto& says) {
    return std::ranges::all_of(
        traces_, [&](const Trace& each) { return is_kernel_domain(*each.metadata) || says(each); });
  };
  say_hosts_ = all([](const Trace& each) { return !each.metadata->hostname.empty(); });
  say_processes_ = all([](const Trace& each) { return !each.metadata->process.empty(); });
  say_namespaces_ = all([](const Trace& each) { return each.has_namespaces; });
}

void TraceOrigins::require_one_clock() const {
  const Trace* first = nullptr;
  for (const Trace& trace : traces_) {
    if (trace.metadata->clock.empty()) {
      continue;
    }
    first = first == nullptr ? &trace : first;
    if (trace.metadata->clock == first->metadata->clock) {
      continue;
    }
    const std::string& one = first->metadata->hostname;
    const std::string& other = trace.metadata->hostname;
    throw TraceError(first->directory.string() + " and " + trace.directory.string() +
                     (one == other ? ": traces of two boots of '" + one +
                                         "', or of two machines of that name: their clocks began "
                                         "at different times"
                                   : ": traces of two machines, '" + one + "' and '" + other +
                                         "'; expected those of one") +
                     kOneSession);
  }
}

/// Throws TraceError if the traces come from several machines. Different host names alone are not
/// enough if all traces have a common clock: they may be those of containers on one machine.
void TraceOrigins::require_one_machine() const {
  if (std::ranges::none_of(traces_,
                           [](const Trace& each) { return each.metadata->clock.empty(); })) {
    return;
  }
  const Trace* first = nullptr;
  for (const Trace& trace : traces_) {
    const std::string& name = trace.metadata->hostname;
    first = first == nullptr && !name.empty() ? &trace : first;
    if (first != nullptr && !name.empty() && name != first->metadata->hostname) {
      throw TraceError(first->directory.string() + " and " + trace.directory.string() +
                       ": traces of two machines, '" + first->metadata->hostname + "' and '" +
                       name + "'; expected those of one" + kOneSession);
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
    space->second =
        spaces_
            .try_emplace({say_hosts_ ? metadata.hostname : "",
                          say_processes_ ? metadata.process : "", say_namespaces_ ? said : 0},
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
