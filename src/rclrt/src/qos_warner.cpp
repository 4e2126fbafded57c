// SPDX-License-Identifier: Apache-2.0
#include "qos_warner.hpp"

#include <rcl/error_handling.h>
#include <rcl/graph.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <utility>

#include "qos_mismatch.hpp"
#include "rclrt/error.hpp"
#include "rclrt/node.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt::detail {

namespace {

constexpr std::int64_t kSearch_ns = 1'000'000'000;
constexpr std::chrono::milliseconds kBetweenSearches{50};
/// Equal texts within this time are about one pair, which was reported at both its ends.
constexpr std::int64_t kSamePair_ns = 10'000'000'000;
constexpr std::size_t kMaxReported = 1'000;
constexpr const char* kUnknownName = "_NODE_NAME_UNKNOWN_";  // rmw's, until the name is known

std::string type_name(const rosidl_message_type_support_t& type) {
  if (type.get_type_description_func == nullptr) {
    return {};
  }
  const auto* const description = type.get_type_description_func(&type);
  return description != nullptr ? description->type_description.type_name.data : "";
}

/// The endpoints on the other side of a topic, while they are read.
struct Others {
  rcl_topic_endpoint_info_array_t array = rcl_get_zero_initialized_topic_endpoint_info_array();
  ~Others() {
    rcl_allocator_t allocator = rcl_get_default_allocator();
    if (rcl_topic_endpoint_info_array_fini(&array, &allocator) != RCL_RET_OK) {
      rcl_reset_error();
    }
  }
};

std::string node_of(const rmw_topic_endpoint_info_t& endpoint) {
  if (endpoint.node_name == nullptr || std::string(endpoint.node_name) == kUnknownName) {
    return {};
  }
  const std::string name_space = endpoint.node_namespace != nullptr ? endpoint.node_namespace : "";
  return name_space + (name_space.ends_with('/') ? "" : "/") + endpoint.node_name;
}

std::string key_of(const QosWarning& warning) {
  return std::to_string(reinterpret_cast<std::uintptr_t>(&warning)) + ":";
}

std::string quoted_node(const std::string& name) {
  return name.empty() ? "a node of unknown name" : "node \"" + name + "\"";
}

}  // namespace

struct QosWarning::Endpoint {
  NodeHandle& node;
  bool is_publisher;
  std::string node_name;
  std::string topic;
  std::string type;  // empty: unknown
  rmw_qos_profile_t qos;
};

QosWarning::QosWarning(NodeHandle& node, const rcl_publisher_t& publisher,
                       const rosidl_message_type_support_t& type)
    : endpoint_(std::make_unique<Endpoint>(
          Endpoint{node, true, rcl_node_get_fully_qualified_name(&node.node),
                   rcl_publisher_get_topic_name(&publisher), type_name(type),
                   *rcl_publisher_get_actual_qos(&publisher)})),
      warner_(node.context->qos_warner()),
      event_(rcl_get_zero_initialized_event()) {
  listen(rcl_publisher_event_init(&event_, &publisher, RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS));
}

QosWarning::QosWarning(NodeHandle& node, const rcl_subscription_t& subscription,
                       const rosidl_message_type_support_t& type)
    : endpoint_(std::make_unique<Endpoint>(
          Endpoint{node, false, rcl_node_get_fully_qualified_name(&node.node),
                   rcl_subscription_get_topic_name(&subscription), type_name(type),
                   *rcl_subscription_get_actual_qos(&subscription)})),
      warner_(node.context->qos_warner()),
      event_(rcl_get_zero_initialized_event()) {
  listen(rcl_subscription_event_init(&event_, &subscription,
                                     RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS));
}

void QosWarning::listen(rcl_ret_t initialised) {
  listens_ = initialised == RCL_RET_OK &&
             rcl_event_set_callback(&event_, &on_mismatch, this) == RCL_RET_OK;
  if (!listens_) {
    rcl_reset_error();  // a middleware without this event
  }
}

QosWarning::~QosWarning() {
  if (listens_) {
    // Waits for a listener that is running.
    report(rcl_event_set_callback(&event_, nullptr, nullptr), "ending a listener");
  }
  warner_.remove(*this);
  if (event_.impl != nullptr) {
    report(rcl_event_fini(&event_), "ending an event");
  }
}

void QosWarning::on_mismatch(const void* self, std::size_t /*count*/) {
  static_cast<const QosWarning*>(self)->look();
}

void QosWarning::look() const noexcept { warner_.start_search(*this); }

