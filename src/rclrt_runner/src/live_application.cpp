// SPDX-License-Identifier: Apache-2.0
#include "live_application.hpp"

#include <algorithm>
#include <map>
#include <rclrt_msgs/msg/chain_message.hpp>
#include <stdexcept>
#include <thread>
#include <utility>
#include <variant>

#include "rclrt/recorder/model_conversion.hpp"

namespace rclrt::runner {

using rclrt_msgs::msg::ChainMessage;

namespace {

/// Header, stamp, sequence lengths: what a message has on the wire besides tokens and padding.
constexpr std::size_t kFixedBytes = 24;

recorder::ChainToken from_message(const rclrt_msgs::msg::ChainToken& token) {
  return {token.chain, token.instance, token.release_ns};
}

}  // namespace

struct LiveApplication::LiveCallback {
  LiveCallback(const model::Application& application, std::size_t number)
      : callback(application.callbacks[number]), index(number), rules(application, number) {}

  const model::Callback& callback;
  const std::size_t index;
  const recorder::TokenRules rules;
  struct Output {
    std::shared_ptr<Publisher<ChainMessage>> publisher;
    std::size_t expected_subscriptions = 0;
    ChainMessage message;  // reused; the callback never overlaps with itself
  };
  std::vector<Output> outputs;
  std::vector<std::shared_ptr<executor::Callback>> entities;  // two for a sync
  std::uint64_t runs = 0;

  void work(const recorder::ChainTokens& tokens, std::int64_t stamp_ns, const Workload& workload) {
    workload.burn(callback.wcet);
    for (Output& output : outputs) {
      output.message.stamp_ns = stamp_ns;
      output.message.tokens.clear();
      for (const recorder::ChainToken& token : tokens.all()) {
        if (rules.passes_on(token.chain)) {
          auto& sent = output.message.tokens.emplace_back();
          sent.chain = token.chain;
          sent.instance = token.instance;
          sent.release_ns = token.release_ns;
          sent.position = rules.position(token.chain);
        }
      }
      output.publisher->publish(output.message);
    }
    recorder::InstanceLog::set_tokens(tokens);
  }

  void take(const ChainMessage& message, recorder::ChainTokens& tokens) const {
    for (const auto& token : message.tokens) {
      rules.take(from_message(token), token.position, tokens);
    }
  }
};

LiveApplication::LiveApplication(const model::Application& application,
                                 std::shared_ptr<Context> context, recorder::InstanceLog& log)
    : application_(application), log_(log) {
  for (const model::Node& node : application.nodes) {
    nodes_.push_back(std::make_unique<Node>(context, node.name, node.name_space));
  }
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    create(i, *nodes_[application.callbacks[i].node]);
  }
}

LiveApplication::~LiveApplication() = default;

void LiveApplication::create(std::size_t index, Node& node) {
  auto& live = *callbacks_.emplace_back(std::make_unique<LiveCallback>(application_, index));
  for (const std::string& topic : live.callback.publishes) {
    create_output(topic, live, node);
  }
  std::visit([&](const auto& trigger) { create_entities(trigger, live, node); },
             live.callback.trigger);
  for (const auto& entity : live.entities) {
    log_.map(entity.get(), static_cast<std::uint32_t>(index));
  }
}

void LiveApplication::create_output(const std::string& topic, LiveCallback& live, Node& node) {
  LiveCallback::Output output;
  output.publisher = node.create_publisher<ChainMessage>(topic, 10);
  for (const model::Callback& other : application_.callbacks) {
    const auto topics = model::inputs(other);
    output.expected_subscriptions +=
        static_cast<std::size_t>(std::count(topics.begin(), topics.end(), topic));
  }
  for (const model::Topic& stated : application_.topics) {
    if (stated.name == topic && stated.size_bytes > kFixedBytes) {
      output.message.padding.resize(stated.size_bytes - kFixedBytes);
    }
  }
  output.message.tokens.reserve(recorder::ChainTokens::kCapacity);
  live.outputs.push_back(std::move(output));
}

void LiveApplication::create_entities(const model::Timer& timer, LiveCallback& live, Node& node) {
  const bool counts_runs = timer.overrun == model::OverrunPolicy::kRebase;
  live.entities.push_back(node.create_wall_timer(
      timer.period,
      [this, &live, &timer, counts_runs](const InstanceInfo& info) {
        const std::int64_t since_first = info.release_ns - epoch_ns_ - timer.offset.count();
        // On the grid the instance is the number of the release, so lost ones leave a gap.
        const std::uint64_t instance =
            counts_runs ? live.runs++
                        : static_cast<std::uint64_t>(since_first / timer.period.count());
        live.work(live.rules.start(instance, info.release_ns), info.release_ns, workload_);
      },
      options(live), {.offset = timer.offset, .overrun = recorder::to_engine(timer.overrun)}));
}

