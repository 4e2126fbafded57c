// SPDX-License-Identifier: Apache-2.0
// A declared parameter, as the code that uses it sees it.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <rcl_interfaces/msg/parameter_descriptor.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "rclrt/parameter_value.hpp"
#include "rclrt/realtime/mutex.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt {

/// A range that includes both ends. With a step, the valid values are `from + n * step`, and `to`.
template <typename T>
struct ParameterRange {
  T from;
  T to;
  T step = 0;
};

/// Options of a parameter, set when it is declared.
template <typename T>
struct ParameterOptions {
  std::string description;
  std::string constraints;  ///< for people: what else a value must be; not checked
  bool read_only = false;   ///< keeps the value it is declared with
};

/// Numbers can have a range.
template <typename T>
  requires std::is_same_v<T, std::int64_t> || std::is_same_v<T, double>
struct ParameterOptions<T> {
  std::string description;
  std::string constraints;
  bool read_only = false;
  std::optional<ParameterRange<T>> range;
};

namespace detail {

template <typename T>
inline constexpr bool kIsScalarParameter =
    std::is_same_v<T, bool> || std::is_same_v<T, std::int64_t> || std::is_same_v<T, double>;

/// Packs a bool, an integer or a double into the 64 bits that real-time readers load.
template <typename T>
std::int64_t to_bits(T value) noexcept {
  if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::int64_t>(value);
  } else {
    return value;
  }
}
template <typename T>
T from_bits(std::int64_t bits) noexcept {
  if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(bits);
  } else {
    return static_cast<T>(bits);
  }
}

struct ParameterEntry {
  rcl_interfaces::msg::ParameterDescriptor descriptor;  // constant once it is declared
  mutable realtime::PiMutex mutex;                      // guards value; never held in user code
  ParameterValue value;
  std::atomic<std::int64_t> bits{0};  // the same value if it is a scalar, written after it
};

}  // namespace detail

/// Reads the value of one declared parameter, from any thread. Cheap to copy. After the parameter
/// is undeclared it still returns the last value.
template <typename T>
class Parameter {
  static constexpr bool kIsScalar = detail::kIsScalarParameter<T>;

 public:
  /// Makes a handle of a declared parameter; use Node::declare_parameter.
  explicit Parameter(std::shared_ptr<const detail::ParameterEntry> entry)
      : entry_(std::move(entry)) {}

  /// Returns the current value, with one atomic load for bools, integers and doubles. If two
  /// parameters are set together, a thread that reads both may get one value from before the change
  /// and one from after it. To get both from the same change, copy them in a post-set callback (see
  /// Parameters).
  T get() const noexcept RCLRT_NONBLOCKING
    requires kIsScalar
  {
    return detail::from_bits<T>(entry_->bits.load());
  }

  /// Returns a copy, made under a lock with priority inheritance; may allocate.
  T get() const
    requires(!kIsScalar)
  {
    const std::scoped_lock lock(entry_->mutex);
    return std::get<T>(entry_->value);
  }

  const std::string& name() const noexcept { return entry_->descriptor.name; }

 private:
  std::shared_ptr<const detail::ParameterEntry> entry_;
};

}  // namespace rclrt
