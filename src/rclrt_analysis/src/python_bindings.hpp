// SPDX-License-Identifier: Apache-2.0
/// The Python module is put together from one function per topic.
#pragma once

#include <pybind11/pybind11.h>

namespace rclrt::analysis {

void bind_tasks(pybind11::module_& module);

}  // namespace rclrt::analysis
