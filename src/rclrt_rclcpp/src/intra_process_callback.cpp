// SPDX-License-Identifier: Apache-2.0
// Runs the messages that reach a subscription within the process.
#include <atomic>
#include <rclcpp/experimental/subscription_intra_process_base.hpp>
#include <utility>

#include "message_age.hpp"
#include "message_callback.hpp"

namespace rclrt_rclcpp {

namespace {

using engine::InstanceInfo;
using engine::Outcome;
using IntraProcess = rclcpp::experimental::SubscriptionIntraProcessBase;

/// Runs rclcpp's waitable for the intra-process messages of a subscription. The messages are in a
/// ring with the QoS depth; in a full ring a new message replaces the oldest one, as KEEP_LAST does
/// in a middleware.
class IntraProcessCallback final : public MessageCallback<IntraProcess> {
 public:
  using MessageCallback::MessageCallback;

  /// Makes the age of a message count from its arrival, which is during the call of publish. rclcpp
  /// does not show the message, so its stamp cannot be read.
  void count_from_stamp(const rclcpp::SubscriptionBase& subscription, AgeOptions options) override {
    is_limited_ = options.is_limited;
    has_stamps_ = StampReader(subscription.get_message_type_support_handle()).has_header();
  }
  AgeCounters age_counters() const noexcept override {
    const std::uint64_t taken = taken_.load(std::memory_order_relaxed);  // statistics only
    return has_stamps_ ? AgeCounters{.unstamped = taken} : AgeCounters{.from_publication = taken};
  }

 private:
  rcl_ret_t set_listener(IntraProcess& waitable, rcl_event_callback_t function,
                         const void* user_data) override {
    waitable.set_on_ready_callback(
        [function, user_data](std::size_t count, int) { function(user_data, count); });
    return RCL_RET_OK;
  }
  rcl_ret_t end_listener(const std::shared_ptr<IntraProcess>& waitable) override {
    waitable->clear_on_ready_callback();
    return RCL_RET_OK;
  }
  Outcome take_and_run(IntraProcess& waitable, InstanceInfo& info, Taking& taking) override {
    std::shared_ptr<void> data = waitable.take_data();  // nullptr: there is none
    while (data && !takes_one()) {
      std::shared_ptr<void> next = waitable.take_data();
      if (!next) {
        break;
      }
      data = std::move(next);
    }
    if (!data) {
      return Outcome::kEmpty;
    }
    if (observer() != nullptr) {
      observer()->on_message_taken(info.ready_ns);  // announced during its publication
    }
    if (is_limited_) {
      taken_.fetch_add(1, std::memory_order_relaxed);  // statistics only
    }
    const Running running(*this, info, taking, Origin{info.ready_ns, false});
    waitable.execute(data);
    return Outcome::kRan;
  }

  bool is_limited_ = false;
  bool has_stamps_ = false;              // it should count from these
  std::atomic<std::uint64_t> taken_{0};  // if is_limited_; relaxed: statistics only
};

}  // namespace

Bound bind(const IntraProcess::SharedPtr& waitable, engine::CallbackOptions options,
           Changes& changes) {
  options.type = engine::EntityType::kSubscription;
  return make_bound<IntraProcessCallback>(waitable, waitable->get_actual_qos(), options, changes);
}

}  // namespace rclrt_rclcpp
