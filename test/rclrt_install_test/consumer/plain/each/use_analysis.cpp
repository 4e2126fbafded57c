// SPDX-License-Identifier: Apache-2.0
// Prints the bound of the response time of each chain of an application.
#include <cstdio>
#include <rclrt/analysis/chain_bounds.hpp>
#include <rclrt/model/parse.hpp>
#include <string>

int main(int, char** argv) {
  const auto application = rclrt::model::load_application(argv[1]);
  const auto bounds = rclrt::analysis::chain_bounds(application);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    std::printf("%s: %lld ns, %s\n", application.chains[i].id.c_str(),
                static_cast<long long>(bounds[i].bound.value()),
                std::string(rclrt::analysis::to_string(bounds[i].verdict)).c_str());
  }
}
