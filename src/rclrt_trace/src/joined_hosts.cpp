// SPDX-License-Identifier: Apache-2.0
#include "joined_hosts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace rclrt::trace {

namespace {

/// The most points at which the error of a host's clock is kept in the results.
constexpr std::size_t kMostKnots = 2000;
constexpr std::size_t kMostTopics = 10;  // in a note

std::string ms_text(std::int64_t time_ns, const char* format) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, static_cast<double>(time_ns) / 1e6);
  return text.data();
}

/// Adds the points between two others at which the error is largest: it grows from both.
void add_peaks(std::vector<recorder::HostTimes::Knot>& knots, std::int64_t drift_ppb) {
  const double drift = static_cast<double>(drift_ppb) / 1e9;
  std::vector<recorder::HostTimes::Knot> result;
  for (const recorder::HostTimes::Knot& knot : knots) {
    if (!result.empty() && drift > 0) {
      const recorder::HostTimes::Knot before = result.back();
      const auto time = static_cast<double>(knot.at_ns - before.at_ns);
      const auto higher = static_cast<double>(knot.error_ns - before.error_ns);
      const double until = std::clamp((time + higher / drift) / 2, 0.0, time);
      const double error = static_cast<double>(before.error_ns) + until * drift;
      const std::int64_t at_ns = before.at_ns + std::llround(until);
      if (at_ns > before.at_ns && at_ns < knot.at_ns) {
        result.push_back({at_ns, static_cast<std::int64_t>(std::ceil(error)) + 1});
      }
    }
    result.push_back(knot);
  }
  knots = std::move(result);
}

/// Returns the points with the smallest errors, spread over the trace, with those between them at
/// which the errors are largest. The first and the last point are those of the trace.
std::vector<recorder::HostTimes::Knot> knots_of(const HostClocks& clocks, std::size_t host) {
  const std::vector<OffsetHull::Knot>& all = clocks.hosts()[host].hull.knots();
  const std::size_t step = (all.size() + kMostKnots - 1) / kMostKnots;
  std::vector<recorder::HostTimes::Knot> result;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int64_t at_ns = all[i].at_ns;
    const recorder::HostTimes::Knot knot{clocks.common_ns(host, at_ns),
                                         clocks.error_ns(host, at_ns)};
    if (i % step == 0) {
      result.push_back(knot);
    } else if (knot.error_ns < result.back().error_ns) {
      result.back() = knot;
    }
  }
  if (const auto& span = clocks.hosts()[host].span) {
    for (const std::int64_t at_ns : {span->first_ns, span->last_ns}) {
      result.push_back({clocks.common_ns(host, at_ns), clocks.error_ns(host, at_ns)});
    }
    std::ranges::stable_sort(result, {}, &recorder::HostTimes::Knot::at_ns);
    const auto same = std::ranges::unique(result, {}, &recorder::HostTimes::Knot::at_ns);
    result.erase(same.begin(), same.end());
  }
  add_peaks(result, clocks.drift_ppb(host));
  return result;
}

std::string offset_text(const realtime::OffsetInterval& offset) {
  return ms_text(offset.low_ns, "%+.3f") + " to " + ms_text(offset.high_ns, "%+.3f ms");
}

/// Returns a sentence about the clock of a joined host.
std::string clock_note(const HostClocks& clocks, std::size_t number) {
  const HostClocks::Host& host = clocks.hosts()[number];
  const std::vector<OffsetHull::Knot>& knots = host.hull.knots();
  std::int64_t least = INT64_MAX;
  std::int64_t most = 0;
  for (const recorder::HostTimes::Knot& knot : knots_of(clocks, number)) {
    least = std::min(least, knot.error_ns);
    most = std::max(most, knot.error_ns);
  }
  const std::string& name = host.traced.name;
  const std::string& other = clocks.hosts()[host.parent].traced.name;
  std::string text = "the clock of '" + name + "' is fitted to that of '" + other + "' by " +
                     std::to_string(host.received) + " messages to it and " +
                     std::to_string(host.sent) + " from it";
  if (host.samples > 0) {
    text += ", and " + std::to_string(host.samples) + " intervals of rclrt clock";
  }
  text += ": its times are within " + ms_text(least, "±%.3f") + " to " + ms_text(most, "±%.3f ms");
  if (const auto first = clocks.time_of_day_offset(number, knots.front().at_ns)) {
    text += "; its time of day is ahead by " + offset_text(*first) + " at the begin, by " +
            offset_text(*clocks.time_of_day_offset(number, knots.back().at_ns)) + " at the end";
  }
  return text;
}

