// SPDX-License-Identifier: Apache-2.0
// A lane for each level: fixed priorities, with immediate ceilings.
#include "bounds/kind.hpp"

namespace rclrt::analysis::detail {

constinit const KindBounds kinds::kPreemptive{.by_release = true, .pool = Pool::kEnough};

}  // namespace rclrt::analysis::detail
