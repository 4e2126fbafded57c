// SPDX-License-Identifier: Apache-2.0
// The common part of the four programs: the order of policy, init, nodes and loop.
#pragma once

#include "loops.hpp"

namespace rclrt::timer_study {

/// One of the programs.
struct StudyProgram {
  const char* name;
  const char* purpose;
  bool has_nodes;
  bool measures_callbacks;
  void (*loop)(Loop&);
};

/// Runs the program and returns the exit code.
int run_study(const StudyProgram& program, int argc, char** argv);

}  // namespace rclrt::timer_study
