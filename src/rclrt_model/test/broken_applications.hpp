// SPDX-License-Identifier: Apache-2.0
// The applications with mistakes in broken_applications.txt.
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace rclrt::model::test {

struct BrokenApplication {
  std::string name;
  std::string text;
  std::vector<std::string> errors;  // "LINE:COLUMN: MESSAGE"

  friend std::ostream& operator<<(std::ostream& out, const BrokenApplication& application) {
    return out << application.name;
  }
};

struct BrokenApplications {
  std::map<std::string, std::string> bases;
  std::vector<BrokenApplication> cases;
};

/// Reads the file. Throws std::invalid_argument for a line that it does not know.
BrokenApplications broken_applications();

}  // namespace rclrt::model::test
