// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/histogram_log.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>

namespace rclrt::realtime {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t kStart_ns = 1'763'800'000'123'456'789;

Histogram sample(std::uint64_t seed, int values) {
  std::mt19937_64 random(seed);
  Histogram histogram;
  for (int i = 0; i < values; ++i) {
    histogram.record(static_cast<std::int64_t>(random() >> (24 + random() % 40)),
                     1 + random() % 100'000);
  }
  return histogram;
}

void expect_equal(const Histogram& a, const Histogram& b) {
  ASSERT_EQ(a.buckets().range(), b.buckets().range());
  for (std::size_t i = 0; i < a.buckets().size(); ++i) {
    ASSERT_EQ(a.count_in(i), b.count_in(i)) << i;
  }
}

std::string log_of(const std::string& line) {
  return "#[Histogram log format version 1.3]\n#[StartTime: 1000000000.500 (seconds since "
         "epoch)]\n" +
         line + "\n";
}

std::string error_of(const std::string& text, const HistogramLogLimits& limits = {}) {
  std::istringstream in(text);
  HistogramLogReader reader(in, "a.hlog", limits);
  try {
    while (reader.next()) {
    }
  } catch (const HistogramLogError& error) {
    return error.what();
  }
  return "no error";
}

TEST(HistogramEncoding, AHistogramReadBackIsTheSame) {
  for (int values : {0, 1, 10, 1000, 50'000}) {
    const Histogram written = sample(static_cast<std::uint64_t>(values), values);
    expect_equal(decode_histogram(encode_histogram(written)), written);
  }
}

TEST(HistogramEncoding, RangesAndLargeCountsAreKept) {
  Histogram histogram({1000, 5'000'000, 2});
  histogram.record(0);
  histogram.record(5'000'000, (std::uint64_t{1} << 53) - 1);
  expect_equal(decode_histogram(encode_histogram(histogram)), histogram);
}

TEST(HistogramEncoding, WhatWasOutOfRangeIsWhereItWasClampedTo) {
  Histogram histogram;
  histogram.record(-5);
  histogram.record(INT64_MAX);
  const Histogram read = decode_histogram(encode_histogram(histogram));
  EXPECT_EQ(read.count(), 2U);
  EXPECT_EQ(read.min(), 0);
  EXPECT_EQ(read.above_range(), 0U);
}

TEST(HistogramLogReader, SaysOfADirectoryThatItCannotBeRead) {
  std::ifstream directory("/");
  HistogramLogReader reader(directory, "/");
  EXPECT_THAT([&] { reader.next(); },
              testing::ThrowsMessage<HistogramLogError>(HasSubstr("/:1: cannot be read")));
}

TEST(HistogramLog, IntervalsReadBackAreTheSame) {
  std::stringstream file;
  HistogramLogWriter writer(file, kStart_ns);
  writer.comment("written by a test");
  writer.write({"control", kStart_ns, 1'000'000'001, sample(1, 100)});
  writer.write({"", kStart_ns + 1'000'000'001, 0, Histogram()});
  HistogramLogReader reader(file, "a.hlog");
  const auto first = reader.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->tag, "control");
  EXPECT_EQ(first->start_ns, kStart_ns);
  EXPECT_EQ(first->length_ns, 1'000'000'001);
  expect_equal(first->histogram, sample(1, 100));
  const auto second = reader.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->tag, "");
  EXPECT_EQ(second->histogram.count(), 0U);
  EXPECT_FALSE(reader.next());
}

TEST(HistogramLog, BeginsWithTheHeaderOfFormat13) {
  std::ostringstream file;
  HistogramLogWriter(file, kStart_ns);
  EXPECT_EQ(file.str(),
            "#[Histogram log format version 1.3]\n"
            "#[StartTime: 1763800000.123456789 (seconds since epoch), 2025-11-22T08:26:40Z]\n"
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
            "\"Interval_Compressed_Histogram\"\n");
}

TEST(HistogramLog, StampsLongBeforeTheStartTimeCountFromIt) {
  std::istringstream in(log_of("1.25,2,3.0," + encode_histogram(sample(2, 5))));
  HistogramLogReader reader(in, "a.hlog");
  EXPECT_EQ(reader.next()->start_ns, 1'000'000'001'750'000'000);
}

TEST(HistogramLog, StampsCountFromAStatedBaseTime) {
  std::istringstream in("#[BaseTime: 500.0 (seconds since epoch)]\r\n" +
                        log_of("Tag=a,1.25,2,3.0," + encode_histogram(sample(2, 5))));
  HistogramLogReader reader(in, "a.hlog");
  EXPECT_EQ(reader.next()->start_ns, 501'250'000'000);
}

TEST(HistogramLog, AnErrorSaysWhereWhatAndWhatWasExpected) {
  const std::string good = encode_histogram(sample(3, 50));
  EXPECT_EQ(error_of(log_of("x,1,2," + good)),
            "a.hlog:3: time \"x\", expected [Tag=NAME,]START,LENGTH,MAX,HISTOGRAM");
  EXPECT_EQ(error_of(log_of("1,2")),
            "a.hlog:3: time \"2\", expected [Tag=NAME,]START,LENGTH,MAX,HISTOGRAM");
  EXPECT_EQ(error_of(log_of("1,2,3")),
            "a.hlog:3: no histogram, expected [Tag=NAME,]START,LENGTH,MAX,HISTOGRAM");
  EXPECT_EQ(error_of(log_of("Tag=a")),
            "a.hlog:3: tag without end, expected [Tag=NAME,]START,LENGTH,MAX,HISTOGRAM");
  EXPECT_EQ(error_of(log_of("1,2,3,***")), "a.hlog:3: the histogram is not base64");
  EXPECT_EQ(error_of(log_of("1,2,3,AAAA")),
            "a.hlog:3: not a compressed V2 histogram: expected it to begin with HISTFAAA");
  EXPECT_THAT(error_of(log_of("1,2,3," + good.substr(0, good.size() / 8 * 4))),
              HasSubstr("as its header says"));
  EXPECT_EQ(error_of("#[Histogram log format version 2.0]\n"),
            "a.hlog:1: log format \"2.0]\", expected 1.0 to 1.3");
  EXPECT_EQ(error_of("\n#[StartTime: soon]\n"),
            "a.hlog:2: time \"soon\", expected seconds since 1970");
  EXPECT_EQ(error_of(log_of("99999999999999999999,2,3," + good)),
            "a.hlog:3: time \"99999999999999999999\", expected "
            "[Tag=NAME,]START,LENGTH,MAX,HISTOGRAM");
}

TEST(HistogramLog, LimitsKeepAFileFromUsingMoreMemory) {
  const std::string line = "1,2,3," + encode_histogram(sample(3, 50));
  EXPECT_EQ(error_of(log_of(line), {.line_bytes = 200}),
            "a.hlog:3: a line of more than 200 bytes, expected a shorter one");
  EXPECT_EQ(error_of(log_of(line), {.histogram_bytes = 200'000}),
            "a.hlog:3: a histogram of 33792 buckets, expected at most 25000");
}

TEST(HistogramLog, ReadingGoesOnBehindABadLine) {
  std::istringstream in(log_of("nonsense\n1,2,3," + encode_histogram(sample(2, 5))));
  HistogramLogReader reader(in, "a.hlog");
  EXPECT_THAT([&] { reader.next(); },
              ThrowsMessage<HistogramLogError>(HasSubstr("a.hlog:3: time \"nonsense\", expected")));
  EXPECT_EQ(reader.next()->histogram.count(), sample(2, 5).count());
}

TEST(HistogramLog, WhatWouldNotReadBackIsNotWritten) {
  std::ostringstream file;
  HistogramLogWriter writer(file, kStart_ns);
  EXPECT_THAT([&] { writer.comment("two\nlines"); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("a comment in a histogram log must not have a line break")));
  EXPECT_THAT([&] { writer.write({"a,b", 0, 0, Histogram()}); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("a tag in a histogram log must not have a comma")));
  EXPECT_THAT([&] { writer.write({"a", -1, 0, Histogram()}); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("the times of an interval in a histogram log must not be negative")));
  file.setstate(std::ios::badbit);
  EXPECT_THAT([&] { writer.comment("lost"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("writing a histogram log failed")));
}

TEST(HistogramLog, AFileThatCannotBeReadIsAnError) {
  std::istringstream in;
  in.setstate(std::ios::failbit);
  EXPECT_THAT([&] { HistogramLogReader(in, "missing.hlog"); },
              ThrowsMessage<HistogramLogError>(HasSubstr("missing.hlog: cannot be read")));
}

/// Changes, inserts and removes bytes anywhere: the reader either reads or refuses each line.
TEST(HistogramLog, MutatedFilesAreReadOrRefused) {
  std::stringstream file;
  HistogramLogWriter writer(file, kStart_ns);
  writer.write({"control", kStart_ns, 1'000'000'000, sample(4, 30)});
  writer.write({"", kStart_ns, 1'000'000'000, sample(5, 3)});
  const std::string good = file.str();
  std::mt19937_64 random(20'261'121);
  int refused = 0;
  for (int round = 0; round < 2'000; ++round) {
    std::string text = good;
    for (std::uint64_t i = 0; i <= random() % 4; ++i) {
      const std::size_t position = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[position] = static_cast<char>(random());
          break;
        case 1:
          text.insert(position, 1, static_cast<char>(random()));
          break;
        default:
          text.erase(position, 1 + random() % 8);
      }
    }
    refused += error_of(text) == "no error" ? 0 : 1;
  }
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace rclrt::realtime
