// SPDX-License-Identifier: Apache-2.0
// Functions of the Python module on the text of a file.
#pragma once

#include <pybind11/pybind11.h>

namespace rclrt::model::detail {

/// Adds parse(), warnings(), robot_warnings() and yaml_spans() to the module.
void bind_texts(pybind11::module_& module);

}  // namespace rclrt::model::detail
