// SPDX-License-Identifier: Apache-2.0
/// rclrt_model_check [--robot] FILE: says whether the file is a valid application, or what a
/// process gets at launch, and if not, why.
#include <cstdio>
#include <exception>
#include <string>

#include "rclrt/model/parse.hpp"
#include "rclrt/model/robot.hpp"

namespace {

constexpr int kOk = 0;
constexpr int kBadInput = 2;
constexpr const char* kUsage =
    "usage: rclrt_model_check [--robot] FILE\n"
    "Reads an app.yaml, or a robot.yaml. Exit code 0 when it is valid; 2 when it is not, with "
    "every problem on\n"
    "standard error as file:line:column: what is wrong; expected what.\n";

int check(const char* file) {
  const auto application = rclrt::model::load_application(file);
  std::printf("%s: ok: %zu callbacks, %zu chain%s, utilisation %.1f %%\n", file,
              application.callbacks.size(), application.chains.size(),
              application.chains.size() == 1 ? "" : "s", application.utilisation() * 100.0);
  return kOk;
}

int check_robot(const char* file) {
  const auto robot = rclrt::model::load_robot(file);
  std::printf("%s: ok: %zu entries of callbacks, %zu rules of threads\n", file,
              robot.callbacks.size(), robot.threads.rules.size());
  return kOk;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_robot = argc == 3 && std::string(argv[1]) == "--robot";
  const std::string argument = argc == 2 || is_robot ? argv[argc - 1] : "";
  if (argument == "--help" || argument == "-h") {
    std::fputs(kUsage, stdout);
    return kOk;
  }
  if (argument.empty() || argument.starts_with("--")) {
    std::fputs(kUsage, stderr);
    return kBadInput;
  }
  try {
    return is_robot ? check_robot(argument.c_str()) : check(argument.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kBadInput;
  }
}
