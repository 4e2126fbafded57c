// SPDX-License-Identifier: Apache-2.0
// Fixed priorities; the scheduler thread runs above all levels.
#include "bounds/kind.hpp"

namespace rclrt::analysis::detail {

constinit const KindBounds kinds::kThreadDispatch{.pool = Pool::kOfInstances};

}  // namespace rclrt::analysis::detail