void add_unjoined(const HostClocks& clocks, const HostMessages& messages,
                  std::vector<std::string>& notes) {
  const auto add = [&](auto count, const char* reason) {
    std::string list;
    std::size_t topics = 0;
    for (const UnjoinedMessages& each : messages.unjoined()) {
      const std::uint64_t number = count(each);
      if (number > 0 && ++topics <= kMostTopics) {
        list += (list.empty() ? "" : ", ") + std::to_string(number) + " of " + each.topic +
                " on '" + clocks.hosts()[each.to].traced.name + "'";
      }
    }
    if (topics > 0) {
      notes.push_back(
          "messages that are not joined, because " + std::string(reason) + ": " + list +
          (topics > kMostTopics
               ? ", and those of " + std::to_string(topics - kMostTopics) + " more topics"
               : ""));
    }
  };
  add([](const UnjoinedMessages& each) { return each.unknown; },
      "their publication is in no trace");
  add([](const UnjoinedMessages& each) { return each.ambiguous; },
      "several publications have their topic and time");
}

/// Throws TraceError if a file of rclrt clock is not about two of the hosts.
void require_files_of(const std::vector<TracedHost>& hosts, const std::vector<ClockFile>& files) {
  const auto is_known = [&](const std::string& boot) {
    return std::ranges::any_of(hosts, [&](const TracedHost& host) {
      return !host.boot.empty() && boot_text(host.boot) == boot;
    });
  };
  for (const ClockFile& file : files) {
    const bool is_of_peer =
        std::ranges::any_of(file.peers, [&](const ClockPeer& peer) { return is_known(peer.boot); });
    if (!is_known(file.boot) || !is_of_peer) {
      throw TraceError(file.path.string() + ": measured on '" + file.host + "' (boot " + file.boot +
                       "); expected the offsets between two of the traced hosts in the same boots"
                       "\n  fix: run rclrt clock while both are traced, or leave --clock out");
    }
  }
}

}  // namespace

std::optional<HostClocks> join_hosts(std::span<const std::filesystem::path> directories,
                                     const JoinOptions& options, std::vector<std::string>& notes) {
  std::vector<ClockFile> files;
  for (const std::filesystem::path& path : options.clock_files) {
    files.push_back(read_clock_file(path));
  }
  const std::vector<TracedHost> hosts = find_hosts(directories);
  if (hosts.size() < 2) {
    if (!files.empty()) {
      throw TraceError(files.front().path.string() +
                       ": all traces are of one machine with one clock\n  fix: leave --clock out");
    }
    return std::nullopt;
  }
  require_files_of(hosts, files);
  HostMessages messages;
  read_traces(directories, nullptr, [&](const TraceEvent& event) { messages.take(event); });
  messages.join();
  HostClocks clocks(hosts, messages, files, options.drift_ppm);
  for (std::size_t i = 1; i < clocks.hosts().size(); ++i) {
    notes.push_back(clock_note(clocks, i));
  }
  notes.insert(notes.end(), clocks.notes().begin(), clocks.notes().end());
  add_unjoined(clocks, messages, notes);
  return clocks;
}

recorder::HostTable host_table(const HostClocks& clocks, const TracedSystem& system,
                               const TracedModel& model) {
  recorder::HostTable table;
  for (std::size_t i = 0; i < clocks.hosts().size(); ++i) {
    const HostClocks::Host& host = clocks.hosts()[i];
    recorder::HostTimes times{.name = host.traced.name, .boot = host.traced.boot};
    if (i > 0) {
      times.compared_with = clocks.hosts()[host.parent].traced.name;
      times.knots = knots_of(clocks, i);
      times.drift_ppb = clocks.drift_ppb(i);
      times.stretch_ppb = clocks.stretch_ppb(i);
      times.received = host.received;
      times.sent = host.sent;
      times.samples = host.samples;
      const auto offset = [&](std::int64_t at_ns) -> decltype(times.first_offset_ns) {
        const auto interval = clocks.time_of_day_offset(i, at_ns);
        return interval ? std::optional(std::pair(interval->low_ns, interval->high_ns))
                        : std::nullopt;
      };
      times.first_offset_ns = offset(host.hull.knots().front().at_ns);
      times.last_offset_ns = offset(host.hull.knots().back().at_ns);
    }
    if (host.span) {
      const auto [first_ns, last_ns] = *host.span;
      times.traced = {.start_ns = clocks.common_ns(i, first_ns) + clocks.error_ns(i, first_ns),
                      .end_ns = clocks.common_ns(i, last_ns) - clocks.error_ns(i, last_ns)};
    }
    table.hosts.push_back(std::move(times));
  }
  table.of_callback.resize(model.application.callbacks.size());
  for (std::size_t i = 0; i < model.callback_of.size(); ++i) {
    if (model.callback_of[i] != kNone) {
      const auto process = static_cast<std::size_t>(system.callbacks()[i].process);
      table.of_callback[model.callback_of[i]] = system.processes()[process].host;
    }
  }
  return table;
}

}  // namespace rclrt::trace
