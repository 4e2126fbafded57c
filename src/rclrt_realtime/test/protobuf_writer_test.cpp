// SPDX-License-Identifier: Apache-2.0
// The expected bytes follow from https://protobuf.dev/programming-guides/encoding, which has 150,
// "testing" and the nested 150 as examples.
#include "../src/protobuf_writer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace rclrt::realtime {
namespace {

using std::string_literals::operator""s;

TEST(ProtobufWriter, EncodesAnIntegerInSevenBitGroupsLowestFirst) {
  ProtobufWriter writer;
  // 150 = 1 0010110b: low group 0010110 with continuation bit = 0x96, then 0x01; tag 1<<3|0 = 08.
  writer.unsigned_integer(1, 150);
  EXPECT_EQ(writer.bytes(), "\x08\x96\x01"s);
}

TEST(ProtobufWriter, EncodesTheBordersOfOneAndTwoByteIntegers) {
  ProtobufWriter writer;
  writer.unsigned_integer(1, 0);
  writer.unsigned_integer(1, 127);
  writer.unsigned_integer(1, 128);
  EXPECT_EQ(writer.bytes(), "\x08\x00\x08\x7F\x08\x80\x01"s);
}

TEST(ProtobufWriter, EncodesTheLargestIntegerInTenBytes) {
  ProtobufWriter writer;
  // 64 bits = 9 groups of seven ones and a last single one.
  writer.unsigned_integer(1, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(writer.bytes(), "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s);
}

TEST(ProtobufWriter, EncodesANegativeIntegerAsItsTwosComplement) {
  ProtobufWriter writer;
  // -2 = 2^64 - 2: the lowest group is 1111110, the others as above.
  writer.signed_integer(1, -2);
  EXPECT_EQ(writer.bytes(), "\x08\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s);
}

TEST(ProtobufWriter, EncodesAFieldNumberAboveFifteenInTwoTagBytes) {
  ProtobufWriter writer;
  // Field 58, wire type 0: 58<<3 = 464 = 11 1010000b: D0 03.
  writer.unsigned_integer(58, 3);
  EXPECT_EQ(writer.bytes(), "\xD0\x03\x03"s);
}

TEST(ProtobufWriter, EncodesAStringWithItsLength) {
  ProtobufWriter writer;
  // Tag 2<<3|2 = 12.
  writer.string(2, "testing");
  EXPECT_EQ(writer.bytes(), "\x12\x07testing"s);
}

TEST(ProtobufWriter, EncodesFixed64LittleEndian) {
  ProtobufWriter writer;
  // Field 47, wire type 1: 47<<3|1 = 377 = 10 1111001b: F9 02.
  writer.fixed64(47, 0x0102030405060708U);
  EXPECT_EQ(writer.bytes(), "\xF9\x02\x08\x07\x06\x05\x04\x03\x02\x01"s);
}

TEST(ProtobufWriter, EncodesADoubleAsItsIeeeBits) {
  ProtobufWriter writer;
  // 1.0 = 0x3FF0000000000000; tag 5<<3|1 = 29.
  writer.floating(5, 1.0);
  EXPECT_EQ(writer.bytes(), "\x29\x00\x00\x00\x00\x00\x00\xF0\x3F"s);
}

TEST(ProtobufWriter, EncodesANestedMessageWithTheLengthOfItsFields) {
  ProtobufWriter writer;
  // Tag 3<<3|2 = 1A.
  writer.message(3, [&] { writer.unsigned_integer(1, 150); });
  EXPECT_EQ(writer.bytes(), "\x1A\x03\x08\x96\x01"s);
}

TEST(ProtobufWriter, EncodesAnEmptyMessageWithLengthZero) {
  ProtobufWriter writer;
  writer.message(8, [] {});  // tag 8<<3|2 = 42
  EXPECT_EQ(writer.bytes(), "\x42\x00"s);
}

TEST(ProtobufWriter, PutsATwoByteLengthBeforeANestedMessageOf128Bytes) {
  ProtobufWriter writer;
  // Inner: tag, one length byte, 126 characters = 128 bytes = 80 01.
  writer.message(1, [&] { writer.string(1, std::string(126, 'x')); });
  EXPECT_EQ(writer.bytes(), "\x0A\x80\x01\x0A\x7E"s + std::string(126, 'x'));
}

TEST(ProtobufWriter, NestsMessagesToAnyDepth) {
  ProtobufWriter writer;
  writer.message(1, [&] {
    writer.message(1, [&] { writer.unsigned_integer(1, 1); });
    writer.unsigned_integer(2, 2);
  });
  EXPECT_EQ(writer.bytes(), "\x0A\x06\x0A\x02\x08\x01\x10\x02"s);
}

TEST(ProtobufWriter, StartsAfreshAfterClear) {
  ProtobufWriter writer;
  writer.unsigned_integer(1, 1);
  writer.clear();
  writer.unsigned_integer(2, 2);
  EXPECT_EQ(writer.bytes(), "\x10\x02"s);
}

}  // namespace
}  // namespace rclrt::realtime
