// SPDX-License-Identifier: Apache-2.0
// Callback latency of sleep and spin_some.
#include "study_program.hpp"

int main(int argc, char** argv) {
  return rclrt::timer_study::run_study(
      {.name = "timer_cb_latency_spin_some",
       .purpose = "Measures a timer's callback after clock_nanosleep and spin_some.",
       .has_nodes = true,
       .measures_callbacks = true,
       .loop = rclrt::timer_study::run_spin_some},
      argc, argv);
}
