// SPDX-License-Identifier: Apache-2.0
// Chains that sample: a subscription stores the newest value of its topic, a timer reads it. The
// value carries the time from which its data counts.
#pragma once

#include <builtin_interfaces/msg/time.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rclrt/callback_options.hpp"
#include "rclrt/detail/time_message.hpp"
#include "rclrt/node.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/sampled_value.hpp"
#include "rclrt/realtime/stamp.hpp"
#include "rclrt/subscription.hpp"
#include "rclrt/timer.hpp"

namespace rclrt {

using realtime::Origin;
using realtime::Sample;

/// Returns a time of CLOCK_MONOTONIC as a stamp of a message. With the nominal release of a timer
/// (`InstanceInfo::release_ns`) a chain begins.
inline builtin_interfaces::msg::Time stamp_of(std::int64_t monotonic_ns) {
  return detail::time_message(monotonic_ns - realtime::monotonic_less_realtime_ns());
}

/// Returns the origin of a sample as the stamp of a message that is made from it, so that the chain
/// goes on. Returns zero for an origin that is unknown or not whole: the data then count from the
/// arrival of that message, and its readers know so.
///
///     path.header.stamp = stamp_of(obstacles.origin);
inline builtin_interfaces::msg::Time stamp_of(const Origin& origin) {
  return origin.is_whole ? stamp_of(origin.since_ns) : builtin_interfaces::msg::Time();
}

/// Returns the origin of a message's data: its `header.stamp`. If the type has none, or the stamp
/// is impossible (zero, more than a second in the future, older than a year), it is the arrival of
/// the message, and not whole.
template <typename T>
Origin origin_of(const T& message, const InstanceInfo& info) noexcept RCLRT_NONBLOCKING {
  if constexpr (realtime::Stamped<T>) {
    if (const auto since_ns = realtime::stamp_to_monotonic_ns(
            realtime::stamp_ns(message), realtime::monotonic_less_realtime_ns(),
            realtime::monotonic_now_ns())) {
      return {*since_ns, true};
    }
  }
  return {info.release_ns, false};
}

/// A subscription that stores the newest value of its topic, and the value. A copy is the same one.
template <typename V>
struct SampledSubscription {
  std::shared_ptr<SubscriptionBase> subscription;
  /// `value->reader()` makes a reader for your own callbacks.
  std::shared_ptr<realtime::SampledValue<V>> value;
};

/// Creates a subscription that stores the newest value of its topic, for timers that sample it: see
/// create_sampling_timer. `value_of` makes the value from `const T&`; it must be trivially copyable
/// (numbers, and structs and arrays of them). The value keeps the origin of the message: see
/// origin_of. If `value_of` returns a Sample, its origin is stored instead, for messages that carry
/// it elsewhere. At most `max_readers` timers and other callbacks may sample the value.
///
/// The store is wait-free and allocates nothing. The subscription never overlaps with itself, also
/// in a reentrant group, so the value has one writer at a time.
template <typename T, typename F = std::identity>
RCLRT_SETUP auto create_sampled_subscription(Node& node, const std::string& topic, const QoS& qos,
                                             F value_of = {}, CallbackOptions options = {},
                                             std::size_t max_readers = 4) {
  using Result = std::decay_t<std::invoke_result_t<F&, const T&>>;
  using Value = realtime::StoredType<Result>;
  const auto value = std::make_shared<realtime::SampledValue<Value>>(max_readers);
  detail::exclude_each_other(options);
  auto subscription = node.create_subscription<T>(
      topic, qos,
      [value, value_of = std::move(value_of)](const T& message, const InstanceInfo& info) mutable {
        if constexpr (std::is_same_v<Result, Value>) {
          value->store(value_of(message), origin_of(message, info));
        } else {
          const Result sample = value_of(message);
          value->store(sample.value, sample.origin);
        }
      },
      std::move(options));
  return SampledSubscription<Value>{std::move(subscription), value};
}

/// Creates a timer that samples the newest values of subscriptions. `callback` takes a
/// `const Sample<V>&` for each of them, optionally followed by `const InstanceInfo&`. A sample is
/// valid during the call. It has a value, its age (`age_ns`), its origin for the messages that
/// `callback` publishes (`stamp_of`), and whether it is new (`number`). Before the first message it
/// is not stored, and has no origin. Reading is wait-free and allocates nothing. Throws
/// std::length_error if one of the values has no reader left.
template <typename F, typename... V>
RCLRT_SETUP std::shared_ptr<Timer> create_sampling_timer(
    Node& node, realtime::SaturatingNanoseconds period,
    const std::tuple<SampledSubscription<V>...>& sampled, F callback, CallbackOptions options = {},
    const TimerOptions& timer = {}) {
  detail::exclude_each_other(options);
  auto readers = std::apply(
      [](const auto&... each) { return realtime::SampleReaders<V...>(each.value...); }, sampled);
  return node.create_wall_timer(
      period,
      [readers = std::move(readers),
       callback = std::move(callback)](const InstanceInfo& info) mutable {
        std::apply([&](const auto&... samples) { detail::call(callback, info, samples...); },
                   readers.view());
      },
      std::move(options), timer);
}
/// Creates the same for one value.
template <typename F, typename V>
RCLRT_SETUP std::shared_ptr<Timer> create_sampling_timer(Node& node,
                                                         realtime::SaturatingNanoseconds period,
                                                         const SampledSubscription<V>& sampled,
                                                         F callback, CallbackOptions options = {},
                                                         const TimerOptions& timer = {}) {
  return create_sampling_timer(node, period, std::tuple(sampled), std::move(callback),
                               std::move(options), timer);
}

}  // namespace rclrt
