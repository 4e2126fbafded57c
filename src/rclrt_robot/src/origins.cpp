// SPDX-License-Identifier: Apache-2.0
#include "origins.hpp"

#include <rcl/allocator.h>
#include <rcl/error_handling.h>
#include <rcl/graph.h>
#include <rcutils/types/string_array.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "full_name.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt_robot {

namespace {

/// How long one scan keeps publishers writing. There is a scan every second.
constexpr std::int64_t kKeepWriting_ns = 10'000'000'000;
/// How long after a message publishers are still looked for.
constexpr std::int64_t kUsed_ns = 3'600'000'000'000;
/// The node name that `rmw_dds_common` gives for a publisher that it knows, but not its node.
constexpr std::string_view kNotYet = "_NODE_NAME_UNKNOWN_";

/// The publishers of a topic, as rcl reports them.
class PublisherInfos {
 public:
  PublisherInfos(const TopicOrigins::Node& node, const std::string& topic)
      : is_valid_(rcl_get_publishers_info_by_topic(node.get_rcl_node_handle(), &allocator_,
                                                   topic.c_str(), false, &infos_) == RCL_RET_OK) {
    if (!is_valid_) {
      rcl_reset_error();  // at a shutdown
    }
  }
  ~PublisherInfos() {
    if (rcl_topic_endpoint_info_array_fini(&infos_, &allocator_) != RCL_RET_OK) {
      rcl_reset_error();
    }
  }
  PublisherInfos(const PublisherInfos&) = delete;
  PublisherInfos& operator=(const PublisherInfos&) = delete;

  bool is_valid() const noexcept { return is_valid_; }
  std::span<const rcl_topic_endpoint_info_t> all() const {
    return {infos_.info_array, infos_.size};
  }

 private:
  rcl_allocator_t allocator_ = rcl_get_default_allocator();
  rcl_topic_endpoint_info_array_t infos_ = rcl_get_zero_initialized_topic_endpoint_info_array();
  bool is_valid_;
};

NodeCounts count_nodes(const TopicOrigins::Node& node) {
  NodeCounts result;
  rcutils_string_array_t names = rcutils_get_zero_initialized_string_array();
  rcutils_string_array_t spaces = rcutils_get_zero_initialized_string_array();
  if (rcl_get_node_names(node.get_rcl_node_handle(), rcl_get_default_allocator(), &names,
                         &spaces) == RCL_RET_OK) {
    result.emplace();
    for (std::size_t i = 0; i < names.size; ++i) {
      ++(*result)[full_name(spaces.data[i], names.data[i])];
    }
  } else {
    rcl_reset_error();
  }
  for (rcutils_string_array_t* const each : {&names, &spaces}) {
    if (rcutils_string_array_fini(each) != RCUTILS_RET_OK) {
      rcutils_reset_error();
    }
  }
  return result;
}

}  // namespace

Origin TopicOrigins::find(const Gid& publisher, std::int64_t published_ns,
                          std::int64_t now_ns) noexcept RCLRT_NONBLOCKING {
  used_ns_.store(now_ns, std::memory_order_relaxed);  // a hint, as the other members
  const ReaderCountedValue<Publishers>::Reading reading(publishers_);
  const Publisher* const known = find_publisher(*reading, publisher, now_ns);
  if (known == nullptr) {
    return {};
  }
  std::optional<OriginRing::Instance> latest;
  for (const auto& node : known->nodes) {
    const auto found = node->ring().find(published_ns);
    if (found && (!latest || found->start_ns > latest->start_ns)) {
      latest = found;
    }
  }
  // Another process may have written anything.
  const Origin origin = latest ? unpack(latest->origin_ns) : Origin();
  return origin.since_ns <= now_ns ? origin : Origin();
}

/// Returns the publisher with the identifier `gid`. If it is not known, requests a scan and returns
/// nullptr, with one exception: some middlewares use different identifiers for publishers and for
/// their messages. So if the topic has only one publisher, that publisher is returned, unless an
/// identifier has matched before.
const TopicOrigins::Publisher* TopicOrigins::find_publisher(
    const Publishers& publishers, const Gid& gid, std::int64_t now_ns) noexcept RCLRT_NONBLOCKING {
  const auto known = std::ranges::find(publishers, gid, &Publisher::gid);
  if (known != publishers.end() && known->is_named) {
    if (!has_matched_.load(std::memory_order_relaxed)) {  // relaxed: a hint
      has_matched_.store(true, std::memory_order_relaxed);
    }
    return &*known;
  }
  request_scan(now_ns);
  // relaxed: a hint
  const bool is_only = publishers.size() == 1 && publishers.front().is_named &&
                       !has_matched_.load(std::memory_order_relaxed);
  return is_only ? &publishers.front() : nullptr;
}

