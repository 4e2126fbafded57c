// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/logging.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {
std::atomic<std::uint64_t> allocations{0};
}  // namespace

// Counts every allocation of the program, by any thread. Not inlined, because GCC would report
// malloc and free as a mismatch with new and delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size)) {
    return memory;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace rclrt::realtime {
namespace {

using std::chrono::duration;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Kept final : public LogSink {
 public:
  void write(const LogLine& line) override {
    messages.emplace_back(line.message);
    threads.emplace_back(line.thread);
    lines.push_back(line);
  }
  void flush() override { ++flushes; }

  std::vector<std::string> messages;
  std::vector<std::string> threads;
  std::vector<LogLine> lines;  // their texts are no longer valid
  int flushes = 0;
};

/// With this period no pass happens by itself while a test runs.
LoggerOptions by_hand() { return {.period = std::chrono::hours(1)}; }

class ALogger : public testing::Test {
 protected:
  /// Returns the message that a call with these arguments logs.
  template <typename... Args>
  std::string logged(LogFormat<std::type_identity_t<Args>...> format, const Args&... arguments) {
    log_.info(format, arguments...);
    logger_.flush();
    return kept_.messages.empty() ? "nothing" : kept_.messages.back();
  }

  Kept kept_;
  Logger logger_{{kept_}, by_hand()};
  ThreadLogger log_{logger_, "control"};
};

TEST_F(ALogger, FormatsNumbers) {
  EXPECT_EQ(logged("{} {} {}", -1, 2U, std::int64_t{INT64_MIN}), "-1 2 -9223372036854775808");
  EXPECT_EQ(logged("{} {:#x}", UINT64_MAX, std::uint8_t{255}), "18446744073709551615 0xff");
  EXPECT_EQ(logged("{} {} {}", std::int8_t{-5}, short{7}, 'c'), "-5 7 c");
  EXPECT_EQ(logged("{:.2f} {} {}", 3.14159, 0.1F, 0.1), "3.14 0.1 0.1");
  EXPECT_EQ(logged("{} {}", std::numeric_limits<double>::infinity(), -0.0), "inf -0");
  EXPECT_EQ(logged("{} {}", true, false), "true false");
}

TEST_F(ALogger, FormatsTextsThatAreGoneWhenItDoes) {
  {
    std::string text = "temporary";
    std::array<char, 6> bytes{'a', 'r', 'r', 'a', 'y', '\0'};
    char unterminated[3] = {'x', 'y', 'z'};
    const char* const none = nullptr;
    log_.info("{} {} {} {} {}|{}|", text, std::string_view(text).substr(4), bytes.data(),
              unterminated, none, "");
    text.assign("overwritten");
    bytes.fill('!');
    unterminated[0] = '!';
  }
  logger_.flush();
  EXPECT_THAT(kept_.messages, ElementsAre("temporary orary array xyz (null)||"));
}

TEST_F(ALogger, CutsLongTextsAndMarksThem) {
  EXPECT_EQ(logged("{}", std::string(kMaxLogString, 'a')), std::string(kMaxLogString, 'a'));
  EXPECT_EQ(logged("{}", std::string(kMaxLogString + 1, 'a')),
            std::string(kMaxLogString, 'a') + "\xE2\x80\xA6");
  EXPECT_EQ(logged("{}", std::string(5'000, 'a').c_str()),
            std::string(kMaxLogString, 'a') + "\xE2\x80\xA6");
}

TEST_F(ALogger, FormatsEnumsPointersAndDurations) {
  enum class Color : std::uint8_t { kRed = 3 };
  EXPECT_EQ(logged("{} {}", Color::kRed, LogLevel::kError), "3 3");
  int object = 0;
  EXPECT_THAT(logged("{}", &object), testing::StartsWith("0x"));
  EXPECT_EQ(logged("{}", nullptr), "0x0");
  using namespace std::chrono_literals;
  EXPECT_EQ(logged("{} {} {} {} {}", 5ns, 7ms, 8s, 9min, 10h), "5ns 7ms 8s 9m 10h");
  EXPECT_THAT(logged("{}", -6us), testing::AnyOf("-6us", "-6\xC2\xB5s")) << "by version of fmt";
  EXPECT_EQ(
      logged("{} {}", duration<double, std::milli>(2.5), duration<int, std::ratio<1, 100'000>>(3)),
      "0.0025s 30000ns");
}

TEST_F(ALogger, TakesFifteenArgumentsOfTheLargestSize) {
  const std::string text(2'000, 'x');
  const std::string message = logged("{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}", text, text, text, text, text,
                                     text, text, text, text, text, text, text, text, text, text);
  EXPECT_EQ(message.size(), 15 * (kMaxLogString + 3));
}

TEST_F(ALogger, TellsWhoLoggedWhenAndWhere) {
  const std::int64_t before_ns = monotonic_now_ns();
  log_.error("late");
  const auto line = static_cast<std::uint32_t>(__LINE__ - 1);
  const std::int64_t after_ns = monotonic_now_ns();
  const std::int64_t wall_ns = read_clock_ns(CLOCK_REALTIME);
  logger_.flush();
  ASSERT_EQ(kept_.lines.size(), 1U);
  EXPECT_EQ(kept_.lines[0].level, LogLevel::kError);
  EXPECT_EQ(kept_.threads[0], "control");
  EXPECT_EQ(kept_.lines[0].file, __FILE__);
  EXPECT_EQ(kept_.lines[0].line, line);
  const std::int64_t error_ns = 100'000;
  EXPECT_GE(kept_.lines[0].monotonic_ns, before_ns - error_ns);
  EXPECT_LE(kept_.lines[0].monotonic_ns, after_ns + error_ns);
  EXPECT_NEAR(static_cast<double>(kept_.lines[0].wall_ns), static_cast<double>(wall_ns), 60e9);
}

TEST_F(ALogger, PrintsTheFormatWhenItDoesNotSuitTheTypes) {
  EXPECT_THAT(logged("speed {:d} m/s", "fast"),
              testing::AllOf(HasSubstr("speed {:d} m/s"), HasSubstr("cannot be formatted")));
  EXPECT_THAT(logged("{:%Q}", 1.5), HasSubstr("{:%Q}"));
  EXPECT_THAT(logged("{:.3}", 7), HasSubstr("cannot be formatted"));
  EXPECT_EQ(logged("{}", 1), "1") << "and goes on";
  EXPECT_EQ(logger_.statistics().format_errors, 3U);
}

TEST_F(ALogger, LogsOnlyFromItsLevelOn) {
  log_.debug("no");
  log_.info("yes");
  logger_.set_level(LogLevel::kError);
  EXPECT_EQ(logger_.level(), LogLevel::kError);
  EXPECT_FALSE(log_.logs(LogLevel::kWarn));
  log_.warn("no");
  log_.fatal("yes, too");
  logger_.set_level(LogLevel::kOff);
  log_.fatal("no");
  logger_.flush();
  EXPECT_THAT(kept_.messages, ElementsAre("yes", "yes, too"));
}

TEST_F(ALogger, LogsNothingBelowTheLevelOfCompilation) {
  BasicThreadLogger<LogLevel::kWarn> log(logger_, "quiet");
  logger_.set_level(LogLevel::kDebug);
  log.info("no");
  log.warn("yes");
  logger_.flush();
  EXPECT_THAT(kept_.messages, ElementsAre("yes"));
}

TEST_F(ALogger, OrdersTheLinesOfAllThreadsByTime) {
  ThreadLogger other(logger_, "other");
  for (int i = 0; i < 10; i += 2) {
    log_.info("{}", i);
    other.info("{}", i + 1);
  }
  logger_.flush();
  EXPECT_THAT(kept_.messages, ElementsAre("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"));
  EXPECT_EQ(kept_.threads[1], "other");
  EXPECT_EQ(logger_.statistics().lines, 10U);
}

TEST_F(ALogger, SaysHowManyLinesAFullRingLost) {
  const LoggerOptions options{.period = std::chrono::hours(1), .ring_bytes = 16 * 1024};
  Logger small({kept_}, options);
  ThreadLogger log(small, "busy");
  constexpr int kLines = 1'000;
  const LogFormat<int> format("{}");
  const int room = 16 * 1024 / (32 + 8 + static_cast<int>((2 + format.file().size() + 7) / 8 * 8));
  for (int i = 0; i < kLines; ++i) {
    log.info("{}", i);
  }
  small.flush();
  ASSERT_EQ(kept_.messages.size(), static_cast<std::size_t>(room + 1));
  EXPECT_EQ(kept_.messages[room - 1], std::to_string(room - 1));
  EXPECT_EQ(kept_.messages[room],
            std::to_string(kLines - room) + " lines dropped: the ring was full");
  EXPECT_EQ(kept_.threads[room], "busy");
  EXPECT_EQ(kept_.lines[room].level, LogLevel::kWarn);
  EXPECT_EQ(small.statistics().dropped, static_cast<std::uint64_t>(kLines - room));
  EXPECT_EQ(small.statistics().lines, static_cast<std::uint64_t>(room));
  EXPECT_EQ(log.dropped(), static_cast<std::uint64_t>(kLines - room));
  log.info("on");
  small.flush();
  EXPECT_EQ(kept_.messages.back(), "on");
}

TEST_F(ALogger, LogsAtMostOneLinePerPeriodOfARateLimitAndCountsTheOthers) {
  static constinit LogRateLimit limit(std::chrono::hours(1));
  for (int i = 0; i < 5; ++i) {
    log_.warn(limit, "late {}", i);
  }
  logger_.flush();
  EXPECT_THAT(kept_.messages, ElementsAre("late 0"));
  LogRateLimit always(std::chrono::nanoseconds(0));
  always.give_back(4);
  log_.warn(always, "late {}", 5);
  logger_.flush();
  EXPECT_EQ(kept_.messages.back(), "late 5 [4 like it suppressed]");
}

TEST(LogRateLimit, AdmitsTheFirstOfEachPeriod) {
  LogRateLimit limit(std::chrono::nanoseconds(100));
  EXPECT_EQ(limit.admit(1'000), 0U);
  EXPECT_EQ(limit.admit(1'050), std::nullopt);
  EXPECT_EQ(limit.admit(1'099), std::nullopt);
  EXPECT_EQ(limit.admit(1'100), 2U);
  EXPECT_EQ(limit.admit(5'000), 0U);
}

TEST(LogRateLimit, OfTheLongestPeriodAdmitsOneInAll) {
  LogRateLimit once(std::chrono::nanoseconds::max());
  EXPECT_EQ(once.admit(1'000), 0U);
  EXPECT_EQ(once.admit(INT64_MAX - 1), std::nullopt);
}

TEST(CallbackLog, CallsItsFunctionWithEachLine) {
  std::vector<std::string> seen;
  CallbackLog callback([&](const LogLine& line) { seen.emplace_back(line.message); });
  Logger logger({callback}, by_hand());
  ThreadLogger log(logger, "control");
  log.warn("{} of {}", 1, 2);
  log.info("done");
  logger.flush();
  EXPECT_THAT(seen, ElementsAre("1 of 2", "done"));
}

TEST_F(ALogger, HandsOverWhatAThreadLoggedBeforeItsHandleEnded) {
  std::thread([&] { ThreadLogger(logger_, "short-lived").info("bye"); }).join();
  logger_.flush();
  EXPECT_THAT(kept_.threads, ElementsAre("short-lived"));
  logger_.flush();
  EXPECT_EQ(logger_.statistics().threads, 1U) << "only that of the fixture is left";
}

TEST_F(ALogger, CountsWhatItsSinksThrowAndGoesOn) {
  class Broken final : public LogSink {
   public:
    void write(const LogLine&) override { throw std::runtime_error("disk full"); }
  } broken;
  Logger logger({broken, kept_}, by_hand());
  ThreadLogger log(logger, "control");
  log.info("one");
  log.info("two");
  logger.flush();
  EXPECT_THAT(kept_.messages, ElementsAre("one", "two"));
  EXPECT_EQ(logger.statistics().sink_errors, 2U);
  EXPECT_EQ(logger.statistics().last_error, "disk full");
}

TEST(Logger, HandsOverEverythingWhenItEndsAndThreadsMayOutliveIt) {
  Kept kept;
  std::optional<Logger> logger(std::in_place, std::vector<std::reference_wrapper<LogSink>>{kept},
                               by_hand());
  ThreadLogger log(*logger, "control");
  log.info("last words");
  logger.reset();
  log.fatal("too late");
  EXPECT_THAT(kept.messages, ElementsAre("last words"));
  EXPECT_GT(kept.flushes, 0);
}

TEST(Logger, RefusesARingThatTheLargestLineDoesNotFit) {
  EXPECT_THAT(
      [&] { Logger({}, {.ring_bytes = 1'024}); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("Logger: ring_bytes must be at least")));
}

// In the steady state, neither the calling thread nor the logger's thread allocates.
TEST_F(ALogger, AllocatesNothingOnceItHasSeenItsLargestLine) {
  class Quiet final : public LogSink {
   public:
    void write(const LogLine& line) override { bytes += line.message.size(); }
    std::size_t bytes = 0;
  } quiet;
  Logger logger({quiet}, by_hand());
  ThreadLogger log(logger, "control");
  const std::string text =
      "a text that is too long for the small-string optimisation of any library";
  const auto log_some = [&] {
    for (int i = 0; i < 100; ++i) {
      log.info("{} {} {} {}", i, 0.5 * i, text, std::chrono::microseconds(i));
    }
    logger.flush();
  };
  log_some();
  const std::uint64_t before = allocations;
  for (int round = 0; round < 20; ++round) {
    log_some();
  }
  EXPECT_EQ(allocations - before, 0U);
  EXPECT_GT(quiet.bytes, 100'000U);
  EXPECT_EQ(logger.statistics().dropped, 0U);
}

// Under ThreadSanitizer this tests the lifetime of the rings and the records in them.
TEST(Logger, LosesNoLineUncountedWhileThreadsComeAndGo) {
  constexpr int kThreads = 4;
  constexpr int kHandles = 20;
  constexpr int kLines = 100;
  Kept kept;
  LoggerStatistics statistics;
  {
    Logger logger({kept}, {.period = std::chrono::milliseconds(1), .ring_bytes = 16 * 1024});
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&logger, t] {
        for (int handle = 0; handle < kHandles; ++handle) {
          ThreadLogger log(logger, "worker");
          for (int i = 0; i < kLines; ++i) {
            log.info("{} {} {}", t, std::string(static_cast<std::size_t>(i), 'x'), i);
          }
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    logger.flush();
    statistics = logger.statistics();
  }
  EXPECT_EQ(statistics.lines + statistics.dropped,
            static_cast<std::uint64_t>(kThreads * kHandles * kLines));
  for (const std::string& message : kept.messages) {
    if (message.find("dropped") == std::string::npos) {
      const auto last = message.rfind(' ');
      EXPECT_EQ(std::to_string(last - 2), message.substr(last + 1)) << message;
    }
  }
}

}  // namespace
}  // namespace rclrt::realtime
