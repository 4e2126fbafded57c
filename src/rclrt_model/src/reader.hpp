// SPDX-License-Identifier: Apache-2.0
/// From the YAML tree to a draft of the application: keys, types, ranges, names and references.
#pragma once

#include "draft.hpp"
#include "fields.hpp"

namespace rclrt::model::detail {

Draft read_application(const YamlNode& root, Context& context);

}  // namespace rclrt::model::detail
