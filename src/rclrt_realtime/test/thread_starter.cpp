// SPDX-License-Identifier: Apache-2.0
#include "thread_starter.hpp"

namespace rclrt::realtime::test {

namespace {

struct HiddenLoop {
  void operator()() const { end.wait(); }
  std::shared_future<void> end;
};

}  // namespace

std::thread start_standard(const std::shared_future<void>& end) {
  return std::thread(HiddenLoop{end});
}

std::future<void> start_async(const std::shared_future<void>& end) {
  return std::async(std::launch::async, [end] { end.wait(); });
}

Thread start_ours(const std::shared_future<void>& end) {
  return Thread({.name = "ours"}, [end] { end.wait(); });
}

}  // namespace rclrt::realtime::test
