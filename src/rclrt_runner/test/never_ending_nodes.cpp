// SPDX-License-Identifier: Apache-2.0
// Goes before rcl's own where it is linked into a program: none of its nodes ever ends, as Fast DDS
// may do to a process that ends together with others.
#include <rcl/node.h>
#include <unistd.h>

extern "C" rcl_ret_t rcl_node_fini(rcl_node_t* /*node*/) {
  for (;;) {
    ::pause();
  }
}
