// SPDX-License-Identifier: Apache-2.0
// Prints the chains of an application.
#include <cstdio>
#include <rclrt/model/parse.hpp>

int main(int, char** argv) {
  const auto application = rclrt::model::load_application(argv[1]);
  for (const auto& chain : application.chains) {
    std::printf("%s: %zu callbacks\n", chain.id.c_str(), chain.callbacks.size());
  }
}
