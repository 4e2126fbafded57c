// SPDX-License-Identifier: Apache-2.0
/// rclrt_model_check FILE: says whether the file is a valid application, and if not, why.
#include <cstdio>
#include <exception>
#include <string>

#include "rclrt/model/parse.hpp"

namespace {

constexpr int kOk = 0;
constexpr int kBadInput = 2;
constexpr const char* kUsage =
    "usage: rclrt_model_check FILE\n"
    "Reads an app.yaml. Exit code 0 when it is valid; 2 when it is not, with every problem on\n"
    "standard error as file:line:column: what is wrong; expected what.\n";

int check(const char* file) {
  const auto application = rclrt::model::load_application(file);
  std::printf("%s: ok: %zu callbacks, %zu chain%s, utilisation %.1f %%\n", file,
              application.callbacks.size(), application.chains.size(),
              application.chains.size() == 1 ? "" : "s", application.utilisation() * 100.0);
  return kOk;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string argument = argc == 2 ? argv[1] : "";
  if (argument == "--help" || argument == "-h") {
    std::fputs(kUsage, stdout);
    return kOk;
  }
  if (argument.empty() || argument.starts_with("--")) {
    std::fputs(kUsage, stderr);
    return kBadInput;
  }
  try {
    return check(argument.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kBadInput;
  }
}
