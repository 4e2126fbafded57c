// SPDX-License-Identifier: Apache-2.0
// Encodes protocol buffer messages: https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace rclrt::realtime {

/// Appends fields to a growing byte string. Not thread-safe, allocates: for set-up and export.
class ProtobufWriter {
 public:
  /// Wire type 0: uint32, uint64, bool and enum fields.
  void unsigned_integer(std::uint32_t field, std::uint64_t value);

  /// Wire type 0: int32 and int64 fields; a negative value takes ten bytes.
  void signed_integer(std::uint32_t field, std::int64_t value);

  /// Wire type 1: fixed64 fields.
  void fixed64(std::uint32_t field, std::uint64_t value);

  /// Wire type 1: double fields.
  void floating(std::uint32_t field, double value);

  /// Wire type 2: string and bytes fields.
  void string(std::uint32_t field, std::string_view value);

  /// Wire type 2: a message field. `fill` adds the fields of the message to this writer.
  template <typename Fill>
  void message(std::uint32_t field, Fill&& fill) {
    tag(field, WireType::kLengthDelimited);
    const std::size_t start = bytes_.size();
    std::forward<Fill>(fill)();
    prefix_with_length(start);
  }

  const std::string& bytes() const { return bytes_; }

  /// Removes the written bytes and keeps the memory.
  void clear() { bytes_.clear(); }

  /// Removes all but the first `size` bytes.
  void truncate(std::size_t size) { bytes_.resize(size); }

 private:
  enum class WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2 };

  void tag(std::uint32_t field, WireType type);
  void varint(std::uint64_t value);
  void prefix_with_length(std::size_t start);

  std::string bytes_;
};

}  // namespace rclrt::realtime
