// SPDX-License-Identifier: Apache-2.0
// The part of an application that could be read, with the positions in the file for later checks.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rclrt/model/application.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {

struct CallbackSource {
  Position id;
  std::vector<Position> inputs;     ///< one per topic that triggers it
  std::vector<Position> publishes;  ///< one per Callback::publishes
  Position service{};               ///< of a service or client: the service's name
  std::vector<std::pair<std::string, Position>> calls{};  ///< ids of clients
  std::vector<Position> stores{};                         ///< one per Callback::stores
  std::vector<Position> reads{};                          ///< one per Callback::reads
  std::vector<Position> samples{};                        ///< one per Callback::samples
  Position executor{};  ///< of its own executor, or of the callback without one
};

struct ChainSource {
  std::vector<Position> callbacks;  ///< one per Chain::callbacks
};

struct Draft {
  Application application;  ///< indices may be kUnknown
  std::vector<CallbackSource> callbacks;
  std::vector<ChainSource> chains;
  /// Whether every callback's id, trigger and topics could be read. If so, an edge that
  /// `application` does not have is also missing in the file.
  bool graph_known = true;
  bool variables_known = true;  ///< every list of variables could be read
};

}  // namespace rclrt::model::detail
