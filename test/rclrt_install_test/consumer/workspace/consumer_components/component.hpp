// SPDX-License-Identifier: Apache-2.0
// What the host may ask of a component. No type of rclrt: the host does not link it.
#pragma once

/// What callbacks of a node found out.
struct Findings {
  int runs = 0;
  int seen_by_both = 0;  ///< runs in which both components saw the same instance running
};

struct Component {
  /// Makes a context and an executor.
  void* (*make_engine)();
  void (*destroy_engine)(void* engine);
  /// Adds a node to an engine, whoever made that. Its timer asks this component and the other one
  /// which instance is running, five times, and stops the engine.
  void (*add_node)(void* engine, const Component* other, Findings* findings);
  void (*spin)(void* engine);
  /// The address of the instance that the calling thread is running; nullptr outside a callback.
  const void* (*current_instance)();
};

/// Each component exports one of these by the name "component".
using GetComponent = const Component* (*)();
