// SPDX-License-Identifier: Apache-2.0
// Checks of a stream file: packets that are missing, belong to another trace, or follow damage.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <rclrt/text/number.hpp>
#include <string_view>

#include "ctf_stream.hpp"

namespace rclrt::trace::ctf {

namespace {

/// Returns the bytes of a UUID; fewer than 16 if the text is not a UUID.
std::string uuid_bytes(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    i += text[i] == '-' ? 1 : 0;
    const auto value = text::parse_number<unsigned>(text.substr(i, 2), {}, 16);
    if (!value) {
      return {};
    }
    bytes.push_back(static_cast<char>(*value));
  }
  return bytes;
}

}  // namespace

/// Throws Damage unless the bytes at `begin` (in bits) are the trace's UUID.
void Stream::check_uuid(std::uint64_t begin) const {
  const std::string expected = uuid_bytes(metadata_.uuid);
  const std::string_view found(reinterpret_cast<const char*>(packet_.data()) + begin / 8, 16);
  if (expected.size() == 16 && expected != found) {
    throw Damage("it belongs to another trace: its UUID is not that of the metadata");
  }
}

/// Finds the next place where a packet of the trace can begin: the magic number and the UUID.
bool Stream::find_packet_after(std::uint64_t byte) {
  constexpr std::size_t kPattern = 4 + 16;
  constexpr std::size_t kChunk = 64UL * 1024;
  const Type* const header = metadata_.packet_header.get();
  const bool is_known = header != nullptr && header->members.size() > 1 &&
                        header->members[0].name == "magic" && header->members[1].name == "uuid" &&
                        header->members[0].type->size == 32;
  std::string pattern = uuid_bytes(metadata_.uuid);
  if (!is_known || pattern.size() + 4 != kPattern) {
    return false;
  }
  std::string magic;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t shift = 8 * (header->members[0].type->big_endian ? 3 - i : i);
    magic += static_cast<char>(kStreamMagic >> shift & 0xFFU);
  }
  pattern.insert(0, magic);
  std::ifstream in(file_, std::ios::binary);
  std::string chunk(kChunk, '\0');
  for (std::uint64_t from = byte + 1; from + kPattern <= file_size_; from += kChunk - kPattern) {
    in.seekg(static_cast<std::streamoff>(from));
    in.read(chunk.data(), kChunk);
    const std::string_view part(chunk.data(), static_cast<std::size_t>(in.gcount()));
    if (const std::size_t found = part.find(pattern); found != std::string_view::npos) {
      next_packet_ = from + found;
      return true;
    }
    in.clear();
  }
  return false;
}

/// Compares the size of the stream's file with the index that LTTng writes beside it. Without this
/// check, a file that is cut off between two packets looks complete.
void Stream::compare_with_index() {
  constexpr std::uint32_t kIndexMagic = 0xC1F1DCC1;
  constexpr std::size_t kIndexHeader = 16;
  constexpr std::size_t kLeastEntry = 16;  // offset and size, 8 bytes each
  constexpr std::size_t kMostEntry = 4096;
  std::ifstream in(file_.parent_path() / "index" / (file_.filename().string() + ".idx"),
                   std::ios::binary);
  const auto number = [&in](std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      value = value << 8U | static_cast<unsigned char>(in.get());
    }
    return value;
  };
  if (number(4) != kIndexMagic || number(4) != 1) {
    return;
  }
  number(4);
  const std::uint64_t entry = number(4);
  if (!in || entry < kLeastEntry || entry > kMostEntry) {
    return;
  }
  std::uint64_t missing = 0;
  for (std::uint64_t i = 0; in; ++i) {
    in.seekg(static_cast<std::streamoff>(kIndexHeader + i * entry));
    const std::uint64_t offset = number(8);
    const std::uint64_t size = number(8) / 8;
    // The index of an overwritten file keeps old entries, which lie behind the new content.
    missing += in && offset >= file_size_ && size > 0 ? 1 : 0;
  }
  if (missing > 0) {
    is_cut_off_ = true;
    note("the file is cut off: it has " + std::to_string(file_size_) +
         " bytes, and its index has " + std::to_string(missing) + " more packets");
  }
}

}  // namespace rclrt::trace::ctf
