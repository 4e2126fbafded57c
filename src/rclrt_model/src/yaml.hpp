// SPDX-License-Identifier: Apache-2.0
// The names of namespace yaml that the readers use.
#pragma once

#include "rclrt/yaml/diagnostics.hpp"
#include "rclrt/yaml/document.hpp"
#include "rclrt/yaml/fields.hpp"
#include "rclrt/yaml/name_index.hpp"
#include "rclrt/yaml/scalars.hpp"

namespace rclrt::model::detail {

using yaml::Context;
using yaml::Diagnostics;
using yaml::Fields;
using yaml::in_quotes;
using yaml::IntegerRange;
using yaml::kUnknown;
using yaml::list_in_quotes;
using yaml::NameIndex;
using yaml::Nanoseconds;
using yaml::Position;
using yaml::Zero;
using YamlKind = yaml::Kind;
using YamlNode = yaml::Node;  // Node is the application's

}  // namespace rclrt::model::detail
