// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>

#include "python_bindings.hpp"
#include "rclrt/analysis/utilisation.hpp"

namespace py = pybind11;

namespace rclrt::analysis {

void bind_tasks(py::module_& module) {
  module.def("liu_layland_bound", &liu_layland_bound, py::arg("tasks"));
}

}  // namespace rclrt::analysis
