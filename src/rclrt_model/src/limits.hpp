// SPDX-License-Identifier: Apache-2.0
// The limits and defaults of app.yaml. schemas/app.schema.json has the same; a test compares them.
#pragma once

#include "rclrt/model/application.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {

inline constexpr IntegerRange kFormatVersions{1, 1};
inline constexpr IntegerRange kPriorities{0, 1'000'000};
inline constexpr IntegerRange kOsPriorities{1, 98};  // 99 is for the kernel's own threads
inline constexpr IntegerRange kTopPriorities{2, kTopPriority};
inline constexpr IntegerRange kNice{-20, 19};
inline constexpr IntegerRange kCpus{0, 1023};  // CPU_SETSIZE of glibc
inline constexpr IntegerRange kDepths{1, 10'000};
inline constexpr IntegerRange kPayloadBytes{0, 256 * 1024 * 1024};
inline constexpr IntegerRange kRates{1, 1'000'000'000};       // kbit/s of a link, up to 1 Tbit/s
inline constexpr IntegerRange kCrossRates{0, 1'000'000'000};  // kbit/s
inline constexpr IntegerRange kBurstBytes{1, 1024 * 1024 * 1024};
inline constexpr IntegerRange kPacketBytes{64, 65'535};
inline constexpr IntegerRange kHeaderBytes{0, 1000};
inline constexpr IntegerRange kIterations{1, 1'000'000'000};
inline constexpr IntegerRange kObservations{1, 1'000'000'000'000};
inline constexpr IntegerRange kSyncTopics{2, 9};
inline constexpr IntegerRange kSubscriptionTopics{1, 100};
inline constexpr IntegerRange kSampledTopics{0, 100};
inline constexpr Nanoseconds kLeastInterval = std::chrono::microseconds(1);  // of events
inline constexpr IntegerRange kEventSeeds{0, 1'000'000'000};
inline constexpr std::size_t kServiceClients = 100;
inline constexpr std::size_t kServiceOutputs = 1000;  // topics that go out for each of its clients
inline constexpr std::size_t kDefaultDepth = 10;
inline constexpr Nanoseconds kDefaultWindow = std::chrono::seconds(1);

}  // namespace rclrt::model::detail
