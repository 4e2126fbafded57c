// SPDX-License-Identifier: Apache-2.0
// The V2 encoding: base64 of { cookie, length, zlib of { header of 40 bytes, counts } }, numbers
// big-endian. Counts are ZigZag LEB128 up to the last that is not zero; -n encodes n zeros.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "base64.hpp"
#include "rclrt/realtime/histogram_log.hpp"

namespace rclrt::realtime {

namespace {

using Bytes = std::vector<std::uint8_t>;

// The second hexadecimal digit from the right is a word size that V2 does not use.
constexpr std::uint32_t kCompressedCookie = 0x1c849304;
constexpr std::uint32_t kPlainCookie = 0x1c849303;
constexpr std::uint32_t kWordSizeMask = 0xf0;
constexpr std::uint32_t kWordSize = 0x10;
constexpr std::size_t kOuterHeaderBytes = 8;
constexpr std::size_t kHeaderBytes = 40;
constexpr std::size_t kMaxCountBytes = 9;
/// More samples than any program records: 285 years at 1 MHz. Sums of such histograms fit too.
constexpr std::uint64_t kMaxSamples = std::uint64_t{1} << 53;

[[noreturn]] void fail(const std::string& what) { throw HistogramLogError(what); }

template <typename Number>
void put(Bytes& bytes, Number number) {
  for (int shift = 8 * (static_cast<int>(sizeof(Number)) - 1); shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<std::uint8_t>(number >> shift));
  }
}

template <typename Number>
Number get(const std::uint8_t* bytes) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    number = static_cast<Number>(number << 8 | bytes[i]);
  }
  return number;
}

/// Writes ZigZag LEB128 in at most 9 bytes; the ninth has eight bits of the number.
void put_count(Bytes& bytes, std::int64_t count) {
  std::uint64_t rest =
      (static_cast<std::uint64_t>(count) << 1) ^ static_cast<std::uint64_t>(count >> 63);
  for (std::size_t i = 1; i < kMaxCountBytes && rest > 0x7f; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(rest | 0x80));
    rest >>= 7;
  }
  bytes.push_back(static_cast<std::uint8_t>(rest));
}

std::int64_t get_count(const Bytes& bytes, std::size_t& position) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < kMaxCountBytes; ++i) {
    if (position == bytes.size()) {
      fail("the histogram is damaged: its counts end in the middle of a number");
    }
    const std::uint64_t byte = bytes[position++];
    if (i + 1 == kMaxCountBytes) {
      number |= byte << 56;
    } else {
      number |= (byte & 0x7f) << (7 * i);
      if ((byte & 0x80) == 0) {
        break;
      }
    }
  }
  return static_cast<std::int64_t>(number >> 1) ^ -static_cast<std::int64_t>(number & 1);
}

Bytes encode_counts(const Histogram& histogram) {
  Bytes bytes;
  std::int64_t zeros = 0;
  for (std::size_t i = 0; i < histogram.buckets().size(); ++i) {
    const std::uint64_t count = histogram.count_in(i);
    if (count == 0) {
      ++zeros;
      continue;
    }
    if (zeros != 0) {
      put_count(bytes, -zeros);
      zeros = 0;
    }
    put_count(bytes, static_cast<std::int64_t>(count));
  }
  return bytes;
}

void decode_counts(const Bytes& bytes, Histogram& histogram) {
  const HistogramBuckets& buckets = histogram.buckets();
  std::size_t index = 0;
  std::uint64_t samples = 0;
  for (std::size_t position = 0; position < bytes.size();) {
    const std::int64_t count = get_count(bytes, position);
    const std::size_t room = buckets.size() - index;
    if (count <= 0) {
      const auto zeros = count == 0 ? 1 : ~static_cast<std::uint64_t>(count) + 1;
      if (zeros > room) {
        fail(std::to_string(zeros) + " empty buckets in the counts; expected at most " +
             std::to_string(room));
      }
      index += zeros;
      continue;
    }
    if (room == 0) {
      fail("the histogram is damaged: it has more counts than the " +
           std::to_string(buckets.size()) + " buckets of its range");
    }
    if (static_cast<std::uint64_t>(count) > kMaxSamples - samples) {
      fail("the histogram has more than 2^53 samples; expected fewer");
    }
    samples += static_cast<std::uint64_t>(count);
    histogram.record(std::min(buckets.lowest_in(index), buckets.range().highest),
                     static_cast<std::uint64_t>(count));
    ++index;
  }
}

Bytes compress(const Bytes& plain) {
  uLongf length = compressBound(plain.size());
  Bytes compressed(length);
  if (::compress(compressed.data(), &length, plain.data(), plain.size()) != Z_OK) {
    throw std::bad_alloc();  // the only cause with a buffer of compressBound
  }
  compressed.resize(length);
  return compressed;
}

