// SPDX-License-Identifier: Apache-2.0
#include "part.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <type_traits>

#include "rclrt/realtime/throw_errno.hpp"

namespace rclrt::runner {

namespace {

/// Appends values to a file.
class Output {
 public:
  explicit Output(int file) : file_(file) {}

  template <typename T>
  void operator()(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(std::as_bytes(std::span(&value, 1)));
  }
  void operator()(const std::string& text) { sequence(text); }
  template <typename T>
  void operator()(const std::vector<T>& values) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      sequence(values);
    } else {
      (*this)(values.size());
      for (const T& value : values) {
        (*this)(value);
      }
    }
  }
  void operator()(const recorder::RealtimeState& state) {
    (*this)(state.granted);
    (*this)(state.reason);
    (*this)(state.runs_to_completion);
  }
  void operator()(const recorder::ThreadResult& thread) {
    (*this)(thread.name);
    (*this)(thread.tid);
    (*this)(thread.scheduling.policy);
    (*this)(thread.scheduling.priority);
    (*this)(thread.scheduling.cpus);
    (*this)(thread.process);
  }

  /// Cuts off what an earlier, longer part has left.
  void end() const {
    if (::ftruncate(file_, at_) != 0) {
      realtime::throw_errno("cannot write the measurements of the process");
    }
  }

 private:
  template <typename Sequence>
  void sequence(const Sequence& values) {
    (*this)(values.size());
    put(std::as_bytes(std::span(values)));
  }

  void put(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::pwrite(file_, bytes.data(), bytes.size(), at_);
      if (written < 0 && errno != EINTR) {
        realtime::throw_errno("cannot write the measurements of the process");
      }
      at_ += std::max<ssize_t>(written, 0);
      bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
  }

  const int file_;
  off_t at_ = 0;
};

/// Reads the values in the same order.
class Input {
 public:
  explicit Input(int file) : file_(file) {
    struct stat status{};
    if (::fstat(file, &status) != 0) {
      realtime::throw_errno("cannot read the measurements of the process");
    }
    size_ = status.st_size;
  }

  template <typename T>
  void operator()(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    get(std::as_writable_bytes(std::span(&value, 1)));
  }
  void operator()(std::string& text) { sequence(text); }
  template <typename T>
  void operator()(std::vector<T>& values) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      sequence(values);
    } else {
      values.resize(count(1));
      for (T& value : values) {
        (*this)(value);
      }
    }
  }
  void operator()(recorder::RealtimeState& state) {
    (*this)(state.granted);
    (*this)(state.reason);
    (*this)(state.runs_to_completion);
  }
  void operator()(recorder::ThreadResult& thread) {
    (*this)(thread.name);
    (*this)(thread.tid);
    (*this)(thread.scheduling.policy);
    (*this)(thread.scheduling.priority);
    (*this)(thread.scheduling.cpus);
    (*this)(thread.process);
  }

 private:
  template <typename Sequence>
  void sequence(Sequence& values) {
    values.resize(count(sizeof(typename Sequence::value_type)));
    get(std::as_writable_bytes(std::span(values)));
  }

  /// Returns how many elements of `bytes` bytes each follow.
  std::size_t count(std::size_t bytes) {
    std::size_t result = 0;
    (*this)(result);
    if (result > static_cast<std::size_t>(size_ - at_) / bytes) {
      throw std::runtime_error("the measurements of the process are not complete");
    }
    return result;
  }

  void get(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t got = ::pread(file_, bytes.data(), bytes.size(), at_);
      if (got == 0) {
        throw std::runtime_error("the measurements of the process are not complete");
      }
      if (got < 0 && errno != EINTR) {
        realtime::throw_errno("cannot read the measurements of the process");
      }
      at_ += std::max<ssize_t>(got, 0);
      bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    }
  }

  const int file_;
  off_t size_ = 0;
  off_t at_ = 0;
};

/// Reads or writes all members of a part.
template <typename Stream, typename Contents>
void pass(Stream& stream, Contents& part) {
  stream(part.ended_ns);
  stream(part.records_dropped);
  stream(part.foreign_messages);
  stream(part.counts);
  stream(part.kernel_priorities);
  stream(part.realtime);
  stream(part.threads);
  stream(part.memory_locked);
  stream(part.rmw);
}

}  // namespace

void write_part(int file, const Part& part) {
  Output output(file);
  pass(output, part);
  output.end();
}

Part read_part(int file) {
  Input input(file);
  Part part;
  pass(input, part);
  return part;
}

}  // namespace rclrt::runner
