// SPDX-License-Identifier: Apache-2.0
// Tells apart the kinds of YAML files of this package.
#pragma once

#include <cstdint>

#include "yaml.hpp"

namespace rclrt::model::detail {

/// A kind of file.
enum class FileKind : std::uint8_t {
  kApplication,  ///< an app.yaml
  kRobot,        ///< a robot.yaml, or a node priorities file
  kHost,         ///< a file with all processes of a host
  kOverlay,      ///< a priorities file: those of an application's callbacks
};

/// Reports a file of another kind than the expected one by one diagnostic with both kinds, and
/// returns true. Returns false if the file has the expected kind, or if its keys do not show its
/// kind.
bool report_other_kind(const YamlNode& root, FileKind expected, Context& context);

}  // namespace rclrt::model::detail
