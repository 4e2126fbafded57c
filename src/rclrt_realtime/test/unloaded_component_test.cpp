// SPDX-License-Identifier: Apache-2.0
// The log lines and dump requests of a component are written after its library has been unloaded.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "rclrt/realtime/flight_recorder.hpp"
#include "rclrt/realtime/logging.hpp"
#include "rclrt/realtime/tracer.hpp"

namespace rclrt::realtime {
namespace {

using testing::HasSubstr;

/// Calls a function of the component, which is loaded only for this call.
template <typename Argument>
void call_in_component(const char* function, Argument& argument) {
  void* const library = dlopen(UNLOADED_COMPONENT, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  reinterpret_cast<void (*)(Argument&)>(dlsym(library, function))(argument);
  dlclose(library);
  ASSERT_EQ(dlopen(UNLOADED_COMPONENT, RTLD_NOW | RTLD_NOLOAD), nullptr) << "it is still loaded";
}

TEST(UnloadedComponent, HasItsLinesLogged) {
  std::vector<std::string> lines;
  CallbackLog sink([&](const LogLine& line) {
    lines.push_back(std::string(line.message) + " at " + std::string(line.file) + ":" +
                    std::to_string(line.line));
  });
  Logger logger({sink}, {.period = std::chrono::hours(1)});  // no pass happens before the flush
  ThreadLogger log(logger, "control");
  call_in_component("log_from_component", log);
  logger.flush();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("component says 42 and a literal at "));
  EXPECT_THAT(lines[0], HasSubstr("unloaded_component.cpp:8"));
}

TEST(UnloadedComponent, HasItsReasonInTheDump) {
  const std::filesystem::path directory = testing::TempDir() + "rclrt_unloaded_component";
  std::filesystem::create_directories(directory);
  FlightRecorder recorder({.directory = directory, .after = std::chrono::milliseconds(0)});
  {
    Tracer tracer({recorder}, {.period = std::chrono::hours(1)});
    ThreadTracer trace(tracer, "control");
    trace.instant(tracer.name("event"));
    call_in_component("ask_from_component", recorder);
  }  // the last pass writes the dump
  ASSERT_EQ(recorder.statistics().dumps, 1U) << recorder.statistics().last_error;
  std::ostringstream dump;
  dump << std::ifstream(recorder.statistics().last_file, std::ios::binary).rdbuf();
  EXPECT_THAT(dump.str(), HasSubstr("the component's reason"));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace rclrt::realtime
