// SPDX-License-Identifier: Apache-2.0
// A message to fill in and publish without a copy.
#pragma once

#include <memory>
#include <utility>

#include "rclrt/export.hpp"

namespace rclrt {

namespace detail {
/// Takes an unpublished loan back: the pool of a topic, or the middleware.
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

/// A message that `Publisher<T>::borrow` has lent: fill it in and pass it to `publish`. It still
/// has the content of an earlier message, so set every field. A loan is empty if there was no
/// message to lend, after it was moved from, and after it was published. When a loan that was not
/// published is destroyed, its message goes back. A loan may outlive its publisher. Use it from one
/// thread at a time.
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
  /// Requires a loan that is not empty.
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
