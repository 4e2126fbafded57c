// SPDX-License-Identifier: Apache-2.0
// The functions of a component that the host calls. They use no type of rclrt, because the host
// does not link it.
#pragma once

/// Observations of a node's callbacks.
struct Findings {
  int runs = 0;
  int seen_by_both = 0;  ///< runs in which both components saw the same instance running
};

struct Component {
  /// Creates a context and an executor.
  void* (*make_engine)();
  void (*destroy_engine)(void* engine);
  /// Adds a node to an engine, which either component may have made. The node's timer runs five
  /// times: it gets the current instance from both components. Then it stops the engine.
  void (*add_node)(void* engine, const Component* other, Findings* findings);
  void (*spin)(void* engine);
  /// Returns the address of the instance that the calling thread runs; nullptr outside a callback.
  const void* (*current_instance)();
};

/// Each component exports a function of this type with the name "component".
using GetComponent = const Component* (*)();
