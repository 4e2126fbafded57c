// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/stop_signal.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace rclrt::realtime {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// A child process; its standard output and error are read as one text. The tests wait for its
/// output, not for a time.
class Child {
 public:
  template <typename Body>
  explicit Child(Body body) {
    int ends[2];
    if (pipe(ends) != 0) {
      throw std::runtime_error("no pipe");
    }
    std::fflush(nullptr);  // or the child prints it again
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      dup2(ends[1], STDERR_FILENO);
      close(ends[0]);
      close(ends[1]);
      _exit(body());
    }
    close(ends[1]);
    from_ = ends[0];
  }
  ~Child() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(from_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Reads until the child has printed `text`; returns false if it ended without printing it.
  bool says(const std::string& text) {
    char c = 0;
    while (said_.find(text) == std::string::npos) {
      if (read(from_, &c, 1) != 1) {
        return false;
      }
      said_ += c;
    }
    return true;
  }

  void kill(int signal) const { ::kill(pid_, signal); }

  /// Waits for the child; returns the status of waitpid.
  int wait() {
    while (says("\x01")) {  // never printed: reads to the end
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

  const std::string& said() const { return said_; }

 private:
  pid_t pid_ = -1;
  int from_ = -1;
  std::string said_;
};

void say(const char* text) {
  if (write(STDOUT_FILENO, text, std::char_traits<char>::length(text)) < 0) {
    _exit(98);
  }
}

/// Like stop.wait(). ThreadSanitizer runs signal handlers only when the thread calls a function
/// that it knows. Reading the clock is one; the system call to sleep on a futex is not.
void await(const StopSignal& stop) {
  while (!stop.wait_until(monotonic_now_ns() + 10'000'000)) {
  }
}

TEST(StopSignal, LetsTheProgramEndInOrder) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Child child([&] {
      int first = 0;
      {
        const StopSignal stop(hours(1));
        say("ready\n");
        await(stop);
        first = stop.signal();
      }
      return first == signal ? 0 : 1;
    });
    ASSERT_TRUE(child.says("ready"));
    child.kill(signal);
    const int status = child.wait();
    ASSERT_TRUE(WIFEXITED(status)) << child.said();
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(child.said(), "ready\n");
  }
}

TEST(StopSignal, EndsAProgramThatHasNotStoppedByTheDeadlineAndSaysSo) {
  Child child([] {
    const StopSignal stop(milliseconds(20));
    say("ready\n");
    for (;;) {
      pause();
    }
    return 0;
  });
  ASSERT_TRUE(child.says("ready"));
  child.kill(SIGTERM);
  const int status = child.wait();
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_THAT(child.said(),
              HasSubstr("rclrt: not stopped 20 ms after SIGTERM; the process ends now\n"));
}

TEST(StopSignal, EndsTheProgramAtASecondSignalAndSaysSo) {
  Child child([] {
    const StopSignal stop(hours(1));
    say("ready\n");
    await(stop);
    say("stopping\n");
    for (;;) {
      pause();
    }
    return 0;
  });
  ASSERT_TRUE(child.says("ready"));
  child.kill(SIGINT);
  ASSERT_TRUE(child.says("stopping"));
  child.kill(SIGINT);
  const int status = child.wait();
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
  EXPECT_THAT(child.said(), HasSubstr("rclrt: a second signal, SIGINT: ending at once\n"));
}

TEST(StopSignal, DoesNotEndAProgramThatStoppedInTime) {
  // On a busy machine the program may not stop in time: then the test repeats with twice the time.
  for (auto time = milliseconds(100); time < hours(1); time *= 2) {
    Child child([time] {
      {
        const StopSignal stop(time);
        raise(SIGINT);
        await(stop);
      }
      say("stopped\n");
      sleep_until_ns(monotonic_now_ns() + 1'500'000 * time.count());  // beyond the deadline
      return 7;
    });
    const bool stopped = child.says("stopped\n");
    const int status = child.wait();
    if (stopped) {
      ASSERT_TRUE(WIFEXITED(status)) << child.said();
      EXPECT_EQ(WEXITSTATUS(status), 7);
      return;
    }
    ASSERT_THAT(child.said(), HasSubstr("rclrt: not stopped"));
  }
  ADD_FAILURE() << "it was never in time";
}

TEST(StopSignal, RestoresWhatTheSignalsDidBefore) {
  Child child([] {
    {
      const StopSignal stop;
    }
    raise(SIGTERM);
    return 0;
  });
  const int status = child.wait();
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_EQ(child.said(), "");
}

TEST(StopSignal, WaitsAgainAfterItWasMadeAgain) {
  Child child([] {
    for (int i = 0; i < 2; ++i) {
      const StopSignal stop(hours(1));
      if (stop.stop_requested() || stop.signal() != 0) {
        return 1;
      }
      raise(SIGINT);
      await(stop);
    }
    return 0;
  });
  EXPECT_EQ(WEXITSTATUS(child.wait()), 0) << child.said();
}

TEST(StopSignal, IsAloneInItsProcess) {
  const StopSignal stop;
  EXPECT_THAT([&] { StopSignal(); },
              ThrowsMessage<std::logic_error>(HasSubstr("a StopSignal exists already")));
}

}  // namespace
}  // namespace rclrt::realtime
