// SPDX-License-Identifier: Apache-2.0
// Prints the SHA-256 of a file.
#include <cstdio>
#include <rclrt/recorder/sha256.hpp>

int main(int, char** argv) {
  std::printf("%s\n", rclrt::recorder::sha256_of_file(argv[1]).c_str());
}
