// SPDX-License-Identifier: Apache-2.0
// One callback for sets of messages, one from each of several topics.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rclrt/realtime/duration.hpp"
#include "rclrt/subscription.hpp"
#include "rclrt/sync_buffer.hpp"

namespace rclrt {

/// Options for the matching of messages of several topics.
struct SyncOptions {
  SyncPolicy policy = SyncPolicy::kApproximate;
  /// How far apart the stamps of a set may be for kApproximate; not negative.
  realtime::SaturatingNanoseconds window = std::chrono::seconds(1);
};

/// Returns the time stamp by which messages are matched, in nanoseconds: the field `header.stamp`,
/// or `stamp_ns`. Specialise this function for messages that keep the stamp elsewhere.
template <typename T>
std::int64_t message_stamp_ns(const T& message) {
  if constexpr (requires { message.header.stamp.sec; }) {
    return std::int64_t{message.header.stamp.sec} * realtime::kNanosecondsPerSecond +
           message.header.stamp.nanosec;
  } else {
    return message.stamp_ns;
  }
}

/// The subscriptions of a synchroniser, in the order of its topics. Each of them is a callback of
/// its own for the executor. They exclude each other, so the buffer that they share needs no lock.
struct Synchronizer {
  std::vector<std::shared_ptr<SubscriptionBase>> inputs;
};

namespace detail {

/// Calls `function` for the set in the buffer, and then removes the set, even if `function` throws.
template <typename Buffer, typename Function>
executor::Outcome run_for_set(bool complete, Buffer& buffer, const executor::Callback& input,
                              InstanceInfo& info, Function function) {
  if (!complete) {
    return executor::Outcome::kBuffered;
  }
  struct Consume {
    Buffer& buffer;
    ~Consume() { buffer.consume(); }
  } const consume{buffer};
  const UserCode user_code(input, info);
  function();
  return executor::Outcome::kRan;
}

/// The common part of the inputs of a synchroniser.
template <typename F, typename... Ts>
struct SyncState {
  SyncBuffer<Ts...> buffer;
  F function;

  template <std::size_t I, typename T>
  executor::Outcome add(T& message, const executor::Callback& input, InstanceInfo& info) {
    const bool complete = buffer.template add<I>(message, message_stamp_ns(message));
    return run_for_set(complete, buffer, input, info, [&] {
      [&]<std::size_t... N>(std::index_sequence<N...>) {
        call(function, info, buffer.template get<N>()...);
      }(std::index_sequence_for<Ts...>{});
    });
  }
};

/// The shared state of a synchroniser with inputs of one type: the buffer and the user's function.
/// If the function object has a member function `took(std::size_t input, const T&)`, it is called
/// with each message before the message is matched with others.
template <typename F, typename T>
struct SyncListState {
  SyncListBuffer<T> buffer;
  F function;

  executor::Outcome add(std::size_t number, T& message, const executor::Callback& input,
                        InstanceInfo& info) {
    if constexpr (requires { function.took(number, std::as_const(message)); }) {
      function.took(number, std::as_const(message));
    }
    const bool complete = buffer.add(number, message, message_stamp_ns(message));
    return run_for_set(complete, buffer, input, info, [&] {
      const std::span<const T* const> set = buffer.set();
      call(function, info, set);
    });
  }
};

/// `Add` takes a message, the input's callback and the instance's information.
template <typename T, typename Add>
class SyncInput final : public Subscription<T> {
 public:
  SyncInput(std::shared_ptr<NodeHandle> node, const std::string& topic, const QoS& qos,
            const CallbackOptions& options, Add add)
      : Subscription<T>(std::move(node), topic, qos, options), add_(std::move(add)) {}

 protected:
  executor::Outcome run(InstanceInfo& info) override {
    const TakenAhead ahead = std::exchange(taken_ahead_, TakenAhead::kNotAsked);
    const bool taken =
        ahead == TakenAhead::kNotAsked ? this->take(&message_, info) : ahead == TakenAhead::kCopy;
    if (!taken) {
      return executor::Outcome::kEmpty;
    }
    info.start_ns = realtime::monotonic_now_ns();
    return add_(message_, *this, info);
  }
  void take_input(InstanceInfo& info) override {
    taken_ahead_ = this->take(&message_, info) ? TakenAhead::kCopy : TakenAhead::kNothing;
  }
  void discard_input() noexcept override { taken_ahead_ = TakenAhead::kNotAsked; }

 private:
  Add add_;
  T message_;
  TakenAhead taken_ahead_ = TakenAhead::kNotAsked;
};

}  // namespace detail

}  // namespace rclrt
