// SPDX-License-Identifier: Apache-2.0
// Makes an application that can be analysed from a traced robot.
#pragma once

#include <cstdint>
#include <rclrt/model/application.hpp>
#include <string>
#include <vector>

#include "traced_system.hpp"

namespace rclrt::trace {

/// An application, and how it maps to the trace.
struct TracedModel {
  model::Application application;
  std::vector<std::uint32_t> callback_of;  ///< per traced callback: its index, or kNone
  std::vector<std::uint32_t> slot_of;      ///< per thread: its number within its executor
  std::vector<std::string> notes;          ///< what is not known, and what had to be assumed
  /// Lines about timers that may read what their nodes received, which no event shows: for comments
  /// in the file of the model.
  std::vector<std::string> proposals{};
  /// For each callback of the application: true if the model has an event instead of the callback's
  /// real trigger, because no callback in the trace publishes its messages, or because it answers
  /// requests.
  std::vector<bool> stands_for_other;
};

/// Returns a model of the system in the trace. Callbacks that never ran are left out, and so are
/// topics that only tools use. Execution times are the observed ones. A chain is proposed for each
/// path from a timer or an event to a callback without a successor, also through values that a
/// callback stores and another one reads: only those that the trace has (StoredValue), and those
/// that nodes state (MessageLink). Throws TraceError if nothing ran.
TracedModel build_model(const TracedSystem& system, const std::string& name);

}  // namespace rclrt::trace
