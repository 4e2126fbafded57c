// SPDX-License-Identifier: Apache-2.0
#include "rclrt/entity.hpp"

#include <stdexcept>

#include "rclrt/detail/publish_scope.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt {

Entity::Entity(executor::EntityType type, const std::string& default_name, std::size_t depth,
               const CallbackOptions& options)
    : Callback({.name = options.name.empty() ? default_name : options.name,
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
                                "\": its requests and responses are not replaced by newer ones: "
                                "leave CallbackOptions::overload at kQueue");
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

bool Entity::tell(std::size_t count) noexcept {
  untold_.fetch_add(count);
  return announce_if_listening();
}

[[gnu::hot]] bool Entity::tell_once() noexcept {
  untold_.store(1);
  return announce_if_listening();
}

[[gnu::hot]] bool Entity::announce_if_listening() noexcept {
  held_.fetch_add(1);
  const bool listening = listening_.load();
  if (listening) {
    announce_untold();
  }
  held_.fetch_sub(1);
  return listening;
}

void Entity::start_listening() noexcept {
  listening_.store(true);
  announce_untold();
}

void Entity::stop_listening() noexcept {
  listening_.store(false);
  await_held();
}

[[gnu::hot]] void Entity::announce_untold() noexcept { announce(untold_.exchange(0)); }

void Entity::forget_one() noexcept {
  std::size_t untold = untold_.load();
  while (untold > 0 && !untold_.compare_exchange_weak(untold, untold - 1)) {
  }
}

[[gnu::hot]] void Entity::stamp_arrival(InstanceInfo& info, std::int64_t received_ns) noexcept {
  if (info.ready_ns == 0) {
    info.ready_ns =
        received_ns - realtime::read_clock_ns(CLOCK_REALTIME) + realtime::monotonic_now_ns();
    info.release_ns = info.ready_ns;
  }
}

void Entity::await_held() noexcept {
  // Polled, because being notified would cost every message, and memory that outlives this object.
  while (held_.load() != 0) {
    realtime::sleep_until_ns(realtime::monotonic_now_ns() + 50'000);
  }
}

}  // namespace rclrt
