// SPDX-License-Identifier: Apache-2.0
#include "missing_events.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace rclrt::trace {

FileOrder::FileOrder(const Streams& streams, const std::vector<StreamKey>& keys)
    : streams_(streams), before_(streams.size(), kNone), is_last_(streams.size(), true) {
  std::map<StreamKey, std::vector<std::pair<std::uint64_t, std::size_t>>> files;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (const auto first = streams[i]->first_packet()) {
      files[keys[i]].emplace_back(first->first, i);
    }
  }
  for (auto& [key, of_stream] : files) {
    std::ranges::sort(of_stream);
    for (std::size_t i = 1; i < of_stream.size(); ++i) {
      before_[of_stream[i].second] = of_stream[i - 1].second;
      is_last_[of_stream[i - 1].second] = false;
    }
  }
}

std::uint64_t FileOrder::lost_packets_before(std::size_t file) const {
  if (before_[file] == kNone) {
    return 0;
  }
  const std::uint64_t last = streams_[before_[file]]->last_packet().value_or(0);
  const std::uint64_t first = streams_[file]->first_packet()->first;
  return first > last && first - last < ctf::kMostLostPackets ? first - last - 1 : 0;
}

MissingEvents::MissingEvents(const Streams& streams, const FileOrder& files,
                             const std::vector<bool>& of_kernel,
                             const std::function<void(const TraceEvent&)>& handle,
                             CommonTime common)
    : streams_(streams),
      files_(files),
      of_kernel_(of_kernel),
      handle_(handle),
      common_(std::move(common)),
      last_(streams.size()),
      has_begun_(streams.size(), false) {
  for (const auto& stream : streams) {
    damaged_.push_back(stream->damaged_places());
  }
}

void MissingEvents::before_event(std::size_t number) {
  if (!has_begun_[number]) {
    begin(number);
  }
  const ctf::Stream& stream = *streams_[number];
  const auto now = static_cast<std::uint64_t>(stream.time());
  if (stream.damaged_places() > damaged_[number] && !of_kernel_[number]) {
    report(number, EventKind::kDamage, now, now, last_[number]);
  }
  damaged_[number] = stream.damaged_places();
  if (stream.after_gap()) {
    report_loss(number, now, now);
  }
  last_[number] = now;
}

void MissingEvents::after_last_event(std::size_t number) {
  if (streams_[number]->is_cut_off() && !of_kernel_[number]) {
    report(number, EventKind::kDamage, last_[number], INT64_MAX, last_[number]);
  } else if (streams_[number]->ends_lossy() && files_.is_last(number)) {
    report_loss(number, last_[number], INT64_MAX);
  }
}

void MissingEvents::after_file_without_events(std::size_t number) {
  const std::size_t before = events_before(number);
  if (!has_begun_[number] && files_.is_last(number) && before != FileOrder::kNone &&
      (streams_[number]->ends_lossy() || lost_before(number))) {
    last_[number] = last_[before];
    report_loss(number, last_[number], INT64_MAX);
  }
}

/// Finds out what is missing before the first event of a file. The files before it have been read
/// by now, because all their events are earlier.
void MissingEvents::begin(std::size_t number) {
  const std::size_t before = events_before(number);
  last_[number] = before == FileOrder::kNone ? 0 : last_[before];
  if (lost_before(number)) {
    streams_[number]->lose_before_first(lost_in_first_packet(number));
  }
  has_begun_[number] = true;
}

/// Returns the latest file before this one that has events.
std::size_t MissingEvents::events_before(std::size_t number) const {
  std::size_t before = files_.before(number);
  while (before != FileOrder::kNone && !has_begun_[before]) {
    before = files_.before(before);
  }
  return before;
}

/// Returns whether the first packet of a file counts events that were lost in it or right before
/// it.
bool MissingEvents::lost_in_first_packet(std::size_t file) const {
  const std::size_t before = files_.before(file);
  const std::uint64_t known = before == FileOrder::kNone ? 0 : streams_[before]->lost_events();
  return streams_[file]->first_lost_events() > known || files_.lost_packets_before(file) > 0;
}

/// Returns whether events were lost since that file.
bool MissingEvents::lost_before(std::size_t number) const {
  const std::size_t end = events_before(number);
  for (std::size_t file = number; file != end; file = files_.before(file)) {
    const std::size_t before = files_.before(file);
    if (lost_in_first_packet(file) ||
        (before != FileOrder::kNone && streams_[before]->ends_lossy())) {
      return true;
    }
  }
  return false;
}

void MissingEvents::report_loss(std::size_t number, std::uint64_t time, std::uint64_t until) const {
  if (of_kernel_[number]) {
    report(number, EventKind::kSwitchesLost, time, 0, last_[number]);
  } else {
    report(number, EventKind::kLoss, time, until, last_[number]);
  }
}

void MissingEvents::report(std::size_t number, EventKind kind, std::uint64_t time,
                           std::uint64_t until, std::uint64_t since) const {
  const auto common = [&](std::uint64_t of_stream) {
    const auto time_ns = static_cast<std::int64_t>(of_stream);
    const bool is_open = time_ns == 0 || time_ns == INT64_MAX;  // from the begin, or to the end
    return is_open ? time_ns : common_(number, time_ns);
  };
  handle_({.kind = kind,
           .time_ns = common(time),
           .numbers = {static_cast<std::uint64_t>(common(until)),
                       static_cast<std::uint64_t>(common(since))}});
}

}  // namespace rclrt::trace
