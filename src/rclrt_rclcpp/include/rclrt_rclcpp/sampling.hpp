// SPDX-License-Identifier: Apache-2.0
// Chains that sample: a subscription stores the newest value of its topic, a timer reads it. The
// value carries the time from which its data counts, so a largest age (Timing::max_age) further on
// counts from there. As rclrt/sampling.hpp does for rclrt's nodes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/sampled_value.hpp"
#include "rclrt/realtime/stamp.hpp"
#include "rclrt_rclcpp/export.hpp"
#include "rclrt_rclcpp/origins.hpp"

namespace rclrt_rclcpp {

using rclrt::realtime::Sample;

/// Returns the origin of the data of the callback that the calling thread runs, as far as its
/// executor knows: for a timer, its release, or the oldest data that it has used; for a
/// subscription, see Timing::max_age. `since_ns` is 0 if it is unknown, and outside of callbacks of
/// this package's executors.
RCLRT_RCLCPP_EXPORT Origin current_origin() noexcept RCLRT_NONBLOCKING;

/// States that the callback which the calling thread runs uses data of this origin from now on, for
/// code that keeps values of its own. Messages that it publishes from now on count from the oldest
/// of its data, but not from the release of its timer. Has no effect outside of callbacks of this
/// package's executors, and if the origin is unknown.
RCLRT_RCLCPP_EXPORT void use_origin(Origin origin) noexcept RCLRT_NONBLOCKING;

/// A subscription that stores the newest value of its topic, and the value. A copy is the same one.
template <typename V>
struct SampledSubscription {
  rclcpp::SubscriptionBase::SharedPtr subscription;
  /// `value->reader()` makes a reader for your own callbacks, which then call `use_origin`.
  std::shared_ptr<rclrt::realtime::SampledValue<V>> value;
};

namespace detail {

/// Throws std::invalid_argument if `what` could run twice at once.
RCLRT_RCLCPP_EXPORT void require_exclusive(const rclcpp::CallbackGroup::SharedPtr& group,
                                           const std::string& what);

/// Returns the origin of the message that the calling thread has taken. `stamp_ns`: its stamp in
/// nanoseconds since 1970; 0: it has none.
RCLRT_RCLCPP_EXPORT Origin origin_of_taken(std::int64_t stamp_ns,
                                           const rclcpp::MessageInfo& info) noexcept;

template <typename T>
std::int64_t stamp_of_message(const T& message) noexcept {
  if constexpr (rclrt::realtime::Stamped<T>) {
    return rclrt::realtime::stamp_ns(message);
  } else {
    return 0;
  }
}

}  // namespace detail

/// Creates a subscription that stores the newest value of its topic, for timers that sample it: see
/// create_sampling_timer. `node` is an rclcpp::Node or a rclcpp_lifecycle::LifecycleNode.
/// `value_of` makes the value from `const T&`; it must be trivially copyable (numbers, and structs
/// and arrays of them). The value keeps the origin of the message: its `header.stamp`; otherwise
/// the origin that a process with a monitor shares (Options::origins), or the publication. If
/// `value_of` returns a Sample, its origin is stored instead. At most `max_readers` timers and
/// other callbacks may sample the value.
///
/// The store is wait-free and allocates nothing; it works under any executor. Throws
/// std::invalid_argument if the subscription's group is reentrant.
template <typename T, typename F = std::identity, typename Node>
auto create_sampled_subscription(Node& node, const std::string& topic, const rclcpp::QoS& qos,
                                 F value_of = {}, const rclcpp::SubscriptionOptions& options = {},
                                 std::size_t max_readers = 4) {
  using Result = std::decay_t<std::invoke_result_t<F&, const T&>>;
  using Value = rclrt::realtime::StoredType<Result>;
  detail::require_exclusive(options.callback_group, "the sampled subscription of '" + topic + "'");
  struct State {
    std::shared_ptr<rclrt::realtime::SampledValue<Value>> value;
    F value_of;
  };
  const auto value = std::make_shared<rclrt::realtime::SampledValue<Value>>(max_readers);
  const auto state = std::make_shared<State>(State{value, std::move(value_of)});
  const auto store = [state](const T& message, const rclcpp::MessageInfo& info) {
    if constexpr (std::is_same_v<Result, Value>) {
      state->value->store(state->value_of(message),
                          detail::origin_of_taken(detail::stamp_of_message(message), info));
    } else {
      const Result sample = state->value_of(message);
      state->value->store(sample.value, sample.origin);
    }
  };
  return SampledSubscription<Value>{
      node.template create_subscription<T>(topic, qos, store, options), value};
}

/// Creates a wall timer that samples the newest values of subscriptions. `callback` takes a
/// `const Sample<V>&` for each of them, valid during the call: with its value, its age (`age_ns`)
/// and whether it is new (`number`). Before the first message a sample is not stored, and has no
/// origin. Messages that `callback` publishes count from the oldest of the samples. Reading is
/// wait-free and allocates nothing. Throws std::length_error if one of the values has no reader
/// left, and std::invalid_argument if the group is reentrant.
template <typename Node, typename F, typename... V>
rclcpp::TimerBase::SharedPtr create_sampling_timer(
    Node& node, std::chrono::nanoseconds period,
    const std::tuple<SampledSubscription<V>...>& sampled, F callback,
    rclcpp::CallbackGroup::SharedPtr group = nullptr) {
  detail::require_exclusive(group,
                            "a sampling timer of node '" + std::string(node.get_name()) + "'");
  struct State {
    rclrt::realtime::SampleReaders<V...> readers;
    F callback;
  };
  const auto state = std::apply(
      [&](const auto&... each) {
        return std::make_shared<State>(
            State{rclrt::realtime::SampleReaders<V...>(each.value...), std::move(callback)});
      },
      sampled);
  return node.create_wall_timer(
      period,
      [state] {
        const auto use = [&](const auto&... samples) {
          // At once: each change of the origin takes a place in the ring of origins.
          Origin oldest;
          ((oldest = rclrt::realtime::older(oldest, samples.origin)), ...);
          use_origin(oldest);
          state->callback(samples...);
        };
        std::apply(use, state->readers.view());
      },
      std::move(group));
}
/// Creates the same for one value.
template <typename Node, typename F, typename V>
rclcpp::TimerBase::SharedPtr create_sampling_timer(
    Node& node, std::chrono::nanoseconds period, const SampledSubscription<V>& sampled, F callback,
    rclcpp::CallbackGroup::SharedPtr group = nullptr) {
  return create_sampling_timer(node, period, std::tuple(sampled), std::move(callback),
                               std::move(group));
}

}  // namespace rclrt_rclcpp
