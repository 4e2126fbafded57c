// SPDX-License-Identifier: Apache-2.0
#include "origins.hpp"

#include <rcl/allocator.h>
#include <rcl/error_handling.h>
#include <rcl/graph.h>

#include <algorithm>
#include <exception>
#include <span>
#include <string_view>
#include <utility>

#include "rclrt/realtime/clock.hpp"

namespace rclrt_rclcpp {

namespace {

/// For so long a look lets publishers tell: a reader looks once a second.
constexpr std::int64_t kWanted_ns = 10'000'000'000;
/// A publisher that is not known is asked for at most so often.
constexpr std::int64_t kAskAgain_ns = 100'000'000;

/// What rmw_dds_common says while it has heard of a publisher, but not of its node.
constexpr std::string_view kNotYet = "_NODE_NAME_UNKNOWN_";

/// The publishers of a topic, as rcl tells of them.
class PublisherInfos {
 public:
  PublisherInfos(const rclcpp::node_interfaces::NodeBaseInterface& node, const std::string& topic) {
    if (rcl_get_publishers_info_by_topic(node.get_rcl_node_handle(), &allocator_, topic.c_str(),
                                         false, &infos_) != RCL_RET_OK) {
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

  std::span<const rcl_topic_endpoint_info_t> all() const {
    return {infos_.info_array, infos_.size};
  }

 private:
  rcl_allocator_t allocator_ = rcl_get_default_allocator();
  rcl_topic_endpoint_info_array_t infos_ = rcl_get_zero_initialized_topic_endpoint_info_array();
};

std::string full_name(const rcl_topic_endpoint_info_t& info) {
  const std::string space = info.node_namespace;
  return (space == "/" ? "" : space) + "/" + info.node_name;
}

}  // namespace

std::optional<std::int64_t> TopicOrigins::find(const Gid& publisher, std::int64_t published_ns,
                                               std::int64_t now_ns) noexcept RCLRT_NONBLOCKING {
  if (!is_used_.load(std::memory_order_relaxed)) {
    is_used_.store(true, std::memory_order_relaxed);
  }
  const RcuValue<Publishers>::Reading publishers(publishers_);
  const auto known = std::ranges::find(*publishers, publisher, &Publisher::gid);
  if (known == (*publishers).end()) {
    if (now_ns - looked_ns_.load(std::memory_order_relaxed) > kAskAgain_ns) {
      looked_ns_.store(now_ns, std::memory_order_relaxed);
      changes_.note_publisher();
    }
    return std::nullopt;
  }
  std::optional<OriginRing::Instance> latest;
  for (const auto& node : known->nodes) {
    const auto found = node->ring().find(published_ns);
    if (found && (!latest || found->start_ns > latest->start_ns)) {
      latest = found;
    }
  }
  return latest ? std::optional(latest->origin_ns) : std::nullopt;
}

TopicOrigins::Publishers TopicOrigins::publishers(const OriginFiles& files) const {
  Publishers result;
  if (const auto node = node_.lock()) {
    const PublisherInfos infos(*node, topic_);
    for (const rcl_topic_endpoint_info_t& info : infos.all()) {
      if (std::string_view(info.node_name) == kNotYet) {
        continue;
      }
      Publisher& publisher = result.emplace_back();
      std::copy_n(info.endpoint_gid, publisher.gid.size(), publisher.gid.begin());
      publisher.nodes = files.of(full_name(info));
    }
  }
  return result;
}

void TopicOrigins::look(const OriginFiles& files, std::int64_t now_ns) {
  Publishers now = publishers(files);
  for (const Publisher& each : now) {
    for (const auto& node : each.nodes) {
      node->ring().want_until(now_ns + kWanted_ns);
    }
  }
  if (now != publishers_.current()) {
    publishers_.replace(std::move(now));
  }
}

std::shared_ptr<OriginWriter> Origins::writer(const std::string& node) {
  const std::scoped_lock lock(mutex_);
  std::weak_ptr<OriginWriter>& known = writers_[node];
  if (auto writer = known.lock()) {
    return writer;
  }
  std::erase_if(writers_,
                [&](const auto& each) { return each.first != node && each.second.expired(); });
  try {
    auto writer = std::make_shared<OriginWriter>(domain_, node);
    known = writer;
    return writer;
  } catch (const std::exception& error) {
    if (!std::exchange(is_refused_, true)) {
      RCLCPP_WARN(rclcpp::get_logger("rclrt"),
                  "%s; messages without a header count from their publication where they arrive",
                  error.what());
    }
    return nullptr;
  }
}

std::shared_ptr<TopicOrigins> Origins::topic(const std::string& topic,
                                             const std::shared_ptr<TopicOrigins::Node>& node) {
  auto result = std::make_shared<TopicOrigins>(topic, node, changes_);
  const std::scoped_lock lock(mutex_);
  std::erase_if(topics_, [](const auto& each) { return each.expired(); });
  topics_.push_back(result);
  return result;
}

void Origins::look() {
  std::vector<std::shared_ptr<TopicOrigins>> topics;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& each : topics_) {
      if (auto topic = each.lock(); topic && topic->is_used()) {
        topics.push_back(std::move(topic));
      }
    }
  }
  if (topics.empty()) {
    return;
  }
  files_.look();
  const std::int64_t now_ns = rclrt::realtime::monotonic_now_ns();
  for (const auto& topic : topics) {
    topic->look(files_, now_ns);
  }
}

}  // namespace rclrt_rclcpp
