// SPDX-License-Identifier: Apache-2.0
/// The Python module; its types are in rclrt_analysis/_native.pyi.
#include "bindings.hpp"

void rclrt::analysis::check_signals() {
  const pybind11::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) {
    throw pybind11::error_already_set();
  }
}

PYBIND11_MODULE(_native, module) {
  module.doc() = "From a model to an answer: schedulability, response times, priorities.";
  // The types of applications are registered by rclrt_model.
  pybind11::module_::import("rclrt_model");
  rclrt::analysis::bind_tasks(module);
  rclrt::analysis::bind_application(module);
  rclrt::analysis::bind_assign(module);
  rclrt::analysis::bind_counter_examples(module);
  rclrt::analysis::bind_chain_steps(module);
  rclrt::analysis::bind_machine(module);
  rclrt::analysis::bind_judge(module);
  rclrt::analysis::bind_refute(module);
  rclrt::analysis::bind_observation(module);
  rclrt::analysis::bind_sensitivity(module);
  rclrt::analysis::bind_advice(module);
  rclrt::analysis::bind_simulation(module);
}