/// Decompresses in steps, so that the size of the output is verified before the output is
/// allocated.
class Inflater {
 public:
  explicit Inflater(const std::uint8_t* data, std::size_t size) {
    stream_.next_in = const_cast<std::uint8_t*>(data);  // zlib only reads it
    stream_.avail_in = static_cast<uInt>(size);
    if (inflateInit(&stream_) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Fills `out`. Returns the number of bytes read: fewer if the data ended or is broken.
  std::size_t read(Bytes& out) {
    stream_.next_out = out.data();
    stream_.avail_out = static_cast<uInt>(out.size());
    while (stream_.avail_out != 0 && status_ == Z_OK) {
      status_ = inflate(&stream_, Z_NO_FLUSH);
    }
    return out.size() - stream_.avail_out;
  }

  /// Returns whether nothing follows and the checksum is right.
  bool at_end() {
    Bytes more(1);
    return read(more) == 0 && status_ == Z_STREAM_END && stream_.avail_in == 0;
  }

 private:
  z_stream stream_{};
  int status_ = Z_OK;
};

HistogramRange decode_range(const Bytes& header) {
  const auto cookie = get<std::uint32_t>(&header[0]);
  if ((cookie & ~kWordSizeMask) != kPlainCookie) {
    fail("the compressed data is not a V2 histogram: its cookie should be 0x1c849313");
  }
  if (get<std::uint32_t>(&header[8]) != 0) {
    fail(
        "the histogram has shifted values (normalizing index offset), which is not supported; "
        "expected offset 0");
  }
  const auto digits = get<std::uint32_t>(&header[12]);
  if (std::bit_cast<double>(get<std::uint64_t>(&header[32])) != 1.0) {
    fail(
        "the histogram has scaled values (conversion ratio), which is not supported; expected "
        "ratio 1");
  }
  return {static_cast<std::int64_t>(get<std::uint64_t>(&header[16])),
          static_cast<std::int64_t>(get<std::uint64_t>(&header[24])),
          static_cast<int>(std::min(digits, 99U))};
}

HistogramBuckets buckets_of(const HistogramRange& range) {
  try {
    return HistogramBuckets(range);
  } catch (const std::invalid_argument& error) {
    fail(error.what());
  }
}

}  // namespace

std::string encode_histogram(const Histogram& histogram) {
  const HistogramRange& range = histogram.buckets().range();
  const Bytes counts = encode_counts(histogram);
  Bytes plain;
  put(plain, kPlainCookie | kWordSize);
  put(plain, static_cast<std::uint32_t>(counts.size()));
  put(plain, std::uint32_t{0});  // normalizing index offset
  put(plain, static_cast<std::uint32_t>(range.significant_digits));
  put(plain, static_cast<std::uint64_t>(range.lowest));
  put(plain, static_cast<std::uint64_t>(range.highest));
  put(plain, std::bit_cast<std::uint64_t>(1.0));  // conversion ratio
  plain.insert(plain.end(), counts.begin(), counts.end());

  const Bytes compressed = compress(plain);
  Bytes bytes;
  put(bytes, kCompressedCookie | kWordSize);
  put(bytes, static_cast<std::uint32_t>(compressed.size()));
  bytes.insert(bytes.end(), compressed.begin(), compressed.end());
  return to_base64(bytes);
}

Histogram decode_histogram(std::string_view text, const HistogramLogLimits& limits) {
  if (text.size() > limits.line_bytes) {
    fail("a histogram of " + std::to_string(text.size()) + " characters, expected at most " +
         std::to_string(limits.line_bytes));
  }
  const auto bytes = from_base64(text);
  if (!bytes) {
    fail("the histogram is not base64");
  }
  if (bytes->size() < kOuterHeaderBytes ||
      (get<std::uint32_t>(bytes->data()) & ~kWordSizeMask) != kCompressedCookie) {
    fail("not a compressed V2 histogram: expected it to begin with HISTFAAA");
  }
  const std::size_t length = get<std::uint32_t>(bytes->data() + 4);
  if (length != bytes->size() - kOuterHeaderBytes) {
    fail("a histogram of " + std::to_string(bytes->size() - kOuterHeaderBytes) +
         " compressed bytes, expected " + std::to_string(length) + " as its header says");
  }

  Inflater inflater(bytes->data() + kOuterHeaderBytes, length);
  Bytes header(kHeaderBytes);
  if (inflater.read(header) != header.size()) {
    fail("the compressed data is damaged, expected a header of 40 bytes");
  }
  const HistogramRange range = decode_range(header);
  const std::size_t buckets = buckets_of(range).size();
  if (buckets > limits.histogram_bytes / sizeof(std::uint64_t)) {
    fail("a histogram of " + std::to_string(buckets) + " buckets, expected at most " +
         std::to_string(limits.histogram_bytes / sizeof(std::uint64_t)));
  }
  const std::size_t counts_bytes = get<std::uint32_t>(&header[4]);
  if (counts_bytes > buckets * kMaxCountBytes) {
    fail(std::to_string(counts_bytes) + " bytes of counts, expected at most " +
         std::to_string(buckets * kMaxCountBytes));
  }
  Bytes counts(counts_bytes);
  if (inflater.read(counts) != counts.size() || !inflater.at_end()) {
    fail("the compressed data is damaged, expected " + std::to_string(counts_bytes) +
         " bytes of counts");
  }
  Histogram histogram(range);
  decode_counts(counts, histogram);
  return histogram;
}

}  // namespace rclrt::realtime
