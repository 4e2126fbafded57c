// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/perfetto_writer.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "perfetto_packets.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/replacing_file.hpp"
#include "rclrt/realtime/throw_errno.hpp"

namespace rclrt::realtime {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} * 1024;

}  // namespace

PerfettoProcess this_perfetto_process(std::string name) {
  std::array<std::uint32_t, 2> random{};
  if (getrandom(random.data(), sizeof random, 0) != static_cast<ssize_t>(sizeof random)) {
    throw_errno("the system has no random numbers for the ids of a Perfetto trace");
  }
  constexpr std::uint32_t kNotZero = 1U << 31U;
  return {.name = std::move(name),
          .pid = getpid(),
          .sequence_id = random[0] | kNotZero,
          .uuid_base = std::uint64_t{random[1] | kNotZero} << 32U};
}

PerfettoClocks read_perfetto_clocks() {
  const std::int64_t before_ns = monotonic_now_ns();
  const std::int64_t boottime_ns = read_clock_ns(CLOCK_BOOTTIME);
  const std::int64_t after_ns = monotonic_now_ns();
  return {.monotonic_ns = before_ns + (after_ns - before_ns) / 2, .boottime_ns = boottime_ns};
}

class PerfettoWriter::Implementation {
 public:
  Implementation(const PerfettoProcess& process, const PerfettoClocks& clocks) : packets_(process) {
    packets_.clock_snapshot(clocks);
    add_track({});
  }

  void write_to(const std::filesystem::path& path) { file_.emplace(path); }
  void write_to(std::ostream& stream) { stream_ = &stream; }

  PerfettoTrack process_track() const { return PerfettoTrack{packets_.process().uuid_base + 1}; }

  PerfettoTrack add_track(TrackDescription description) {
    require_open();
    if (description.parent) {
      description.rank = find(PerfettoTrack{*description.parent}).children++;
    }
    tracks_.push_back({.counter = description.unit.has_value()});
    description.uuid = packets_.process().uuid_base + tracks_.size();
    packets_.track(description);
    return PerfettoTrack{description.uuid};
  }

  void begin_slice(PerfettoTrack track, std::int64_t time_ns, const PerfettoEvent& event) {
    Track& state = find(track, Kind::kSlices);
    packets_.slice_begin(static_cast<std::uint64_t>(track), time_ns, event);
    ++state.open_slices;
    write_full_buffer();
  }

  void end_slice(PerfettoTrack track, std::int64_t time_ns) {
    Track& state = find(track, Kind::kSlices);
    if (state.open_slices == 0) {
      throw std::logic_error(
          "a slice ends on a Perfetto track on which no slice is open; begin one first");
    }
    packets_.slice_end(static_cast<std::uint64_t>(track), time_ns);
    --state.open_slices;
    write_full_buffer();
  }

  void instant(PerfettoTrack track, std::int64_t time_ns, const PerfettoEvent& event) {
    find(track, Kind::kSlices);
    packets_.instant(static_cast<std::uint64_t>(track), time_ns, event);
    write_full_buffer();
  }

  void counter(PerfettoTrack track, std::int64_t time_ns, double value) {
    find(track, Kind::kCounter);
    packets_.counter(static_cast<std::uint64_t>(track), time_ns, value);
    write_full_buffer();
  }

  void finish() {
    require_open();
    finished_ = true;
    write_buffer();
    if (file_) {
      file_->commit(false);  // no wait for the disk: the calling thread may have rings to empty
    } else if (!stream_->flush()) {
      fail_stream();
    }
  }

 private:
  enum class Kind { kSlices, kCounter };
  struct Track {
    bool counter = false;
    std::uint32_t open_slices = 0;
    std::int64_t children = 0;
  };

  void require_open() const {
    if (finished_) {
      throw std::logic_error("the Perfetto trace is finished; make a new PerfettoWriter");
    }
  }

  Track& find(PerfettoTrack track) {
    const std::uint64_t number = static_cast<std::uint64_t>(track) - packets_.process().uuid_base;
    if (number == 0 || number > tracks_.size()) {
      throw std::logic_error(
          "the track does not belong to this Perfetto trace; use a track that add_track of this "
          "writer returned");
    }
    return tracks_[number - 1];
  }

  Track& find(PerfettoTrack track, Kind kind) {
    require_open();
    Track& found = find(track);
    if (found.counter != (kind == Kind::kCounter)) {
      throw std::logic_error(
          found.counter
              ? "a Perfetto counter track takes only counter values, no slices or instants"
              : "a counter value needs a Perfetto counter track");
    }
    return found;
  }

  void write_full_buffer() {
    if (packets_.bytes().size() >= kBufferBytes) {
      write_buffer();
    }
  }

  void write_buffer() {
    const std::string& bytes = packets_.bytes();
    if (file_) {
      file_->write(bytes);
    } else if (!stream_->write(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
      fail_stream();
    }
    packets_.clear();
  }

  [[noreturn]] static void fail_stream() {
    throw std::system_error(std::make_error_code(std::errc::io_error),
                            "cannot write the Perfetto trace to its stream");
  }

  PerfettoPackets packets_;
  std::vector<Track> tracks_;  // by uuid - base - 1
  std::optional<ReplacingFile> file_;
  std::ostream* stream_ = nullptr;
  bool finished_ = false;
};

PerfettoWriter::PerfettoWriter(const std::filesystem::path& path, const PerfettoProcess& process,
                               const PerfettoClocks& clocks)
    : implementation_(std::make_unique<Implementation>(process, clocks)) {
  implementation_->write_to(path);
}

PerfettoWriter::PerfettoWriter(std::ostream& out, const PerfettoProcess& process,
                               const PerfettoClocks& clocks)
    : implementation_(std::make_unique<Implementation>(process, clocks)) {
  implementation_->write_to(out);
}

PerfettoWriter::~PerfettoWriter() = default;

PerfettoTrack PerfettoWriter::process_track() const { return implementation_->process_track(); }

PerfettoTrack PerfettoWriter::add_thread_track(std::string_view name, std::int32_t tid) {
  return implementation_->add_track(
      {.parent = static_cast<std::uint64_t>(process_track()), .name = name, .tid = tid});
}

PerfettoTrack PerfettoWriter::add_track(std::string_view name, PerfettoTrack parent) {
  return implementation_->add_track({.parent = static_cast<std::uint64_t>(parent), .name = name});
}

PerfettoTrack PerfettoWriter::add_track(std::string_view name) {
  return add_track(name, process_track());
}

PerfettoTrack PerfettoWriter::add_counter_track(std::string_view name, std::string_view unit,
                                                PerfettoTrack parent) {
  return implementation_->add_track(
      {.parent = static_cast<std::uint64_t>(parent), .name = name, .unit = unit});
}

void PerfettoWriter::begin_slice(PerfettoTrack track, std::int64_t time_ns,
                                 const PerfettoEvent& event) {
  implementation_->begin_slice(track, time_ns, event);
}

void PerfettoWriter::end_slice(PerfettoTrack track, std::int64_t time_ns) {
  implementation_->end_slice(track, time_ns);
}

void PerfettoWriter::instant(PerfettoTrack track, std::int64_t time_ns,
                             const PerfettoEvent& event) {
  implementation_->instant(track, time_ns, event);
}

void PerfettoWriter::counter(PerfettoTrack track, std::int64_t time_ns, double value) {
  implementation_->counter(track, time_ns, value);
}

void PerfettoWriter::finish() { implementation_->finish(); }

}  // namespace rclrt::realtime
