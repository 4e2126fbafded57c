// SPDX-License-Identifier: Apache-2.0
// Replaces rcl's function in a program that links it: none of its nodes ever ends. Fast DDS may
// cause this in a process that ends together with others.
#include <rcl/node.h>
#include <unistd.h>

extern "C" rcl_ret_t rcl_node_fini(rcl_node_t* /*node*/) {
  for (;;) {
    ::pause();
  }
}
