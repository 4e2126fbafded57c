// SPDX-License-Identifier: Apache-2.0
/// Reads one entry of the section "callbacks".
#pragma once

#include "draft.hpp"
#include "fields.hpp"
#include "name_index.hpp"

namespace rclrt::model::detail {

/// Appends the callback to the draft and its id to the index.
void read_callback(const YamlNode& node, const NameIndex& nodes, NameIndex& callbacks, Draft& draft,
                   Context& context);

}  // namespace rclrt::model::detail