void TopicOrigins::request_scan(std::int64_t now_ns) noexcept RCLRT_NONBLOCKING {
  // All relaxed: hints. Two threads may request one at once, which costs one scan more.
  if (now_ns - requested_ns_.load(std::memory_order_relaxed) <= kRequestInterval_ns ||
      requests_left_.load(std::memory_order_relaxed) <= 0) {
    return;
  }
  requested_ns_.store(now_ns, std::memory_order_relaxed);
  requests_left_.fetch_sub(1, std::memory_order_relaxed);
  listener_.on_unknown_publisher();
}

bool TopicOrigins::is_used(std::int64_t now_ns) const noexcept {
  return now_ns - used_ns_.load(std::memory_order_relaxed) < kUsed_ns;  // a hint
}

/// Returns std::nullopt if the graph is not available, such as at a shutdown.
std::optional<TopicOrigins::Publishers> TopicOrigins::publishers(const OriginSegments& segments,
                                                                 const NodeCounts& nodes) const {
  const auto node = node_.lock();
  if (!node || !nodes) {
    return std::nullopt;
  }
  const PublisherInfos infos(*node, topic_);
  if (!infos.is_valid()) {
    return std::nullopt;
  }
  Publishers result;
  for (const rcl_topic_endpoint_info_t& info : infos.all()) {
    Publisher& publisher = result.emplace_back();
    std::copy_n(info.endpoint_gid, publisher.gid.size(), publisher.gid.begin());
    publisher.is_named = std::string_view(info.node_name) != kNotYet;
    const std::string name = full_name(info.node_namespace, info.node_name);
    // If two nodes have this name, one of them may be on another machine.
    const auto found = nodes->find(name);
    if (publisher.is_named && found != nodes->end() && found->second == 1) {
      publisher.nodes = segments.of(name);
    }
  }
  return result;
}

void TopicOrigins::scan(const OriginSegments& segments, const NodeCounts& nodes,
                        std::int64_t now_ns) {
  auto now = publishers(segments, nodes);
  if (now && *now != publishers_.current()) {
    publishers_.replace(std::move(*now));
    requests_left_.store(kRequests, std::memory_order_relaxed);  // a hint
  }
  for (const Publisher& publisher : publishers_.current()) {
    for (const auto& each : publisher.nodes) {
      each->ring().want_until(now_ns + kKeepWriting_ns);
    }
  }
}

std::shared_ptr<rclrt_rclcpp::OriginWriter> Origins::writer(const std::string& node) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(writers_, [](const auto& each) { return each.second.expired(); });
  std::weak_ptr<SegmentWriter>& known = writers_[node];
  if (auto writer = known.lock()) {
    return writer;
  }
  try {
    auto writer = std::make_shared<SegmentWriter>(domain_, node);
    known = writer;
    return writer;
  } catch (const std::exception& error) {
    if (!std::exchange(is_refused_, true)) {
      RCLCPP_WARN(rclcpp::get_logger("rclrt"),
                  "%s; the age of its messages without a header counts from their publication",
                  error.what());
    }
    return nullptr;
  }
}

std::shared_ptr<rclrt_rclcpp::OriginReader> Origins::reader(
    const std::string& topic, const std::shared_ptr<TopicOrigins::Node>& node) {
  auto result = std::make_shared<TopicOrigins>(topic, node, listener_);
  const std::scoped_lock lock(mutex_);
  std::erase_if(topics_, [](const auto& each) { return each.expired(); });
  topics_.push_back(result);
  return result;
}

void Origins::scan() {
  const std::int64_t now_ns = rclrt::realtime::monotonic_now_ns();
  std::vector<std::shared_ptr<TopicOrigins>> topics;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& each : topics_) {
      if (auto topic = each.lock(); topic && topic->is_used(now_ns)) {
        topics.push_back(std::move(topic));
      }
    }
  }
  if (topics.empty()) {
    return;
  }
  segments_.scan();
  NodeCounts nodes;
  for (const auto& topic : topics) {
    if (const auto node = nodes ? nullptr : topic->node()) {
      nodes = count_nodes(*node);
    }
    topic->scan(segments_, nodes, now_ns);
  }
}

std::unique_ptr<rclrt_rclcpp::OriginSharing> share_origins(
    std::size_t domain, rclrt_rclcpp::UnknownPublisherListener& listener) {
  return std::make_unique<Origins>(domain, listener);
}

}  // namespace rclrt_robot
