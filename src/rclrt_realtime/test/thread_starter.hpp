// SPDX-License-Identifier: Apache-2.0
// A library's threads for thread_origin_test.cpp.
#pragma once

#include <future>
#include <thread>

#include "rclrt/realtime/thread.hpp"

namespace rclrt::realtime::test {

/// Starts a thread that runs a function of this library until `end` is ready.
[[gnu::visibility("default")]] std::thread start_standard(const std::shared_future<void>& end);
[[gnu::visibility("default")]] std::future<void> start_async(const std::shared_future<void>& end);
[[gnu::visibility("default")]] Thread start_ours(const std::shared_future<void>& end);

}  // namespace rclrt::realtime::test
