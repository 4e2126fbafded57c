// SPDX-License-Identifier: Apache-2.0
// Checks that the entities of a running application are matched, and with no other program.
#include <algorithm>
#include <stdexcept>
#include <thread>

#include "live_callback.hpp"

namespace rclrt::runner {

template <typename Use>
void LiveApplication::for_each_subscription(const LiveCallback& live, const Use& use) const {
  // The entity of an event is not on a topic of the application, so it is left out. A service has
  // one entity for all of its topics.
  const auto publishers = [&](const std::string& topic) {
    return static_cast<std::size_t>(
        std::ranges::count_if(application_.callbacks, [&](const model::Callback& other) {
          return std::ranges::find(other.publishes, topic) != other.publishes.end();
        }));
  };
  const auto topics = model::inputs(live.callback);
  for (std::size_t input = 0; input < std::min(live.entities.size(), topics.size()); ++input) {
    const auto* const subscription =
        dynamic_cast<const SubscriptionBase*>(live.entities[input].get());
    if (subscription != nullptr) {
      use(*subscription, publishers(topics[input]));
    }
  }
  for (std::size_t i = 0; i < live.newest.size(); ++i) {
    use(*live.newest[i], publishers(live.callback.samples[i]));
  }
}

void LiveApplication::wait_until_matched(std::chrono::seconds limit,
                                         const std::function<bool()>& goes_on) const {
  const auto end = std::chrono::steady_clock::now() + limit;
  const auto wait_for = [&](const std::string& name, const char* what, std::size_t expected,
                            const auto& count) {
    while (count() < expected && goes_on()) {
      if (std::chrono::steady_clock::now() > end) {
        throw std::runtime_error(name + " has " + std::to_string(count()) + " of " +
                                 std::to_string(expected) + " " + what + " after " +
                                 std::to_string(limit.count()) +
                                 " s; check that DDS discovery works on this host");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  };
  for (const auto& live : callbacks_) {
    for (const auto& output : live->outputs) {
      if (output.publisher != nullptr) {
        wait_for("topic " + output.publisher->get_topic_name(), "subscriptions",
                 output.expected_subscriptions,
                 [&] { return output.publisher->get_subscription_count(); });
      }
    }
    if (live->client != nullptr) {
      const auto& client = *live->client->entity();
      wait_for("service " + client.get_service_name(), "servers", 1,
               [&] { return client.service_is_ready() ? std::size_t{1} : std::size_t{0}; });
    }
    if (live->service != nullptr) {
      wait_for("service " + live->service->entity()->get_service_name(), "clients",
               live->service->expected_clients(), [&] { return live->service->count_clients(); });
    }
    for_each_subscription(*live, [&](const SubscriptionBase& subscription, std::size_t publishers) {
      wait_for("topic " + subscription.get_topic_name(), "publishers", publishers,
               [&] { return subscription.get_publisher_count(); });
    });
  }
}

void LiveApplication::require_alone() const {
  for (const auto& live : callbacks_) {
    if (live->service != nullptr &&
        (live->service->count_clients() > live->service->expected_clients() ||
         live->service->count_servers() > 1)) {
      throw std::runtime_error("another process has service " +
                               live->service->entity()->get_service_name() +
                               ": run in a domain of its own (set ROS_DOMAIN_ID)");
    }
    for_each_subscription(*live, [](const SubscriptionBase& subscription, std::size_t publishers) {
      if (subscription.get_publisher_count() > publishers) {
        throw std::runtime_error("another process publishes on topic " +
                                 subscription.get_topic_name() +
                                 ": run in a domain of its own (set ROS_DOMAIN_ID)");
      }
    });
  }
}

}  // namespace rclrt::runner
