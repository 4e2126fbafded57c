// SPDX-License-Identifier: Apache-2.0
// A message to fill in and publish without a copy.
#pragma once

#include <memory>
#include <utility>

#include "rclrt/export.hpp"

namespace rclrt {

namespace detail {
/// What a loan goes back to when it is not published: the pool of a topic, or the middleware.
class RCLRT_EXPORT LoanOwner {
 public:
  LoanOwner() = default;
  virtual ~LoanOwner() = default;
  LoanOwner(const LoanOwner&) = delete;
  LoanOwner& operator=(const LoanOwner&) = delete;

  virtual void give_back(void* token) noexcept = 0;
};
}  // namespace detail

template <typename T>
class Publisher;

/// A message lent by `Publisher<T>::borrow`, to be filled in and handed to `publish`. Its content
/// is what the last one left in this storage: set every field. Empty when there was none to lend,
/// after moving from it and once published. One that is not published goes back when it ends; it
/// may outlive its publisher. One thread at a time.
template <typename T>
class Loan {
 public:
  Loan() = default;
  Loan(Loan&& other) noexcept
      : owner_(std::move(other.owner_)),
        token_(std::exchange(other.token_, nullptr)),
        message_(std::exchange(other.message_, nullptr)) {}
  Loan& operator=(Loan&& other) noexcept {
    if (this != &other) {
      reset();
      owner_ = std::move(other.owner_);
      token_ = std::exchange(other.token_, nullptr);
      message_ = std::exchange(other.message_, nullptr);
    }
    return *this;
  }
  ~Loan() { reset(); }

  explicit operator bool() const noexcept { return message_ != nullptr; }
  /// Only of a loan that is not empty.
  T& operator*() const noexcept { return *message_; }
  T* operator->() const noexcept { return message_; }

  /// Gives the message back unpublished.
  void reset() noexcept {
    if (message_ != nullptr) {
      owner_->give_back(token_);
      message_ = nullptr;
    }
    owner_.reset();
  }

 private:
  friend class Publisher<T>;

  Loan(std::shared_ptr<detail::LoanOwner> owner, void* token, T* message) noexcept
      : owner_(std::move(owner)), token_(token), message_(message) {}

  std::shared_ptr<detail::LoanOwner> owner_;
  void* token_ = nullptr;
  T* message_ = nullptr;
};

}  // namespace rclrt