void QosWarner::start_search(const QosWarning& warning) noexcept {
  try {
    const std::scoped_lock lock(mutex_);
    const std::int64_t until_ns = realtime::monotonic_now_ns() + kSearch_ns;
    const auto known = std::ranges::find(searches_, &warning, &Search::warning);
    if (known != searches_.end()) {
      known->until_ns = until_ns;
    } else {
      searches_.push_back({&warning, until_ns});
    }
    if (!running_) {
      thread_ = realtime::Thread({.name = "rclrt qos"}, [this] { run(); });  // joins the last one
      running_ = true;
    }
    changed_.notify_all();
  } catch (const std::exception&) {  // no memory, or no thread: then without the reason
    const std::scoped_lock lock(mutex_);
    std::erase_if(searches_, [&](const Search& each) { return each.warning == &warning; });
    std::fprintf(stderr, "rclrt: warning: topic \"%s\": incompatible quality of service (QoS)\n",
                 warning.endpoint_->topic.c_str());
  }
}

void QosWarner::remove(const QosWarning& warning) noexcept {
  const std::scoped_lock lock(mutex_);
  std::erase_if(searches_, [&](const Search& each) { return each.warning == &warning; });
  const std::string own = key_of(warning);  // another one may come to this address
  std::erase_if(reported_, [&](const std::string& each) { return each.starts_with(own); });
  changed_.notify_all();
}

void QosWarner::run() {
  std::unique_lock lock(mutex_);
  while (!searches_.empty()) {
    const std::int64_t now_ns = realtime::monotonic_now_ns();
    std::erase_if(searches_, [&](Search& each) { return !search(each, now_ns >= each.until_ns); });
    // Standard error is written without the lock: the write may block, and threads of the
    // middleware wait for the lock.
    const std::vector<std::string> texts = std::exchange(to_write_, {});
    lock.unlock();
    for (const std::string& text : texts) {
      std::fprintf(stderr, "rclrt: warning: %s\n", text.c_str());
    }
    lock.lock();
    if (!searches_.empty()) {
      changed_.wait_for(lock, kBetweenSearches);
    }
  }
  running_ = false;
}

/// Reports incompatible endpoints that were not reported yet; returns whether to search again.
bool QosWarner::search(Search& search, bool is_last) {
  const QosWarning::Endpoint& own = *search.warning->endpoint_;
  Others others;
  rcl_allocator_t allocator = rcl_get_default_allocator();
  const auto ask =
      own.is_publisher ? rcl_get_subscriptions_info_by_topic : rcl_get_publishers_info_by_topic;
  if (ask(&own.node.node, &allocator, own.topic.c_str(), false, &others.array) != RCL_RET_OK) {
    rcl_reset_error();  // the context is shut down
    return false;
  }
  for (std::size_t i = 0; i < others.array.size; ++i) {
    const rmw_topic_endpoint_info_t& other = others.array.info_array[i];
    if (!own.type.empty() && other.topic_type != nullptr && own.type != other.topic_type) {
      continue;  // another type of the same name: not for its quality of service
    }
    const auto reasons = own.is_publisher ? describe_mismatch(own.qos, other.qos_profile)
                                          : describe_mismatch(other.qos_profile, own.qos);
    const std::string name = node_of(other);
    if (reasons.empty() || (name.empty() && !is_last)) {
      continue;
    }
    search.found = true;
    std::string text =
        "topic \"" + own.topic +
        "\": incompatible quality of service (QoS): no message goes from the publisher of " +
        quoted_node(own.is_publisher ? own.node_name : name) + " to the subscription of " +
        quoted_node(own.is_publisher ? name : own.node_name);
    for (const std::string& reason : reasons) {
      text += "\nrclrt:   " + reason;
    }
    const std::string gid(std::begin(other.endpoint_gid), std::end(other.endpoint_gid));
    report(*search.warning, gid, text);
  }
  if (is_last && !search.found) {
    report(*search.warning, "",
           "topic \"" + own.topic + "\": incompatible quality of service (QoS): the " +
               (own.is_publisher ? "publisher" : "subscription") + " of " +
               quoted_node(own.node_name) +
               " was not matched with a publisher or subscription that does not exist any more");
  }
  return !is_last;
}

/// Reports each pair once, and only at one of its two ends.
void QosWarner::report(const QosWarning& warning, const std::string& key, const std::string& text) {
  const std::string pair = key_of(warning) + key;
  if (std::ranges::find(reported_, pair) != reported_.end()) {
    return;
  }
  if (reported_.size() == kMaxReported) {
    reported_.erase(reported_.begin());
  }
  reported_.push_back(pair);
  const std::int64_t now_ns = realtime::monotonic_now_ns();
  std::erase_if(recent_, [&](const Recent& each) { return now_ns - each.at_ns > kSamePair_ns; });
  if (std::ranges::find(recent_, text, &Recent::text) != recent_.end()) {
    return;
  }
  recent_.push_back({text, now_ns});
  to_write_.push_back(text);
}

}  // namespace rclrt::detail
