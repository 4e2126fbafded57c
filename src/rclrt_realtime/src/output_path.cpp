// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/output_path.hpp"

#include <system_error>

namespace rclrt::realtime {

std::optional<std::string> describe_non_file(const std::filesystem::path& path) {
  std::error_code ignored;  // a path that cannot be examined cannot be opened either
  switch (std::filesystem::status(path, ignored).type()) {
    case std::filesystem::file_type::none:
    case std::filesystem::file_type::not_found:
    case std::filesystem::file_type::regular:
      return std::nullopt;
    case std::filesystem::file_type::directory:
      return "a directory";
    case std::filesystem::file_type::fifo:
      return "a FIFO";
    case std::filesystem::file_type::socket:
      return "a socket";
    case std::filesystem::file_type::block:
    case std::filesystem::file_type::character:
      return "a device";
    default:
      return "not a regular file";
  }
}

}  // namespace rclrt::realtime
