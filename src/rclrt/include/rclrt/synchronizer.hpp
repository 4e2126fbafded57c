// SPDX-License-Identifier: Apache-2.0
// One callback for pairs of messages from two topics.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "rclrt/subscription.hpp"
#include "rclrt/sync_buffer.hpp"

namespace rclrt {

/// How messages of two topics are paired.
struct SyncOptions {
  SyncPolicy policy = SyncPolicy::kApproximate;
  /// How far apart two stamps may be for kApproximate.
  std::chrono::nanoseconds window = std::chrono::seconds(1);
};

/// Returns the time by which messages are paired, in nanoseconds: `header.stamp`, or `stamp_ns`.
/// Specialise it for messages that keep it elsewhere.
template <typename T>
std::int64_t message_stamp_ns(const T& message) {
  if constexpr (requires { message.header.stamp.sec; }) {
    return std::int64_t{message.header.stamp.sec} * realtime::kNanosecondsPerSecond +
           message.header.stamp.nanosec;
  } else {
    return message.stamp_ns;
  }
}

/// The two subscriptions of a synchroniser. Both are entities of their own to the executor; they
/// exclude each other, so the buffer between them needs no lock.
struct Synchronizer {
  std::array<std::shared_ptr<SubscriptionBase>, 2> inputs;
};

namespace detail {

template <typename A, typename B, typename F>
struct SyncState {
  SyncBuffer<A, B> buffer;
  F function;

  executor::Outcome finish(bool matched, InstanceInfo& info) {
    if (!matched) {
      return executor::Outcome::kBuffered;
    }
    info.start_ns = realtime::monotonic_now_ns();
    struct Consume {
      SyncBuffer<A, B>& buffer;
      ~Consume() { buffer.consume(); }
    } const consume{buffer};
    call(function, info, buffer.first(), buffer.second());
    return executor::Outcome::kRan;
  }
};

template <typename State, typename T, bool kFirst>
class SyncInput final : public Subscription<T> {
 public:
  SyncInput(std::shared_ptr<NodeHandle> node, const std::string& topic, const QoS& qos,
            const CallbackOptions& options, std::shared_ptr<State> state)
      : Subscription<T>(std::move(node), topic, qos, options), state_(std::move(state)) {}

 protected:
  executor::Outcome run(InstanceInfo& info) override {
    if (!this->take(&message_, info)) {
      return executor::Outcome::kEmpty;
    }
    info.start_ns = realtime::monotonic_now_ns();
    const std::int64_t stamp_ns = message_stamp_ns(message_);
    if constexpr (kFirst) {
      return state_->finish(state_->buffer.add_first(message_, stamp_ns), info);
    } else {
      return state_->finish(state_->buffer.add_second(message_, stamp_ns), info);
    }
  }

 private:
  const std::shared_ptr<State> state_;
  T message_;
};

}  // namespace detail

}  // namespace rclrt
