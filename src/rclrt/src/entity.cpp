// SPDX-License-Identifier: Apache-2.0
#include "rclrt/entity.hpp"

#include <stdexcept>

#include "rclrt/detail/publish_scope.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt {

Entity::Entity(executor::EntityType type, const std::string& default_name, std::size_t depth,
               const CallbackOptions& options)
    : NotifiedCallback({.name = options.name.empty() ? default_name : options.name,
                        .type = type,
                        .level = options.priority,
                        .credits = depth,
                        .overload = options.overload,
                        .group = options.group,
                        .deadline_ns = options.deadline.count()}) {
  const bool is_service = type == executor::EntityType::kService;
  if ((is_service || type == executor::EntityType::kClient) &&
      options.overload != Overload::kQueue) {
    throw std::invalid_argument((is_service ? "service \"" : "client \"") + default_name +
                                "\": its requests and responses must not be dropped; leave "
                                "CallbackOptions::overload at kQueue");
  }
}

[[gnu::hot]] void Entity::on_new_work(const void* self, std::size_t count) {
  static_cast<Entity*>(const_cast<void*>(self))->announce(count);
}

[[gnu::hot]] void Entity::announce(std::size_t count) noexcept {
  const std::int64_t now = realtime::monotonic_now_ns();
  for (std::size_t i = 0; i < count; ++i) {
    executor::Instance* const instance = make_instance(now, now);
    if (instance != nullptr && !detail::PublishScope::hold(this, instance)) {
      submit(instance);
    }
  }
}

[[gnu::hot]] void Entity::stamp_arrival(InstanceInfo& info, std::int64_t received_ns) noexcept {
  if (info.ready_ns == 0) {
    info.ready_ns =
        received_ns - realtime::read_clock_ns(CLOCK_REALTIME) + realtime::monotonic_now_ns();
    info.release_ns = info.ready_ns;
  }
}

}  // namespace rclrt
