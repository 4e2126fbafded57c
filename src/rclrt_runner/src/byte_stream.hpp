// SPDX-License-Identifier: Apache-2.0
// Values as bytes, for another process of the same program. Both directions of a type are one
// function `pass(stream, value)`, so that they cannot differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rclrt::runner {

/// Appends values to bytes.
class ByteWriter {
 public:
  template <typename T>
    requires std::is_arithmetic_v<T>
  void operator()(const T& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  template <typename T>
    requires std::is_enum_v<T>
  void operator()(const T& value, T /*last*/) {
    (*this)(static_cast<std::underlying_type_t<T>>(value));
  }
  void operator()(const std::string& text) {
    sequence(text, [this](char each) { (*this)(each); });
  }
  template <typename T>
  void operator()(const std::optional<T>& value) {
    (*this)(value.has_value());
    if (value) {
      (*this)(*value);
    }
  }
  template <typename T>
  void operator()(const std::vector<T>& values) {
    (*this)(values, [this](const T& each) { (*this)(each); });
  }
  /// Appends a list, each element by `write`.
  template <typename T, typename Write>
  void operator()(const std::vector<T>& values, const Write& write) {
    sequence(values, write);
  }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  template <typename Sequence, typename Write>
  void sequence(const Sequence& values, const Write& write) {
    (*this)(std::uint64_t{values.size()});
    for (const auto& each : values) {
      write(each);
    }
  }

  std::vector<std::byte> bytes_;
};

/// Reads the values in the same order. The bytes may come from another host, so they are not
/// trusted: throws std::runtime_error if they end too early or are not possible.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename T>
    requires std::is_arithmetic_v<T>
  void operator()(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t number = 0;
      (*this)(number);
      value = number != 0;
    } else {
      if (rest_.size() < sizeof value) {
        throw std::runtime_error("the data are not complete");
      }
      std::memcpy(&value, rest_.data(), sizeof value);
      rest_ = rest_.subspan(sizeof value);
    }
  }
  template <typename T>
    requires std::is_enum_v<T>
  void operator()(T& value, T last) {
    std::underlying_type_t<T> number{};
    (*this)(number);
    if (std::cmp_less(number, 0) || std::cmp_greater(number, static_cast<long long>(last))) {
      throw std::runtime_error("the data have an unknown number");
    }
    value = static_cast<T>(number);
  }
  void operator()(std::string& text) {
    text.resize(count());
    for (char& each : text) {
      (*this)(each);
    }
  }
  template <typename T>
  void operator()(std::optional<T>& value) {
    bool has_value = false;
    (*this)(has_value);
    value.reset();
    if (has_value) {
      (*this)(value.emplace());
    }
  }
  template <typename T>
  void operator()(std::vector<T>& values) {
    (*this)(values, [this](T& each) { (*this)(each); });
  }
  template <typename T, typename Read>
  void operator()(std::vector<T>& values, const Read& read) {
    values.clear();
    for (std::uint64_t left = count(); left > 0; --left) {
      read(values.emplace_back());
    }
  }

  bool is_at_end() const { return rest_.empty(); }

  /// Throws unless everything was read.
  void finish() const {
    if (!rest_.empty()) {
      throw std::runtime_error("the data are longer than expected");
    }
  }

 private:
  /// Returns how many elements follow; each has at least one byte.
  std::uint64_t count() {
    std::uint64_t result = 0;
    (*this)(result);
    if (result > rest_.size()) {
      throw std::runtime_error("the data are not complete");
    }
    return result;
  }

  std::span<const std::byte> rest_;
};

}  // namespace rclrt::runner
