// SPDX-License-Identifier: Apache-2.0
// Reader of one binary stream of a trace, event by event.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ctf_types.hpp"

namespace rclrt::trace::ctf {

/// The members of a structure that are read, by their place in the structure.
struct Fields {
  std::vector<std::pair<std::size_t, std::size_t>> numbers;  ///< member and destination
  std::vector<std::pair<std::size_t, std::size_t>> texts;
  std::vector<std::pair<std::size_t, std::size_t>> lists;  ///< arrays and sequences of integers
};

/// Chooses the fields that are read of an event. Called once per event class.
class Choice {
 public:
  virtual ~Choice() = default;
  /// Chooses the fields to read of one class of events: from its context (`of_context`) and from
  /// its own fields (`of_event`). The destinations are arguments of Stream::numbers(),
  /// Stream::text() and Stream::list(). Returns false if events of this class are to be skipped.
  virtual bool choose(const EventClass& event, const Type* context, Fields& of_context,
                      Fields& of_event) = 0;
};

/// A larger gap in the numbers of packets is no loss: the numbers are damaged.
inline constexpr std::uint64_t kMostLostPackets = 1U << 30U;

/// The packets that were read already, identified by trace, stream and number. Snapshots of one
/// session overlap, so a packet may be in several files.
using SeenPackets = std::set<std::tuple<std::string, std::uint64_t, std::uint64_t>>;

/// Reads the events of a stream file. After a damaged place, it continues with the next packet if
/// it can find the begin of one; `damage()` describes each damaged place. Not thread-safe.
class Stream {
 public:
  static constexpr std::size_t kPlaces = 12;

  /// `metadata`, `choice` and `seen` must outlive the stream.
  Stream(std::filesystem::path file, const Metadata& metadata, Choice& choice, SeenPackets& seen);

  /// Moves to the next chosen event. Returns false if there is none.
  bool next();

  /// Frees the bytes of the file that are in memory. The next event reads them again. For a file of
  /// which the next event is much later than those of other files, and at the end.
  void let_go_of_bytes();

  std::int64_t time() const { return time_; }
  const EventClass& event() const { return *event_; }
  const std::uint64_t* numbers() const { return numbers_; }
  std::string_view text(std::size_t place) const { return texts_[place]; }
  std::span<const std::uint64_t> list(std::size_t place) const { return lists_[place]; }

  /// Returns whether the tracer lost events before this one, for lack of room. A file does
  /// not show what was lost before its first packet: see lose_before_first().
  bool after_gap() const { return after_gap_; }
  /// Returns whether the tracer may have lost events after the last one so far.
  bool ends_lossy() const { return lossy_ || gap_; }
  /// Returns the number of events that the stream had lost up to the end of the file's first
  /// packet.
  std::uint64_t first_lost_events() const { return first_discarded_.value_or(0); }
  /// States that events were lost before the file's first event. `in_packet`: they may be missing
  /// in its first packet or after it, too. Called at the first event.
  void lose_before_first(bool in_packet) {
    after_gap_ = true;
    lossy_ = lossy_ || in_packet;
  }
  /// Returns the number and the begin of the file's first packet; none: not known.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> first_packet() const {
    return first_packet_;
  }
  /// Returns the number of the latest packet; none: not known.
  std::optional<std::uint64_t> last_packet() const { return sequence_; }
  /// Returns the number of the stream, the same in all of its files; none: not in the trace.
  std::optional<std::uint64_t> instance() const { return instance_; }

  /// Returns the CPU on which these events occurred; none: not in the trace.
  std::optional<std::uint64_t> cpu() const { return cpu_; }

  std::uint64_t events() const { return events_; }  ///< all events so far
  /// Returns the number of events that the tracer has lost in this stream since its start, because
  /// its buffers were full. Each file of the stream has the count of the whole stream.
  std::uint64_t lost_events() const { return discarded_.value_or(0); }
  std::uint64_t lost_packets() const { return lost_packets_; }  ///< between packets of this file
  const std::vector<std::string>& damage() const { return damage_; }
  /// Returns the number of damaged places so far, also of those that damage() does not list.
  std::uint64_t damaged_places() const { return damaged_places_; }
  /// Returns whether events are missing after the last one of the file, as far as is known so far.
  bool is_cut_off() const { return is_cut_off_; }
  std::uint64_t packets() const { return packets_; }  ///< non-empty packets so far
  /// Returns the number of packets that belong to a stream, or contain an event, that the metadata
  /// does not declare.
  std::uint64_t undeclared() const { return undeclared_; }

