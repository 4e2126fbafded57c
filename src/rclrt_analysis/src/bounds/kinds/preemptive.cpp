// SPDX-License-Identifier: Apache-2.0
// A lane for each level: fixed priorities, with immediate ceilings.
#include "bounds/kind.hpp"

namespace rclrt::analysis::detail {

constinit const KindBounds kinds::kPreemptive{.by_release = true};

}  // namespace rclrt::analysis::detail
