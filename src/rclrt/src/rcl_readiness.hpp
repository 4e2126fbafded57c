// SPDX-License-Identifier: Apache-2.0
// rcl_wait as the readiness source of the wait-set executor.
#pragma once

#include <rcl/guard_condition.h>
#include <rcl/wait.h>

#include <memory>
#include <vector>

#include "rclrt/entity.hpp"
#include "rclrt/executor/wait_set_executor.hpp"

namespace rclrt {

class Context;

namespace detail {

class RclReadiness final : public executor::ReadinessSource {
 public:
  explicit RclReadiness(std::shared_ptr<Context> context);
  ~RclReadiness() override;
  RclReadiness(const RclReadiness&) = delete;
  RclReadiness& operator=(const RclReadiness&) = delete;

  void watch(const std::vector<executor::Callback*>& callbacks) override;
  void wait(std::int64_t deadline_ns, const std::vector<bool>& asked,
            std::vector<bool>& ready) override;
  void wake() noexcept override;

 private:
  const std::shared_ptr<Context> context_;
  rcl_guard_condition_t wake_;
  rcl_wait_set_t wait_set_;
  std::vector<Entity*> entities_;
};

}  // namespace detail

}  // namespace rclrt
