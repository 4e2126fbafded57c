// SPDX-License-Identifier: Apache-2.0
// The trace events of stored and read values, which this program receives instead of LTTng.
#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "rclrt/realtime/sampled_value.hpp"

namespace {

struct Event {
  const void* value = nullptr;
  std::uint64_t number = 0;
  std::int64_t since_ns = -1;  // -1: it was read
  int is_whole = -1;
  bool operator==(const Event&) const = default;
};

std::vector<Event>& events() {
  static std::vector<Event> all = [] {
    std::vector<Event> empty;
    empty.reserve(64);  // real-time code adds events, and may not allocate
    return empty;
  }();
  return all;
}

}  // namespace

extern "C" {
[[gnu::visibility("default")]] void rclrt_trace_value_stored(const void* value,
                                                             std::uint64_t number,
                                                             std::int64_t since_ns, int is_whole);
[[gnu::visibility("default")]] void rclrt_trace_value_read(const void* value, std::uint64_t number);

void rclrt_trace_value_stored(const void* value, std::uint64_t number, std::int64_t since_ns,
                              int is_whole) {
  events().push_back({value, number, since_ns, is_whole});
}
void rclrt_trace_value_read(const void* value, std::uint64_t number) {
  events().push_back({value, number, -1, -1});
}
}

namespace rclrt::realtime {
namespace {

using testing::ElementsAre;

TEST(SampledValueTrace, HasEachStoreWithItsOriginAndEachReadWithItsNumber) {
  events().clear();
  SampledValue<int> value(1);
  auto reader = value.reader();
  reader.view();
  value.store(10, {5, true});
  value.store(20, {6, false});
  EXPECT_EQ(reader.read().value, 20);
  EXPECT_THAT(events(), ElementsAre(Event{&value, 0, -1, -1}, Event{&value, 1, 5, 1},
                                    Event{&value, 2, 6, 0}, Event{&value, 2, -1, -1}));
}

TEST(SampledValueTrace, HasTheReadsOfSeveralValuesAtOnce) {
  events().clear();
  const auto near = std::make_shared<SampledValue<int>>(1);
  const auto far = std::make_shared<SampledValue<double>>(1);
  SampleReaders<int, double> readers(near, far);
  far->store(0.5, {7, true});
  readers.view();
  EXPECT_THAT(events(),
              testing::UnorderedElementsAre(Event{far.get(), 1, 7, 1}, Event{near.get(), 0, -1, -1},
                                            Event{far.get(), 1, -1, -1}));
}

}  // namespace
}  // namespace rclrt::realtime
