// SPDX-License-Identifier: Apache-2.0
// Declarations in a trace's metadata: types, streams and events. The format is the Common Trace
// Format 1.8 (https://diamon.org/ctf/v1.8.3/), as LTTng writes it.
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

/// Magic number at the begin of each packet of a stream.
inline constexpr std::uint32_t kStreamMagic = 0xC1FC1FC1;
/// The latest time that is accepted, in ns: 70 years. The sum of two such times fits into 64 bits.
inline constexpr std::uint64_t kLatest_ns = std::uint64_t{1} << 61U;
/// The same, for signed times.
inline constexpr auto kLatestSigned_ns = static_cast<std::int64_t>(kLatest_ns);

struct Type;
using TypePtr = std::shared_ptr<const Type>;

/// Kinds of types. An enumeration is an integer with labels.
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
  std::string name;  ///< without the underscore that LTTng adds before user-defined names
  TypePtr type;
};

/// The parts of a packet and of an event in which a field can be looked up, in reading order.
enum class Scope : std::uint8_t {
  kPacketHeader,
  kPacketContext,
  kEventHeader,
  kStreamEventContext,
  kEventContext,
  kEventFields
};
inline constexpr std::size_t kScopes = 6;

/// Refers to an integer that is read earlier: the length of a sequence, or the tag of a variant.
struct Reference {
  /// None: search the enclosing structures, the nearest first, then the scopes before.
  std::optional<Scope> scope{};
  std::vector<std::string> path{};  ///< names of the structures, then of the integer
};

/// A label of an enumeration, for the values from `first` to `last`.
struct Label {
  std::string name;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// A type. Its kind decides which members are used. Sizes are in bits.
struct Type {
  TypeKind kind = TypeKind::kInteger;
  std::uint64_t size = 0;   ///< of an integer or a float: 1 to 64
  std::uint64_t align = 1;  ///< a power of 2
  bool is_signed = false;
  bool big_endian = false;
  bool is_clock = false;        ///< its value is the time, or the lower bits of it
  std::vector<Label> labels{};  ///< of an enumeration; empty: a plain integer
  std::vector<Member> members{};
  Reference tag{};        ///< of a variant: the enumeration that selects the option
  TypePtr element{};      ///< of an array or a sequence
  std::uint64_t count{};  ///< of an array
  Reference length{};     ///< of a sequence: the integer that holds the number of elements
  int depth = 0;          ///< nesting depth of the types within it
};

/// A class of events of a stream.
struct EventClass {
  std::string name;
  TypePtr context;  ///< may be null, like all members below
  TypePtr fields;
};

/// A class of streams.
struct StreamClass {
  TypePtr packet_context;
  TypePtr event_header;
  TypePtr event_context;
  std::map<std::uint64_t, EventClass> events;  ///< by id
};

/// The content of the metadata.
struct Metadata {
  std::string uuid;      ///< of the trace; empty: not stated
  std::string hostname;  ///< of the machine; empty: not stated
  std::string domain;    ///< the traced domain: "ust", "kernel"; empty: not stated
  std::string session;   ///< the session's name and creation time; empty: not stated
  std::string process;   ///< with per-pid buffers: the traced process; empty: not stated
  std::string clock;     ///< UUID of the clock: the machine's boot; empty: not stated
  /// The pid namespace of the processes; 0: not stated, or stated by the events.
  std::uint64_t pid_namespace = 0;
  /// The time of day minus CLOCK_MONOTONIC; 0: not known.
  std::int64_t clock_offset_ns = 0;
  std::uint64_t clock_frequency = 1'000'000'000;  ///< in Hz
  /// Whether the text may be cut off: it has no end mark.
  bool may_be_cut = false;
  TypePtr packet_header;
  std::map<std::uint64_t, StreamClass> streams;  ///< by id
};

}  // namespace rclrt::trace::ctf
