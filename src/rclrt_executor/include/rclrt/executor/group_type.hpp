// SPDX-License-Identifier: Apache-2.0
// Whether callbacks exclude each other.
#pragma once

namespace rclrt::executor {

/// Whether the members of a group exclude each other.
enum class GroupType {
  kMutuallyExclusive,  ///< at most one runs at a time
  kReentrant,          ///< no limit, not even for instances of one member
};

}  // namespace rclrt::executor
