// SPDX-License-Identifier: Apache-2.0
// What the metadata of a trace says of its binary streams: types, streams and events. The format is
// the Common Trace Format 1.8 (https://diamon.org/ctf/v1.8.3/), as LTTng writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rclrt::trace::ctf {

/// What each packet of a stream begins with.
inline constexpr std::uint32_t kStreamMagic = 0xC1FC1FC1;
/// The latest time that is read, in ns: 70 years. Sums of two fit.
inline constexpr std::uint64_t kLatest_ns = std::uint64_t{1} << 61U;

struct Type;
using TypePtr = std::shared_ptr<const Type>;

/// The kinds of types. An enumeration is an integer with labels.
enum class TypeKind : std::uint8_t {
  kInteger,
  kFloat,
  kString,
  kStruct,
  kVariant,
  kArray,
  kSequence
};

/// A member of a structure, or an option of a variant.
struct Member {
  std::string name;  ///< without the underscore that LTTng puts before the names of users
  TypePtr type;
};

/// The parts of a packet and of an event in which a field can be looked up, in the order in which
/// they are read.
enum class Scope : std::uint8_t {
  kPacketHeader,
  kPacketContext,
  kEventHeader,
  kStreamEventContext,
  kEventContext,
  kEventFields
};
inline constexpr std::size_t kScopes = 6;

/// Names an integer that was read before: the length of a sequence, the tag of a variant.
struct Reference {
  std::optional<Scope> scope{};     ///< none: the nearest structure around the field, then those
                                    ///< around it, then the scopes before
  std::vector<std::string> path{};  ///< names of structures, then of the integer
};

/// A label of an enumeration: for values from first to last.
struct Label {
  std::string name;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// A type; which members count follows from the kind. Sizes are in bits.
struct Type {
  TypeKind kind = TypeKind::kInteger;
  std::uint64_t size = 0;   ///< of an integer or a float: 1 to 64
  std::uint64_t align = 1;  ///< a power of 2
  bool is_signed = false;
  bool big_endian = false;
  bool is_clock = false;        ///< its value is (the lower bits of) the time
  std::vector<Label> labels{};  ///< of an enumeration; empty: a plain integer
  std::vector<Member> members{};
  Reference tag{};        ///< of a variant: the enumeration that chooses
  TypePtr element{};      ///< of an array or a sequence
  std::uint64_t count{};  ///< of an array
  Reference length{};     ///< of a sequence: the integer that has the number of elements
  int depth = 0;          ///< how deep types are within it
};

/// An event of a stream.
struct EventClass {
  std::string name;
  TypePtr context;  ///< may be null, as all below
  TypePtr fields;
};

/// A kind of stream.
struct StreamClass {
  TypePtr packet_context;
  TypePtr event_header;
  TypePtr event_context;
  std::map<std::uint64_t, EventClass> events;  ///< by id
};

/// Everything that the metadata says.
struct Metadata {
  std::string uuid;      ///< of the trace; empty: not said
  std::string hostname;  ///< of the machine; ditto
  std::string domain;    ///< what was traced: "ust", "kernel"; ditto
  std::string session;   ///< name of the recording session and when it was created; ditto
  std::string process;   ///< of a trace of one process (per-pid buffers): which one; ditto
  std::string clock;     ///< uuid of the clock: the machine's boot; ditto
  /// The pid namespace of the processes; 0: not said, or said by the events.
  std::uint64_t pid_namespace = 0;
  /// What CLOCK_MONOTONIC is behind the time of day; 0: not known.
  std::int64_t clock_offset_ns = 0;
  std::uint64_t clock_frequency = 1'000'000'000;  ///< in Hz
  /// The text may be a part of what the tracer wrote: nothing in it marks its end.
  bool may_be_cut = false;
  TypePtr packet_header;
  std::map<std::uint64_t, StreamClass> streams;  ///< by id
};

}  // namespace rclrt::trace::ctf