void LiveApplication::create_entities(const model::Subscription& subscription, LiveCallback& live,
                                      Node& node) {
  QoS qos(subscription.depth);
  CallbackOptions with_intra_process = options(live);
  with_intra_process.intra_process = subscription.intra_process;
  if (subscription.reliability == model::Reliability::kBestEffort) {
    qos.best_effort();
  }
  live.entities.push_back(node.create_subscription<ChainMessage>(
      subscription.topic, qos,
      [this, &live](const ChainMessage& message) {
        recorder::ChainTokens tokens;
        live.take(message, tokens);
        live.work(tokens, message.stamp_ns, workload_);
      },
      with_intra_process));
}

void LiveApplication::create_entities(const model::Sync& sync, LiveCallback& live, Node& node) {
  const SyncOptions sync_options{.policy = sync.policy == model::SyncPolicy::kExact
                                               ? SyncPolicy::kExact
                                               : SyncPolicy::kApproximate,
                                 .window = sync.window};
  const auto created = node.create_synchronizer<ChainMessage, ChainMessage>(
      sync.topics[0], sync.topics[1], sync.depth, sync_options,
      [this, &live](const ChainMessage& first, const ChainMessage& second) {
        recorder::ChainTokens tokens;
        live.take(first, tokens);
        live.take(second, tokens);
        live.work(tokens, std::max(first.stamp_ns, second.stamp_ns), workload_);
      },
      options(live));
  live.entities.assign(created.inputs.begin(), created.inputs.end());
}

CallbackOptions LiveApplication::options(const LiveCallback& live) {
  CallbackOptions result;
  result.name = live.callback.id;
  result.priority = application_.effective_priority(live.index);
  result.overload = recorder::to_engine(live.callback.overload);
  result.deadline = live.callback.deadline.value_or(std::chrono::nanoseconds::zero());
  if (live.callback.group) {
    // The first member of a group of a node makes it, the others join.
    for (const auto& other : callbacks_) {
      if (other->callback.node == live.callback.node &&
          other->callback.group == live.callback.group && !other->entities.empty()) {
        result.group = other->entities.front()->shared_group();
        return result;
      }
    }
    result.group = std::make_shared<CallbackGroup>();
  }
  return result;
}

void LiveApplication::wait_until_matched(std::chrono::seconds limit) const {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (const auto& live : callbacks_) {
    for (const auto& output : live->outputs) {
      while (output.publisher->get_subscription_count() < output.expected_subscriptions) {
        if (std::chrono::steady_clock::now() > end) {
          throw std::runtime_error("topic " + output.publisher->get_topic_name() + " has " +
                                   std::to_string(output.publisher->get_subscription_count()) +
                                   " of " + std::to_string(output.expected_subscriptions) +
                                   " subscriptions after " + std::to_string(limit.count()) +
                                   " s: is DDS discovery on this host working?");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    }
  }
}

void LiveApplication::require_alone() const {
  std::map<std::string, std::size_t> publishers;  // of this application, by resolved topic
  for (const auto& live : callbacks_) {
    for (const auto& output : live->outputs) {
      ++publishers[output.publisher->get_topic_name()];
    }
  }
  for (const auto& live : callbacks_) {
    for (const auto& entity : live->entities) {
      const auto* subscription = dynamic_cast<const SubscriptionBase*>(entity.get());
      if (subscription != nullptr &&
          subscription->get_publisher_count() > publishers[subscription->get_topic_name()]) {
        throw std::runtime_error("somebody else publishes on topic " +
                                 subscription->get_topic_name() +
                                 ": run in a domain of its own (set ROS_DOMAIN_ID)");
      }
    }
  }
}

void LiveApplication::add_nodes(std::size_t index, Executor& executor) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (application_.nodes[i].executor == index) {
      executor.add_node(*nodes_[i]);
    }
  }
}

std::vector<recorder::CallbackCounts> LiveApplication::counts() const {
  std::vector<recorder::CallbackCounts> result;
  for (const auto& live : callbacks_) {
    recorder::CallbackCounts sum;
    for (const auto& entity : live->entities) {
      sum += entity->counters();
    }
    result.push_back(sum);
  }
  return result;
}

}  // namespace rclrt::runner