 private:
  /// Thrown when the rest of the packet cannot be read.
  class Damage : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
  };
  struct Plan {
    bool wanted = false;
    Fields of_context;
    Fields of_event;
  };
  /// A value that was read and to which later fields may refer: an integer (a length or a tag). Or
  /// a structure; it comes before its members.
  struct Named {
    std::string_view name;
    std::uint64_t value = 0;
    const Type* type = nullptr;  // null: a structure
    std::uint32_t depth = 0;     // number of structures of its scope that enclose it
  };

  bool next_packet();
  void read_packet(std::uint64_t left);
  bool read_event();
  bool take_packet_context();
  void take_losses();
  void load(std::uint64_t bytes);
  void read_packet_header();
  void check_uuid(std::uint64_t begin) const;
  const StreamClass& find_stream_class();
  void read_packet_context();
  bool find_packet_after(std::uint64_t byte);
  void compare_with_index();
  std::int64_t nanoseconds() const;

  void enter(Scope scope);
  const Named* find(Scope scope, std::string_view name) const;
  const Named* find(const Reference& reference) const;
  const Named* find_within(Scope scope, const std::vector<std::string>& path,
                           std::uint32_t depth) const;
  const Named* follow(std::size_t at, std::size_t end, const std::vector<std::string>& path) const;
  const Plan& plan_of(const EventClass& event, const StreamClass& stream);

  void align(std::uint64_t bits);
  std::uint64_t read_bits(const Type& type);
  std::uint64_t read_integer(const Type& type);
  void skip(const Type& type, std::string_view name = {});
  void skip_members(const Type& structure);
  void skip_list(const Type& type);
  std::uint64_t begin_list(const Type& type);
  void read_list(const Type& type, std::vector<std::uint64_t>& store);
  const Type& chosen(const Type& variant) const;
  void read_text(const Type& type, std::string& store);
  void read_members(Scope scope, const Type* type, const Fields* fields);
  void update_time(const Type& type, std::uint64_t value);
  void note(const std::string& what);

  const std::filesystem::path file_;
  const Metadata& metadata_;
  Choice& choice_;
  SeenPackets& seen_;
  std::uint64_t file_size_ = 0;
  std::uint64_t next_packet_ = 0;  // its begin, in bytes
  std::uint64_t this_packet_ = 0;
  std::vector<unsigned char> window_;      // the bytes read last
  std::uint64_t window_at_ = 0;            // its begin in the file
  std::span<const unsigned char> packet_;  // a part of the window
  std::uint64_t loaded_ = 0;               // size of the packet before let_go_of_bytes()
  std::uint64_t at_ = 0;                   // position within the packet, in bits
  std::uint64_t end_ = 0;                  // end of the packet's content, in bits
  std::uint64_t steps_ = 0;
  std::vector<Named> scope_;  // fields of the current packet and event, by Scope
  std::array<std::size_t, kScopes> scope_begin_{};
  Scope current_ = Scope::kPacketHeader;
  std::uint32_t depth_ = 0;  // number of structures of the scope that enclose the next field
  const StreamClass* stream_ = nullptr;
  std::uint64_t clock_ = 0;
  std::optional<std::uint64_t> discarded_;
  std::optional<std::uint64_t> first_discarded_;
  std::optional<std::uint64_t> sequence_;
  std::optional<std::uint64_t> instance_;
  std::optional<std::uint64_t> cpu_;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> first_packet_;
  bool lossy_ = false;  // events were lost in the packet before this one, or in it
  bool gap_ = false;    // events were lost before the next event
  bool after_gap_ = false;

  std::int64_t time_ = 0;
  const EventClass* event_ = nullptr;
  std::uint64_t numbers_[kPlaces]{};
  std::string texts_[kPlaces];
  std::vector<std::uint64_t> lists_[kPlaces];
  std::unordered_map<const EventClass*, Plan> plans_;
  std::uint64_t events_ = 0;
  std::uint64_t lost_packets_ = 0;
  std::uint64_t packets_ = 0;
  std::uint64_t undeclared_ = 0;
  bool next_is_known_ = false;  // the packet's size gives the begin of the next one
  std::vector<std::string> damage_;
  std::uint64_t damaged_places_ = 0;
  bool is_cut_off_ = false;
};

}  // namespace rclrt::trace::ctf
