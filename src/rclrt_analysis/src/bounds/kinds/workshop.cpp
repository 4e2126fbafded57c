// SPDX-License-Identifier: Apache-2.0
// Fixed priorities; an idle thread picks up work above all levels.
#include "bounds/kind.hpp"

namespace rclrt::analysis::detail {

constinit const KindBounds kinds::kWorkshop{.picks_up_above = true, .pool = Pool::kEnough};

}  // namespace rclrt::analysis::detail
