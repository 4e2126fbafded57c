// SPDX-License-Identifier: Apache-2.0
// Wake-up latency beside the threads of init and the middleware.
#include "study_program.hpp"

int main(int argc, char** argv) {
  return rclrt::timer_study::run_study(
      {.name = "init_and_node_thread",
       .purpose = "Measures the wake-up of clock_nanosleep after init and nodes.",
       .has_nodes = true,
       .measures_callbacks = false,
       .loop = rclrt::timer_study::run_nanosleep},
      argc, argv);
}
