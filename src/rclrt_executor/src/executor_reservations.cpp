// SPDX-License-Identifier: Apache-2.0
// What levels under SCHED_DEADLINE ask of the kernel and of groups.
#include <map>
#include <stdexcept>
#include <string>
#include <system_error>

#include "lane_set.hpp"
#include "rclrt/executor/executor.hpp"
#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::executor {

void Executor::require_reservations_possible() const {
  if (options_.reservations.empty()) {
    return;
  }
  const std::string executor = "executor \"" + options_.name + "\": ";
  if (!offers_reservations()) {
    throw std::invalid_argument(executor +
                                "it has no threads of a level that could have a reservation: use "
                                "preemptive or producer_consumer");
  }
  if (!options_.cpus.empty()) {
    throw std::invalid_argument(executor +
                                "the kernel gives a reservation only to a thread that may use "
                                "every CPU: leave cpus empty, or put the reserved level into an "
                                "executor of its own");
  }
  if (options_.reservations.size() > LaneSet::kMaxReservations) {
    throw std::invalid_argument(executor + "at most " + std::to_string(LaneSet::kMaxReservations) +
                                " levels can have a reservation");
  }
  for (const auto& [level, budget] : options_.reservations) {
    if (budget.runtime.count() < 1024 || budget.runtime > budget.deadline ||
        budget.deadline > budget.period) {
      throw std::invalid_argument(executor + "the reservation of level " + std::to_string(level) +
                                  " is not possible: choose 1024 ns <= runtime <= deadline <= "
                                  "period");
    }
  }
}

/// Nothing when threads may have what they are to have. Throws std::system_error when the CPUs have
/// no room for a reservation.
std::optional<std::string> Executor::why_no_realtime() const {
  if (const auto reason = realtime::why_no_realtime(options_.top_priority)) {
    return reason;
  }
  for (const auto& [level, budget] : options_.reservations) {
    try {
      realtime::Thread(
          {.name = "may I?",
           .scheduling = {.policy = realtime::Policy::kDeadline, .reservation = budget}},
          [] {})
          .join();
    } catch (const std::system_error& error) {
      if (error.code() != std::errc::operation_not_permitted) {
        throw;
      }
      return error.what();
    }
  }
  return std::nullopt;
}

/// A ceiling is a SCHED_FIFO priority. It cannot keep a reserved thread from running, and one that
/// has used up its budget inside a group would block the others for the rest of its period.
void Executor::require_groups_unreserved_or_whole() const {
  if (options_.reservations.empty()) {
    return;
  }
  std::map<const Group*, int> first;  // the level of each group's first member
  for (const auto& callback : callbacks_) {
    const auto& group = callback->shared_group();
    if (!group || group->type() == GroupType::kReentrant) {
      continue;
    }
    const int level = callback->level();
    const int other = first.try_emplace(group.get(), level).first->second;
    if (level != other && (is_reserved(level) || is_reserved(other))) {
      const int reserved = is_reserved(level) ? level : other;
      throw std::invalid_argument(
          "executor \"" + options_.name + "\": the group of callback \"" + callback->name() +
          "\" has members at level " + std::to_string(reserved) +
          ", which has a reservation, and at level " +
          std::to_string(reserved == level ? other : level) +
          ": no ceiling holds across them; keep its members in one reserved level, or in none");
    }
  }
}

}  // namespace rclrt::executor
