// SPDX-License-Identifier: Apache-2.0
// Callback latency of spin.
#include "study_program.hpp"

int main(int argc, char** argv) {
  return rclrt::timer_study::run_study({.name = "timer_cb_latency_spin",
                                        .purpose = "Measures a timer's callback under spin.",
                                        .has_nodes = true,
                                        .measures_callbacks = true,
                                        .loop = rclrt::timer_study::run_spin},
                                       argc, argv);
}
