// SPDX-License-Identifier: Apache-2.0
// Components written for a MultiThreadedExecutor: they wait for a service of their own process
// within a callback.
#include <algorithm>
#include <atomic>

#include "fixture.hpp"
#include "waiting_component.hpp"

namespace rclrt_rclcpp::test {
namespace {

template <typename E>
class WaitingServices : public Ros {};
using Offering = ::testing::Types<PreemptiveExecutor, ProducerConsumerExecutor, PerGroupExecutor>;
TYPED_TEST_SUITE(WaitingServices, Offering, ExecutorName);

TYPED_TEST(WaitingServices, AreAnsweredWithoutAnySettingBesideAChainThatLosesNothing) {
  const auto allowed = rclrt::realtime::allowed_cpus();
  for (const std::size_t cpus : {1, 2}) {
    Options options;
    options.engine.cpus.assign(
        allowed.begin(),
        allowed.begin() + static_cast<std::ptrdiff_t>(std::min(cpus, allowed.size())));
    TypeParam executor(options);
    WaitingComponent component;
    const auto chain = std::make_shared<rclcpp::Node>("chain");
    const auto publisher = chain->create_publisher<Message>("step", 100);
    std::atomic<int> sent{0};
    std::atomic<int> received{0};
    const auto source = chain->create_wall_timer(5ms, [&] {
      ++sent;
      publisher->publish(Message());
    });
    const auto sink =
        chain->create_subscription<Message>("step", 100, [&](const Message&) { ++received; });
    executor.add_node(chain);
    component.add_to(executor);
    {
      const Spinning spinning(executor);
      EXPECT_TRUE(eventually([&] { return component.calls >= 15; }));
      const int until = sent;
      EXPECT_TRUE(eventually([&] { return received >= until; })) << received << " of " << until;
    }
    EXPECT_EQ(component.answered, component.calls) << cpus << " CPUs";
  }
}

}  // namespace
}  // namespace rclrt_rclcpp::test
