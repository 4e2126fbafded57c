// SPDX-License-Identifier: Apache-2.0
#include "qos_mismatch.hpp"

#include <rcl/error_handling.h>
#include <rmw/time.h>

#include <array>
#include <cstdint>
#include <cstdio>

namespace rclrt::detail {

namespace {

/// Returns the duration in nanoseconds; a duration that is not set has no end.
std::int64_t nanoseconds(const rmw_time_t& time) {
  const bool is_set = time.sec != 0 || time.nsec != 0;
  return is_set ? static_cast<std::int64_t>(rmw_time_total_nsec(time)) : INT64_MAX;
}

std::string text_of(std::int64_t time_ns) {
  if (time_ns == INT64_MAX) {
    return "no end";
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g ms", static_cast<double>(time_ns) / 1e6);
  return text.data();
}

/// The offered time must not be longer than the requested one.
void compare_times(const std::string& policy, const std::string& setter, const rmw_time_t& offered,
                   const rmw_time_t& requested, std::vector<std::string>& result) {
  const std::int64_t offered_ns = nanoseconds(offered);
  const std::int64_t requested_ns = nanoseconds(requested);
  if (offered_ns > requested_ns) {
    result.push_back(policy + ": the publisher offers " + text_of(offered_ns) +
                     ", the subscription requests " + text_of(requested_ns) + "; set " + setter +
                     " of the publisher to at most " + text_of(requested_ns) +
                     ", or leave out that of the subscription");
  }
}

}  // namespace

std::vector<std::string> describe_mismatch(const rmw_qos_profile_t& offered,
                                           const rmw_qos_profile_t& requested) {
  std::vector<std::string> result;
  if (offered.reliability == RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT &&
      requested.reliability == RMW_QOS_POLICY_RELIABILITY_RELIABLE) {
    result.emplace_back(
        "reliability: the publisher offers best effort, the subscription requests reliable; make "
        "the publisher reliable() or the subscription best_effort()");
  }
  if (offered.durability == RMW_QOS_POLICY_DURABILITY_VOLATILE &&
      requested.durability == RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL) {
    result.emplace_back(
        "durability: the publisher offers volatile, the subscription requests transient local; "
        "make the publisher transient_local() or the subscription durability_volatile()");
  }
  compare_times("deadline", "deadline()", offered.deadline, requested.deadline, result);
  if (offered.liveliness == RMW_QOS_POLICY_LIVELINESS_AUTOMATIC &&
      requested.liveliness == RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC) {
    result.emplace_back(
        "liveliness: the publisher offers automatic, the subscription requests manual by topic; "
        "use liveliness_by_topic() for the publisher or liveliness_automatic() for the "
        "subscription");
  }
  compare_times("liveliness lease", "the lease", offered.liveliness_lease_duration,
                requested.liveliness_lease_duration, result);
  if (result.empty()) {  // a policy that is not one of these
    rmw_qos_compatibility_type_t compatibility = RMW_QOS_COMPATIBILITY_OK;
    std::array<char, 256> reason{};
    if (rmw_qos_profile_check_compatible(offered, requested, &compatibility, reason.data(),
                                         reason.size()) != RMW_RET_OK) {
      rcl_reset_error();
    } else if (compatibility == RMW_QOS_COMPATIBILITY_ERROR) {
      result.emplace_back(reason.data());
    }
  }
  return result;
}

}  // namespace rclrt::detail
