// SPDX-License-Identifier: Apache-2.0
// The overheads of a machine, as the formulas of a kind of executor count them.
#pragma once

#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/model/executor_choice.hpp"

namespace rclrt::analysis::detail {

/// Returns the overheads of the formulas of the kind `executor` for an executor `chosen`, of which
/// the bounds may be those of another kind (PreemptiveForm). `overheads`: of the machine.
Overheads overheads_of(Overheads overheads, model::ExecutorKind executor,
                       const model::ExecutorChoice& chosen);

}  // namespace rclrt::analysis::detail
