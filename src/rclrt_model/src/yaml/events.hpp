// SPDX-License-Identifier: Apache-2.0
// libyaml's parser as an object; its errors get the wording of this library.
#pragma once

#include <yaml.h>

#include <string_view>

#include "rclrt/yaml/diagnostics.hpp"

namespace rclrt::yaml {

Position position(const yaml_mark_t& mark);

class Events {
 public:
  /// Begins to parse. The text must outlive the object.
  explicit Events(std::string_view text);
  ~Events();
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  /// Returns the next event, valid until the next call; null after an error.
  const yaml_event_t* next();

  /// Reports the error that made next() fail.
  void report_error(Diagnostics& diagnostics) const;

 private:
  std::string_view text_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
};

}  // namespace rclrt::yaml
