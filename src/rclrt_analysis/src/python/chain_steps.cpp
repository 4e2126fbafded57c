// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/chain_steps.hpp"

#include <pybind11/pybind11.h>

#include "bindings.hpp"

namespace rclrt::analysis {

namespace py = pybind11;

void bind_chain_steps(py::module_& module) {
  module.def("with_steps", &with_steps, py::arg("application"));
}

}  // namespace rclrt::analysis
