// SPDX-License-Identifier: Apache-2.0
// Reads a time, and prints the error of an invalid text.
#include <cstdio>
#include <rclrt/yaml/document.hpp>
#include <rclrt/yaml/milliseconds.hpp>
#include <string>

int main() {
  std::printf("%lld ns\n",
              static_cast<long long>(rclrt::yaml::parse_milliseconds("2.5").value->count()));
  rclrt::yaml::Diagnostics diagnostics;
  rclrt::yaml::read_yaml("depth: 1\ndepth: 2\n", diagnostics);
  for (const auto& problem : diagnostics.take()) {
    std::printf("%s\n", rclrt::yaml::to_string(problem, "queue.yaml").c_str());
  }
}
