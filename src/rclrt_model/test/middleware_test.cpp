// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/middleware.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace rclrt::model {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr Scheduling kUrgent{.policy = Policy::kFifo, .priority = 96};

ThreadPlan plan_of(const ThreadRule& rule) { return {{rule, {"log*", {}}}}; }

TEST(Middlewares, ARuleForTheMiddlewareNamesTheLibraryOfTheOneThatRuns) {
  const ThreadPlan plan = plan_of({"middleware", kUrgent});
  for (const auto& [rmw, library] : {std::pair("rmw_fastrtps_cpp", "libfast*"),
                                     {"rmw_fastrtps_dynamic_cpp", "libfast*"},
                                     {"rmw_cyclonedds_cpp", "libddsc*"},
                                     {"rmw_zenoh_cpp", "libzenohc*"}}) {
    EXPECT_EQ(for_middleware(plan, rmw), plan_of({.scheduling = kUrgent, .library = library}))
        << rmw;
  }
}

TEST(Middlewares, OtherRulesStayAsTheyAre) {
  const ThreadPlan named = plan_of({.name = "middleware", .library = "libmine.so"});
  EXPECT_EQ(for_middleware(named, "rmw_cyclonedds_cpp"), named);
  const ThreadPlan library = plan_of({.scheduling = kUrgent, .library = "libfast*"});
  EXPECT_EQ(for_middleware(library, "rmw_of_tomorrow_cpp"), library);
}

TEST(Middlewares, TheThreadsOfAnUnknownOneNeedTheirLibrary) {
  EXPECT_THAT([] { for_middleware(plan_of({"middleware", kUrgent}), "rmw_of_tomorrow_cpp"); },
              ThrowsMessage<std::invalid_argument>(
                  AllOf(HasSubstr("the threads of rmw_of_tomorrow_cpp are not known"),
                        HasSubstr("fix: state their library instead"))));
}

}  // namespace
}  // namespace rclrt::model
