// SPDX-License-Identifier: Apache-2.0
#include "part.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <span>

#include "byte_stream.hpp"
#include "rclrt/realtime/throw_errno.hpp"

namespace rclrt::runner {

namespace {

/// Calls `io` with what is left of the bytes and its place in the file, until nothing is left or
/// the file ends. Returns the number of bytes.
template <typename Bytes, typename Io>
std::size_t transfer(Bytes bytes, const char* problem, const Io& io) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t done = io(bytes.subspan(at), static_cast<off_t>(at));
    if (done < 0 && errno != EINTR) {
      realtime::throw_errno(problem);
    }
    if (done == 0) {
      break;
    }
    at += static_cast<std::size_t>(std::max<ssize_t>(done, 0));
  }
  return at;
}

}  // namespace

void write_part(int file, const Part& part) {
  constexpr const char* kProblem = "cannot write the measurements of the process";
  ByteWriter writer;
  pass_part(writer, part);
  const std::vector<std::byte> bytes = writer.take();
  transfer(std::span(bytes), kProblem,
           [&](auto rest, off_t at) { return ::pwrite(file, rest.data(), rest.size(), at); });
  // Cuts off what an earlier, longer part has left.
  if (::ftruncate(file, static_cast<off_t>(bytes.size())) != 0) {
    realtime::throw_errno(kProblem);
  }
}

Part read_part(int file) {
  constexpr const char* kProblem = "cannot read the measurements of the process";
  struct stat status{};
  if (::fstat(file, &status) != 0) {
    realtime::throw_errno(kProblem);
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
  bytes.resize(transfer(std::span(bytes), kProblem, [&](auto rest, off_t at) {
    return ::pread(file, rest.data(), rest.size(), at);
  }));
  ByteReader reader(bytes);
  Part part;
  pass_part(reader, part);
  reader.finish();
  return part;
}

}  // namespace rclrt::runner
