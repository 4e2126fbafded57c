// SPDX-License-Identifier: Apache-2.0
#include "protobuf_writer.hpp"

#include <array>
#include <bit>

namespace rclrt::realtime {

namespace {

constexpr std::size_t kMaxVarintBytes = 10;  // ceil(64 bits / 7 bits per byte)

struct Varint {
  std::array<char, kMaxVarintBytes> bytes{};
  std::size_t size = 0;
};

Varint encode_varint(std::uint64_t value) {
  Varint result;
  while (value >= 0x80U) {
    result.bytes[result.size++] = static_cast<char>((value & 0x7FU) | 0x80U);
    value >>= 7U;
  }
  result.bytes[result.size++] = static_cast<char>(value);
  return result;
}

}  // namespace

void ProtobufWriter::varint(std::uint64_t value) {
  const Varint encoded = encode_varint(value);
  bytes_.append(encoded.bytes.data(), encoded.size);
}

void ProtobufWriter::tag(std::uint32_t field, WireType type) {
  varint((std::uint64_t{field} << 3U) | static_cast<std::uint32_t>(type));
}

void ProtobufWriter::unsigned_integer(std::uint32_t field, std::uint64_t value) {
  tag(field, WireType::kVarint);
  varint(value);
}

void ProtobufWriter::signed_integer(std::uint32_t field, std::int64_t value) {
  unsigned_integer(field, static_cast<std::uint64_t>(value));
}

void ProtobufWriter::fixed64(std::uint32_t field, std::uint64_t value) {
  tag(field, WireType::kFixed64);
  for (unsigned shift = 0; shift < 64; shift += 8) {
    bytes_.push_back(static_cast<char>((value >> shift) & 0xFFU));
  }
}

void ProtobufWriter::floating(std::uint32_t field, double value) {
  fixed64(field, std::bit_cast<std::uint64_t>(value));
}

void ProtobufWriter::string(std::uint32_t field, std::string_view value) {
  tag(field, WireType::kLengthDelimited);
  varint(value.size());
  bytes_.append(value);
}

void ProtobufWriter::prefix_with_length(std::size_t start) {
  const Varint length = encode_varint(bytes_.size() - start);
  bytes_.insert(start, length.bytes.data(), length.size);
}

}  // namespace rclrt::realtime
