// SPDX-License-Identifier: Apache-2.0
// A component for unloaded_component_test.cpp. Its texts no longer exist once it is unloaded.
#include "rclrt/realtime/flight_recorder.hpp"
#include "rclrt/realtime/logging.hpp"

extern "C" [[gnu::visibility("default")]] void log_from_component(
    rclrt::realtime::ThreadLogger& log) {
  log.warn("component says {} and {}", 42, "a literal");
}

extern "C" [[gnu::visibility("default")]] void ask_from_component(
    rclrt::realtime::FlightRecorder& recorder) {
  recorder.request_dump("the component's reason");
}
