// SPDX-License-Identifier: Apache-2.0
// Wake-up latency beside the threads of init.
#include "study_program.hpp"

int main(int argc, char** argv) {
  return rclrt::timer_study::run_study(
      {.name = "init_thread",
       .purpose = "Measures the wake-up of clock_nanosleep after init alone.",
       .has_nodes = false,
       .measures_callbacks = false,
       .loop = rclrt::timer_study::run_nanosleep},
      argc, argv);
}
