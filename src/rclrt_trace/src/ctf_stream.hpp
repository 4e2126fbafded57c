// SPDX-License-Identifier: Apache-2.0
// Reads one binary stream of a trace, event by event.
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

/// The members of a structure that are wanted, and what they are: by their place in it.
struct Fields {
  std::vector<std::pair<std::size_t, std::size_t>> numbers;  ///< member, and where it goes
  std::vector<std::pair<std::size_t, std::size_t>> texts;
};

/// Decides what is read of an event: asked once for each class of events.
class Choice {
 public:
  virtual ~Choice() = default;
  /// Sets what is wanted of the context and of the event's own fields. Returns false when nothing
  /// is. Places are those of Stream::numbers() and Stream::texts().
  virtual bool choose(const EventClass& event, const Type* context, Fields& of_context,
                      Fields& of_event) = 0;
};

/// Which packets were read, by trace, stream and number: snapshots of one session overlap.
using SeenPackets = std::set<std::tuple<std::string, std::uint64_t, std::uint64_t>>;

/// A stream file. After a damaged place it goes on with the next packet, if it can tell where that
/// begins, and says so in `damage()`. Not thread-safe.
class Stream {
 public:
  static constexpr std::size_t kPlaces = 12;

  /// `metadata`, `choice` and `seen` must live as long.
  Stream(std::filesystem::path file, const Metadata& metadata, Choice& choice, SeenPackets& seen);

  /// Goes on to the next event that was chosen. False: there is none.
  bool next();

  std::int64_t time() const { return time_; }
  const EventClass& event() const { return *event_; }
  const std::uint64_t* numbers() const { return numbers_; }
  std::string_view text(std::size_t place) const { return texts_[place]; }

  /// Whether events before this one are missing: the tracer had no room for them.
  bool after_gap() const { return after_gap_; }
  /// The number of the file's first packet, and when it begins; none: not known.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> first_packet() const {
    return first_packet_;
  }
  /// Tells the files of one stream from those of others; none: the trace does not say.
  std::optional<std::uint64_t> instance() const { return instance_; }

  /// The CPU whose events these are; none: the trace does not say.
  std::optional<std::uint64_t> cpu() const { return cpu_; }

  std::uint64_t events() const { return events_; }  ///< all so far
  /// Events that the tracer had no room for, since it began: the same count in each file.
  std::uint64_t lost_events() const { return discarded_.value_or(0); }
  std::uint64_t lost_packets() const { return lost_packets_; }  ///< between those of this file
  const std::vector<std::string>& damage() const { return damage_; }
  std::uint64_t packets() const { return packets_; }  ///< all so far that have a content
  /// How many of them hold an event, or are of a stream, that the metadata does not declare.
  std::uint64_t undeclared() const { return undeclared_; }

 private:
  /// The packet cannot be read any further.
  class Damage : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
  };
  struct Plan {
    bool wanted = false;
    Fields of_context;
    Fields of_event;
  };
  /// An integer that was read, the length or the tag of what follows it; or a structure, before its
  /// members.
  struct Named {
    std::string_view name;
    std::uint64_t value = 0;
    const Type* type = nullptr;  // null: a structure
    std::uint32_t depth = 0;     // in how many structures of its scope it is
  };

  bool next_packet();
  void read_packet(std::uint64_t left);
  bool read_event();
  bool take_packet_context();
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
  std::uint64_t next_packet_ = 0;  // where it begins, in bytes
  std::uint64_t this_packet_ = 0;
  std::vector<unsigned char> window_;      // what was read last
  std::uint64_t window_at_ = 0;            // where in the file it begins
  std::span<const unsigned char> packet_;  // a part of the window
  std::uint64_t at_ = 0;                   // in bits, within the packet
  std::uint64_t end_ = 0;                  // of its content
  std::uint64_t steps_ = 0;
  std::vector<Named> scope_;  // of the packet and of the event that is read, by Scope
  std::array<std::size_t, kScopes> scope_begin_{};
  Scope current_ = Scope::kPacketHeader;
  std::uint32_t depth_ = 0;  // in how many structures of the scope the next field is
  const StreamClass* stream_ = nullptr;
  std::uint64_t clock_ = 0;
  std::optional<std::uint64_t> discarded_;
  std::optional<std::uint64_t> sequence_;
  std::optional<std::uint64_t> instance_;
  std::optional<std::uint64_t> cpu_;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> first_packet_;
  bool lossy_ = false;  // events were lost in the packet before this one, or in it
  bool gap_ = false;    // before the next event
  bool after_gap_ = false;

  std::int64_t time_ = 0;
  const EventClass* event_ = nullptr;
  std::uint64_t numbers_[kPlaces]{};
  std::string texts_[kPlaces];
  std::unordered_map<const EventClass*, Plan> plans_;
  std::uint64_t events_ = 0;
  std::uint64_t lost_packets_ = 0;
  std::uint64_t packets_ = 0;
  std::uint64_t undeclared_ = 0;
  bool next_is_known_ = false;  // the packet says where the next one begins
  std::vector<std::string> damage_;
};

}  // namespace rclrt::trace::ctf
