// SPDX-License-Identifier: Apache-2.0
// Which events of a publisher or subscription have a callback.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace rclrt::detail {

/// One bit for each claimed kind. Thread-safe.
using EventKinds = std::atomic<std::uint32_t>;

/// Reserves one kind of event of one publisher or subscription for one callback, as long as this
/// object exists. The middleware delivers each change only once, so a second callback would take
/// changes away from the first.
class EventClaim {
 public:
  /// Reserves the event. Throws std::invalid_argument if this kind is reserved already. `kinds`
  /// keeps the publisher or subscription alive.
  EventClaim(std::shared_ptr<EventKinds> kinds, unsigned kind, const std::string& endpoint)
      : kinds_(std::move(kinds)), bit_(std::uint32_t{1} << kind) {
    if ((kinds_->fetch_or(bit_) & bit_) != 0) {
      throw std::invalid_argument("the " + endpoint +
                                  " already has a callback for this kind of event; use that one, "
                                  "or destroy it first");
    }
  }
  ~EventClaim() { kinds_->fetch_and(~bit_); }
  EventClaim(const EventClaim&) = delete;
  EventClaim& operator=(const EventClaim&) = delete;

 private:
  const std::shared_ptr<EventKinds> kinds_;
  const std::uint32_t bit_;
};

}  // namespace rclrt::detail
