// SPDX-License-Identifier: Apache-2.0
// From a traced robot to an application that can be analysed.
#pragma once

#include <cstdint>
#include <rclrt/model/application.hpp>
#include <string>
#include <vector>

#include "traced_system.hpp"

namespace rclrt::trace {

/// An application, and how it and the trace belong together.
struct TracedModel {
  model::Application application;
  std::vector<std::uint32_t> callback_of;  ///< per traced callback: its index, or kNone
  std::vector<std::uint32_t> slot_of;      ///< per thread: which of its executor's it is
  std::vector<std::string> notes;          ///< what could not be told, or had to be assumed
  /// Whether each callback of the application has only been seen from outside: it is an event
  /// because nobody in the trace publishes what it takes, or because it answers requests.
  std::vector<bool> stands_for_other;
};

/// Returns the model of what ran. Callbacks that never ran, and topics that only tools use, are
/// left out. Execution times are observed ones; a chain is proposed for each way from a timer or an
/// event to a callback whose messages nobody takes. Throws TraceError when nothing ran.
TracedModel build_model(const TracedSystem& system, const std::string& name);

}  // namespace rclrt::trace
