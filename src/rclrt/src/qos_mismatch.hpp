// SPDX-License-Identifier: Apache-2.0
// Describes why a publisher and a subscription are not matched.
#pragma once

#include <rmw/qos_profiles.h>

#include <string>
#include <vector>

namespace rclrt::detail {

/// Returns one sentence for each policy in which the publisher offers less than the subscription
/// requests; the sentence states what to change. Empty if the two can be matched.
std::vector<std::string> describe_mismatch(const rmw_qos_profile_t& offered,
                                           const rmw_qos_profile_t& requested);

}  // namespace rclrt::detail
