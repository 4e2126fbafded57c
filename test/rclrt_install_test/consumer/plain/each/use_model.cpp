// SPDX-License-Identifier: Apache-2.0
// Prints the chains of an application, a time, and the error of an invalid text.
#include <cstdio>
#include <rclrt/model/parse.hpp>
#include <rclrt/yaml/document.hpp>
#include <rclrt/yaml/milliseconds.hpp>

int main(int, char** argv) {
  const auto application = rclrt::model::load_application(argv[1]);
  for (const auto& chain : application.chains) {
    std::printf("%s: %zu callbacks\n", chain.id.c_str(), chain.callbacks.size());
  }
  std::printf("%lld ns\n",
              static_cast<long long>(rclrt::yaml::parse_milliseconds("2.5").value->count()));
  rclrt::yaml::Diagnostics diagnostics;
  rclrt::yaml::read_yaml("depth: 1\ndepth: 2\n", diagnostics);
  for (const auto& problem : diagnostics.take()) {
    std::printf("%s\n", rclrt::yaml::to_string(problem, "queue.yaml").c_str());
  }
}
