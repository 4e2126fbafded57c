// SPDX-License-Identifier: Apache-2.0
#include "host_clocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

namespace rclrt::trace {

namespace {

/// A reading of a clock is cut to whole nanoseconds.
constexpr std::int64_t kResolution_ns = 1;
/// A mapped time, its interval and the middle of it are whole nanoseconds.
constexpr std::int64_t kRounding_ns = 3;
/// No two clocks are further apart (36 years). So sums of a few times do not overflow.
constexpr std::int64_t kMostOffset_ns = std::int64_t{1} << 60;
constexpr std::int64_t kLatestDay_ns = std::int64_t{1} << 62;  // in 2116
constexpr double kBillion = 1e9;
/// Largest error between the time of day and CLOCK_MONOTONIC, which are read one after the other.
constexpr std::int64_t kReading_ns = 20'000;
/// If the difference of these two clocks changes by more between sessions, a clock was set.
constexpr std::int64_t kSet_ns = 1'000'000;

/// Returns a time in milliseconds, with a sign.
std::string signed_ms(std::int64_t time_ns) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%+.3f ms", static_cast<double>(time_ns) / 1e6);
  return text.data();
}

std::string counted(std::uint64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

/// Two hosts of which the first is joined.
struct HostClocks::Pair {
  std::size_t parent = 0;
  std::size_t child = 0;
  OffsetHull messages;
  OffsetHull all;  // of messages and files
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
  std::uint64_t samples = 0;
  std::string files{};
  std::vector<std::string> notes{};

  bool is_bounded() const { return all.lows() > 0 && all.highs() > 0; }
  std::int64_t width_ns() const {
    std::int64_t best = INT64_MAX;
    for (const OffsetHull::Knot& knot : all.knots()) {
      best = std::min(best, knot.interval.width_ns());
    }
    return best;
  }
};

HostClocks::HostClocks(std::span<const TracedHost> hosts, const HostMessages& messages,
                       std::span<const ClockFile> files, double host_drift_ppm)
    : host_drift_ppm_(host_drift_ppm) {
  for (const TracedHost& each : hosts) {
    hosts_.push_back({.traced = each,
                      .hull = OffsetHull(host_drift_ppm),
                      .span = messages.span_of(hosts_.size())});
  }
  std::vector<std::size_t> joined{0};
  std::vector<std::size_t> missing;
  for (std::size_t i = 1; i < hosts_.size(); ++i) {
    missing.push_back(i);
  }
  while (!missing.empty()) {
    std::optional<Pair> best;
    std::int64_t best_ns = 0;
    for (const std::size_t child : missing) {
      for (const std::size_t parent : joined) {
        Pair pair = pair_of(parent, child, messages);
        add_samples(pair, files);
        if (pair.is_bounded()) {
          fit(pair);
          const std::int64_t error_ns = pair.width_ns() / 2 + hosts_[parent].least_error_ns;
          if (!best || error_ns < best_ns) {
            best = std::move(pair);
            best_ns = error_ns;
          }
        }
      }
    }
    if (!best) {
      refuse(joined, missing.front(), messages, files);
    }
    Host& host = hosts_[best->child];
    host = {.traced = host.traced,
            .parent = best->parent,
            .hull = std::move(best->all),
            .received = best->received,
            .sent = best->sent,
            .samples = best->samples,
            .least_error_ns = best_ns,
            .span = host.span};
    notes_.insert(notes_.end(), best->notes.begin(), best->notes.end());
    joined.push_back(best->child);
    std::erase(missing, best->child);
  }
  note_order(messages);
}

/// Notes the messages between hosts of which neither is the parent of the other one, and which
/// arrive on the common axis before they were sent: the errors of both hosts add up there.
void HostClocks::note_order(const HostMessages& messages) {
  for (const HostMessage& each : messages.joined()) {
    // At the same time the one or the other may come first.
    if (common_ns(each.to, each.received_ns) <= common_ns(each.from, each.sent_ns)) {
      ++early_[{each.from, each.to}];
    }
  }
  for (const auto& [hosts, count] : early_) {
    notes_.push_back(counted(count, "message") + " from '" + hosts_[hosts.first].traced.name +
                     "' to '" + hosts_[hosts.second].traced.name +
                     "' are not followed: the clocks of these two are compared through another "
                     "host, not exactly enough to show their order");
  }
}

/// Returns the bounds that the messages between two hosts give. A message arrives after it was
/// sent: one that the child took bounds its offset from above, one that it sent from below. Both
/// bounds hold at a time of the child's own clock, so the mapping keeps the order of the messages.
HostClocks::Pair HostClocks::pair_of(std::size_t parent, std::size_t child,
                                     const HostMessages& messages) const {
  Pair pair{.parent = parent,
            .child = child,
            .messages = OffsetHull(host_drift_ppm_),
            .all = OffsetHull(host_drift_ppm_)};
  for (const HostMessage& each : messages.joined()) {
    if (each.from == parent && each.to == child) {
      pair.messages.add_high(each.received_ns, each.received_ns - each.sent_ns + kResolution_ns);
      ++pair.received;
    } else if (each.from == child && each.to == parent) {
      pair.messages.add_low(each.sent_ns, each.sent_ns - each.received_ns - kResolution_ns);
      ++pair.sent;
    }
  }
  pair.all = pair.messages;
  return pair;
}

/// Adds the intervals that rclrt clock measured between two hosts. They are of the time of day, and
/// the difference of CLOCK_REALTIME and CLOCK_MONOTONIC of a host changes only when its clock is
/// set. Both are slewed alike.
void HostClocks::add_samples(Pair& pair, std::span<const ClockFile> files) const {
  const auto boot = [&](std::size_t host) { return boot_text(hosts_[host].traced.boot); };
  for (const ClockFile& file : files) {
    const bool is_of_parent = file.boot == boot(pair.parent);
    if (!is_of_parent && file.boot != boot(pair.child)) {
      continue;
    }
    const std::size_t other = is_of_parent ? pair.child : pair.parent;
    const TracedHost& peer = hosts_[other].traced;
    for (const ClockPeer& each : file.peers) {
      if (each.boot != boot(other)) {
        continue;
      }
      const std::string name = file.path.string() + ": ";
      if (const auto why = unusable(peer, each)) {
        pair.notes.push_back(name + "not used for '" + peer.name + "': " + *why);
        continue;
      }
      for (const ClockSample& sample : each.samples) {
        const std::int64_t own = sample.realtime_ns - sample.monotonic_ns;
        // The peer's CLOCK_MONOTONIC less that of the host that measured.
        std::int64_t low = sample.low_ns + own - peer.most_clock_offset_ns - 2 * kReading_ns;
        std::int64_t high = sample.high_ns + own - peer.least_clock_offset_ns + 2 * kReading_ns;
        if (std::abs(low) > kMostOffset_ns || std::abs(high) > kMostOffset_ns) {
          throw TraceError(name + "its offset to '" + peer.name +
                           "' is more than 36 years\n  fix: leave --clock out");
        }
        const std::int64_t at_ns =
            sample.monotonic_ns + (is_of_parent ? low + (high - low) / 2 : 0);
        if (is_of_parent) {
          // That time on the child's clock is wrong by half of the width, at most.
          const std::int64_t growth = pair.all.growth_ns(0, (high - low + 1) / 2);
          low -= growth;
          high += growth;
        }
        pair.all.add_low(at_ns, is_of_parent ? low : -high);
        pair.all.add_high(at_ns, is_of_parent ? high : -low);
      }
      pair.samples += each.samples.size();
      pair.files += (pair.files.empty() ? "" : ", ") + file.path.string();
    }
  }
}

/// Returns why the intervals that rclrt clock measured to a peer cannot be used; std::nullopt: they
/// can.
std::optional<std::string> HostClocks::unusable(const TracedHost& peer,
                                                const ClockPeer& measured) const {
  if (measured.steps > 0) {
    return "a clock was set " + counted(measured.steps, "time") + " while rclrt clock ran";
  }
  if (measured.samples.empty()) {
    return "it has no intervals of that host";
  }
  if (peer.least_clock_offset_ns <= 0 || peer.most_clock_offset_ns > kLatestDay_ns) {
    return "its traces do not state the time of day";
  }
  if (peer.most_clock_offset_ns - peer.least_clock_offset_ns > kSet_ns) {
    return "its traces state that its clock was set between their sessions";
  }
  return std::nullopt;
}

void HostClocks::fit(Pair& pair) const {
  const auto names = [&] {
    return "'" + hosts_[pair.parent].traced.name + "' and '" + hosts_[pair.child].traced.name + "'";
  };
  const auto place = [&](const OffsetHull::Contradiction& found) {
    return "between " + when(pair.child, found.from_ns) + " and " + when(pair.child, found.to_ns) +
           " (clock of '" + hosts_[pair.child].traced.name + "') by at least " +
           signed_ms(found.by_ns).substr(1);
  };
  if (pair.messages.lows() > 0 && pair.messages.highs() > 0) {
    if (const auto found = pair.messages.fit()) {
      throw TraceError(
          "the clocks of " + names() +
          ": no offset fits all messages between them; the clocks moved against each other " +
          place(*found) +
          "\n  a machine was suspended, or a clock drifts or is slewed by more than --drift (" +
          std::to_string(static_cast<int>(host_drift_ppm_)) +
          " ppm)\n  fix: --drift PPM with a larger number if a clock was slewed or a machine is "
          "virtual; otherwise trace again, or read the traces one by one");
    }
  }
  if (const auto found = pair.all.fit()) {
    throw TraceError(
        pair.files + ": contradicts the messages between " + names() + " " + place(*found) +
        "\n  a clock was set between the start of a trace and the time at which rclrt "
        "clock ran\n  fix: leave --clock out, or run rclrt clock while both are traced");
  }
}

/// Throws the error for a host that has no interval with any of the joined hosts.
void HostClocks::refuse(std::span<const std::size_t> joined, std::size_t missing,
                        const HostMessages& messages, std::span<const ClockFile> files) const {
  std::string unused;
  for (const std::size_t each : joined) {
    Pair pair = pair_of(each, missing, messages);
    add_samples(pair, files);
    for (const std::string& note : pair.notes) {
      unused += "\n  " + note;
    }
  }
  const std::string fix =
      unused +
      "\n  fix: run rclrt clock --out clock.json on one of them while both are traced (and rclrt "
      "clock on the other), and add --clock clock.json; or publish a topic in ";
  const std::string& name = hosts_[missing].traced.name;
  for (const std::size_t each : joined) {
    Pair pair = pair_of(each, missing, messages);
    if (pair.received + pair.sent == 0) {
      continue;
    }
    const bool took = pair.received > 0;
    const std::string& from = took ? hosts_[each].traced.name : name;
    const std::string& to = took ? name : hosts_[each].traced.name;
    std::string bound = "CLOCK_MONOTONIC of '" + name + "' less that of '" +
                        hosts_[each].traced.name + "' is at " +
                        (took ? "most " + signed_ms(*pair.messages.best_high_ns())
                              : "least " + signed_ms(*pair.messages.best_low_ns()));
    throw TraceError("the clocks of '" + hosts_[each].traced.name + "' and '" + name +
                     "' cannot be joined: '" + to + "' took " +
                     counted(took ? pair.received : pair.sent, "message") + " of '" + from +
                     "', and '" + from + "' none of '" + to +
                     "', so their offset is bounded on one side only (" + bound + ")" + fix +
                     "the other direction");
  }
  std::string why = ": no message of one was taken on the other";
  if (messages.publications() == 0) {
    why = ": the traces have no publications with a source timestamp (ROS 2 before Jazzy)";
  }
  throw TraceError("the clocks of '" + hosts_[joined.front()].traced.name + "' and '" + name +
                   "' cannot be joined" + why +
                   "\n  two boots of one machine are two clocks as well; read those one by one" +
                   fix + "each direction");
}

std::string HostClocks::when(std::size_t host, std::int64_t time_ns) const {
  const std::int64_t offset_ns = hosts_[host].traced.most_clock_offset_ns;
  std::array<char, 64> text{};
  const std::int64_t of_day_ns = time_ns + offset_ns;
  if (offset_ns == 0) {
    std::snprintf(text.data(), text.size(), "%.3f s", static_cast<double>(time_ns) / 1e9);
    return text.data();
  }
  constexpr std::int64_t kSecond_ns = 1'000'000'000;
  const std::time_t seconds = of_day_ns / kSecond_ns;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> clock{};
  std::strftime(clock.data(), clock.size(), "%Y-%m-%d %H:%M:%S", &parts);
  std::snprintf(text.data(), text.size(), "%s.%03d UTC", clock.data(),
                static_cast<int>(of_day_ns % kSecond_ns / 1'000'000));
  return text.data();
}

std::int64_t HostClocks::common_ns(std::size_t host, std::int64_t time_ns) const {
  while (host != 0) {
    const realtime::OffsetInterval interval = hosts_[host].hull.at(time_ns);
    time_ns -= interval.low_ns + interval.width_ns() / 2;
    host = hosts_[host].parent;
  }
  return time_ns;
}

std::int64_t HostClocks::local_ns(std::size_t host, std::int64_t common_ns) const {
  if (host == 0) {
    return common_ns;
  }
  // Each round leaves the part of the error by which the clocks drift: a fifth or less.
  constexpr int kRounds = 40;
  const std::vector<OffsetHull::Knot>& knots = hosts_[host].hull.knots();
  std::int64_t time_ns = knots.front().at_ns;
  for (int i = 0; i < kRounds; ++i) {
    const std::int64_t wrong_ns = common_ns - this->common_ns(host, time_ns);
    if (wrong_ns == 0) {
      break;
    }
    time_ns += wrong_ns;
  }
  return time_ns;
}

std::int64_t HostClocks::error_ns(std::size_t host, std::int64_t time_ns) const {
  std::int64_t error = 0;
  while (host != 0) {
    const OffsetHull& hull = hosts_[host].hull;
    const realtime::OffsetInterval interval = hull.at(time_ns);
    // `time_ns` itself is wrong by `error`, and the offset drifts in that time.
    error += hull.growth_ns(0, error) + (interval.width_ns() + 1) / 2 + kRounding_ns;
    time_ns -= interval.low_ns + interval.width_ns() / 2;
    host = hosts_[host].parent;
  }
  return error;
}

std::int64_t HostClocks::drift_ppb(std::size_t host) const {
  double sum = 0;
  double shortest = 1;
  double longest = 1;
  for (; host != 0; host = hosts_[host].parent) {
    const double drift = static_cast<double>(hosts_[host].hull.drift_ppb()) / kBillion;
    sum += drift;
    shortest *= 1 - drift;
    longest *= 1 + drift;
  }
  // Each half width grows with the time of its own clock, which is at most 1 / shortest of the
  // common time, and the errors of the clocks below it make it longest at most.
  return static_cast<std::int64_t>(std::ceil(sum * longest / shortest * kBillion));
}

std::int64_t HostClocks::stretch_ppb(std::size_t host) const {
  double shortest = 1;
  double longest = 1;
  for (; host != 0; host = hosts_[host].parent) {
    const double drift = static_cast<double>(hosts_[host].hull.drift_ppb()) / kBillion;
    shortest *= 1 - drift;
    longest *= 1 + drift;
  }
  // The true time and the mapped one are both between `shortest` and `longest` of the local one.
  return static_cast<std::int64_t>(std::ceil((longest / shortest - 1) * kBillion));
}

std::optional<realtime::OffsetInterval> HostClocks::time_of_day_offset(std::size_t host,
                                                                       std::int64_t time_ns) const {
  const TracedHost& own = hosts_[host].traced;
  const TracedHost& parent = hosts_[hosts_[host].parent].traced;
  if (own.most_clock_offset_ns == 0 || parent.most_clock_offset_ns == 0) {
    return std::nullopt;
  }
  realtime::OffsetInterval interval = hosts_[host].hull.at(time_ns);
  interval.low_ns += own.least_clock_offset_ns - parent.most_clock_offset_ns - 2 * kReading_ns;
  interval.high_ns += own.most_clock_offset_ns - parent.least_clock_offset_ns + 2 * kReading_ns;
  return interval;
}

}  // namespace rclrt::trace
