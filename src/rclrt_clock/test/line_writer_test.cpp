// SPDX-License-Identifier: Apache-2.0
#include "line_writer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <string>

namespace rclrt::clock {
namespace {

class LineWriterTest : public ::testing::Test {
 protected:
  LineWriterTest() {
    std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(::pipe(ends_.data()), 0);
  }
  ~LineWriterTest() override {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  std::string read_some() const {
    std::string text(1 << 16, '\0');
    text.resize(static_cast<std::size_t>(::read(ends_[0], text.data(), text.size())));
    return text;
  }

  std::array<int, 2> ends_{};
};

TEST_F(LineWriterTest, LinesAreWrittenInTheirOrder) {
  {
    LineWriter writer(ends_[1], [] {});
    EXPECT_TRUE(writer.write("one"));
    EXPECT_TRUE(writer.write("two"));
  }
  EXPECT_EQ(read_some(), "one\ntwo\n");
}

TEST_F(LineWriterTest, AReaderThatDoesNotReadDelaysNoWriterAndLostLinesAreKnown) {
  LineWriter writer(ends_[1], [] {});
  const std::string line(1'000, 'x');
  std::size_t lost = 0;
  for (std::size_t i = 0; i < LineWriter::kMostLines + 1'000; ++i) {
    lost += writer.write(line) ? 0 : 1;
  }
  // A pipe has 64 KiB by default, so about 65 lines are not in the queue.
  EXPECT_GT(lost, 500U);
  EXPECT_LE(lost, 1'000U);
  EXPECT_FALSE(writer.has_failed());
}

TEST_F(LineWriterTest, AReaderThatIsGoneIsToldOnce) {
  std::atomic<int> calls{0};
  LineWriter writer(ends_[1], [&] {
    ++calls;
    calls.notify_all();
  });
  ::close(ends_[0]);
  ends_[0] = -1;
  writer.write("one");
  calls.wait(0);
  writer.write("two");
  EXPECT_TRUE(writer.has_failed());
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace rclrt::clock
