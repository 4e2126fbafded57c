// SPDX-License-Identifier: Apache-2.0
#include "removal_queue.hpp"

#include <algorithm>
#include <exception>

namespace rclrt_rclcpp {

void RemovalQueue::push(const Key& entity, const Entry& entry) {
  leaving_.push_back({entity, entry.group, entry.bound});
  // A user's waitable: ending can fail if beginning failed.
  const auto warn = [&](const char* why) {
    RCLCPP_WARN(rclcpp::get_logger("rclrt_rclcpp"),
                "'%s' left the executor, but its on-ready callback could not be cleared: %s",
                entry.bound.callback->name().c_str(), why);
  };
  try {
    entry.bound.listener->unlisten();
  } catch (const std::exception& error) {
    warn(error.what());
  } catch (...) {
    warn("unknown error");
  }
}

bool RemovalQueue::contains(const Key& entity) const {
  return std::any_of(leaving_.begin(), leaving_.end(), [&](const Leaving& each) {
    return !each.entity.owner_before(entity) && !entity.owner_before(each.entity);
  });
}

bool RemovalQueue::has_member_of(const rclcpp::CallbackGroup::SharedPtr& group) const {
  return std::any_of(leaving_.begin(), leaving_.end(),
                     [&](const Leaving& each) { return each.group.lock() == group; });
}

bool RemovalQueue::finish(Wait wait, const std::function<void(engine::Callback&)>& left,
                          const std::function<void()>& finished) {
  std::vector<Leaving> leaving;
  {
    const std::scoped_lock lock(mutex_);
    leaving = leaving_;
  }
  if (leaving.empty()) {
    return true;  // and no group is closed
  }
  // Set before the work left behind is taken: no more is announced after that.
  std::vector<bool> has_left;
  for (const Leaving& each : leaving) {
    if (wait == Wait::kUntilNothingRuns) {
      engine_.remove(each.bound.callback);
    }
    has_left.push_back(engine_.start_removal(each.bound.callback));
  }
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < leaving.size(); ++i) {
    const Bound& bound = leaving[i].bound;
    bound.listener->leave_rest();
    if (has_left[i]) {
      std::erase_if(leaving_,
                    [&](const Leaving& other) { return other.bound.callback == bound.callback; });
      left(*bound.callback);
    }
  }
  finished();
  return std::find(has_left.begin(), has_left.end(), false) == has_left.end();
}

}  // namespace rclrt_rclcpp
