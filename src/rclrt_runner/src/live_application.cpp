// SPDX-License-Identifier: Apache-2.0
#include "live_application.hpp"

#include <algorithm>
#include <rclrt/model/services.hpp>
#include <rclrt_msgs/msg/chain_message.hpp>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <variant>

#include "live_services.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/recorder/model_conversion.hpp"
#include "rclrt/workloads/workload.hpp"

namespace rclrt::runner {

using rclrt_msgs::msg::ChainMessage;

namespace {

/// Header, stamp, sender, sequence lengths: what a message has on the wire besides tokens and
/// padding.
constexpr std::size_t kFixedBytes = 32;

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
    std::shared_ptr<Publisher<ChainMessage>> publisher;  // nullptr: a request or a response
    std::size_t expected_subscriptions = 0;
    LiveClient* client = nullptr;  // of a request
    ChainMessage message;  // reused; the callback never overlaps with itself
  };
  std::vector<Output> outputs;
  std::vector<std::shared_ptr<executor::Callback>> entities;  // one for each input; of a service one
  std::unique_ptr<LiveService> service;
  std::unique_ptr<LiveClient> client;
  std::uint64_t runs = 0;
  std::unique_ptr<workloads::Kernel> kernel;  // the callback never overlaps with itself
  std::uint64_t kernel_result = 0;
  bool results_differ = false;

  /// `input` is that of the message: the first for all but subscriptions of several topics.
  void work(const recorder::ChainTokens& tokens, std::int64_t stamp_ns, const BusyLoop& busy_loop,
            std::size_t input = 0) {
    for (std::uint64_t i = 0; kernel != nullptr && i < callback.workload->iterations; ++i) {
      if (kernel->run() != kernel_result) {
        results_differ = true;
      }
    }
    if (kernel == nullptr) {
      busy_loop.burn(callback.wcet);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!callback.sends(input, i)) {
        continue;
      }
      Output& output = outputs[i];
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
      output.message.sent_ns = realtime::monotonic_now_ns();
      if (output.publisher != nullptr) {
        output.publisher->publish(output.message);
      } else if (output.client != nullptr) {
        output.client->send(output.message);
      }  // else the service sends it at the end
    }
    recorder::InstanceLog::set_tokens(tokens);
  }

  void take(const ChainMessage& message, std::size_t input, recorder::ChainTokens& tokens) const {
    for (const auto& token : message.tokens) {
      rules.take(from_message(token), token.position, input, tokens);
    }
  }
};

LiveApplication::LiveApplication(const model::Application& application,
                                 std::span<const std::size_t> own,
                                 const std::shared_ptr<Context>& context,
                                 recorder::InstanceLog& log)
    : application_(application), log_(log), nodes_(application.nodes.size()) {
  for (std::size_t i = 0; i < application.nodes.size(); ++i) {
    const model::Node& node = application.nodes[i];
    if (std::ranges::find(own, node.executor) != own.end()) {
      nodes_[i] = std::make_unique<Node>(context, node.name, node.name_space);
    }
  }
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    if (const auto& node = nodes_[application.callbacks[i].node]) {
      create(i, *node);
    }
  }
  connect_calls();
}

LiveApplication::~LiveApplication() = default;

void LiveApplication::create(std::size_t index, Node& node) {
  auto& live = *callbacks_.emplace_back(std::make_unique<LiveCallback>(application_, index));
  if (live.callback.workload) {
    live.kernel = workloads::make(live.callback.workload->name);
    live.kernel_result = live.kernel->run();  // and its memory is there
  }
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
  output.message.sender = static_cast<std::uint32_t>(live.index);
  output.message.tokens.reserve(recorder::ChainTokens::kCapacity);
  if (model::is_service_topic(topic)) {
    live.outputs.push_back(std::move(output));
    return;
  }
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
  live.outputs.push_back(std::move(output));
}

void LiveApplication::connect_calls() {
  for (const auto& live : callbacks_) {
    for (std::size_t i = 0; i < live->outputs.size(); ++i) {
      const std::string_view id = model::client_called_by(live->callback.publishes[i]);
      for (const auto& other : callbacks_) {
        if (!id.empty() && other->callback.id == id) {
          live->outputs[i].client = other->client.get();
        }
      }
    }
  }
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
        live.work(live.rules.start(instance, info.release_ns), info.release_ns, busy_loop_);
      },
      options(live), {.offset = timer.offset, .overrun = recorder::to_engine(timer.overrun)}));
}

void LiveApplication::create_entities(const model::Subscription& subscription, LiveCallback& live,
                                      Node& node) {
  const auto run = [this, &live](const ChainMessage& message, std::size_t input) {
    recorder::ChainTokens tokens;
    live.take(message, input, tokens);
    live.work(tokens, message.stamp_ns, busy_loop_, input);
    recorder::InstanceLog::set_published(message.sent_ns, message.sender);
  };
  if (subscription.role == model::Role::kService) {
    // The responses are the last outputs, one for each input.
    std::vector<const ChainMessage*> responses;
    const std::size_t first = live.outputs.size() - subscription.topics.size();
    for (std::size_t i = first; i < live.outputs.size(); ++i) {
      responses.push_back(&live.outputs[i].message);
    }
    live.service = std::make_unique<LiveService>(application_, live.index, node, options(live), run,
                                                 std::move(responses));
    live.entities = {live.service->entity()};
    return;
  }
  if (subscription.role == model::Role::kClient) {
    live.client = std::make_unique<LiveClient>(application_, live.index, node, options(live), run);
    live.entities = {live.client->entity()};
    return;
  }
  QoS qos(subscription.depth);
  CallbackOptions with_intra_process = options(live);
  with_intra_process.intra_process = subscription.intra_process;
  if (subscription.reliability == model::Reliability::kBestEffort) {
    qos.best_effort();
  }
  if (subscription.topics.size() == 1) {
    live.entities.push_back(node.create_subscription<ChainMessage>(
        subscription.topics.front(), qos, [run](const ChainMessage& message) { run(message, 0); },
        with_intra_process));
    return;
  }
  const auto created =
      node.create_subscriptions<ChainMessage>(subscription.topics, qos, run, with_intra_process);
  live.entities.assign(created.begin(), created.end());
}

void LiveApplication::create_entities(const model::Sync& sync, LiveCallback& live, Node& node) {
  const SyncOptions sync_options{.policy = sync.policy == model::SyncPolicy::kExact
                                               ? SyncPolicy::kExact
                                               : SyncPolicy::kApproximate,
                                 .window = sync.window};
  const auto created = node.create_synchronizer<ChainMessage>(
      sync.topics, sync.depth, sync_options,
      [this, &live](std::span<const ChainMessage* const> set) {
        recorder::ChainTokens tokens;
        std::int64_t stamp_ns = set.front()->stamp_ns;
        for (std::size_t input = 0; input < set.size(); ++input) {
          live.take(*set[input], input, tokens);
          stamp_ns = std::max(stamp_ns, set[input]->stamp_ns);
        }
        live.work(tokens, stamp_ns, busy_loop_);
        const ChainMessage& last = **std::ranges::max_element(
            set, {}, [](const ChainMessage* message) { return message->sent_ns; });
        recorder::InstanceLog::set_published(last.sent_ns, last.sender);
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
  const auto wait_for = [&](const std::string& name, const char* what, std::size_t expected,
                            const auto& count) {
    while (count() < expected) {
      if (std::chrono::steady_clock::now() > end) {
        throw std::runtime_error(name + " has " + std::to_string(count()) + " of " +
                                 std::to_string(expected) + " " + what + " after " +
                                 std::to_string(limit.count()) +
                                 " s: is DDS discovery on this host working?");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  };
  for (const auto& live : callbacks_) {
    for (const auto& output : live->outputs) {
      if (output.publisher != nullptr) {
        wait_for("topic " + output.publisher->get_topic_name(), "subscriptions",
                 output.expected_subscriptions,
                 [&] { return output.publisher->get_subscription_count(); });
      }
    }
    if (live->client != nullptr) {
      const auto& client = *live->client->entity();
      wait_for("service " + client.get_service_name(), "servers", 1,
               [&] { return client.service_is_ready() ? std::size_t{1} : std::size_t{0}; });
    }
    if (live->service != nullptr) {
      wait_for("service " + live->service->entity()->get_service_name(), "clients",
               live->service->expected_clients(), [&] { return live->service->count_clients(); });
    }
    for_each_subscription(*live, [&](const SubscriptionBase& subscription, std::size_t publishers) {
      wait_for("topic " + subscription.get_topic_name(), "publishers", publishers,
               [&] { return subscription.get_publisher_count(); });
    });
  }
}

void LiveApplication::require_alone() const {
  for (const auto& live : callbacks_) {
    if (live->service != nullptr &&
        (live->service->count_clients() > live->service->expected_clients() ||
         live->service->count_servers() > 1)) {
      throw std::runtime_error("somebody else has service " +
                               live->service->entity()->get_service_name() +
                               ": run in a domain of its own (set ROS_DOMAIN_ID)");
    }
    for_each_subscription(*live, [](const SubscriptionBase& subscription, std::size_t publishers) {
      if (subscription.get_publisher_count() > publishers) {
        throw std::runtime_error("somebody else publishes on topic " +
                                 subscription.get_topic_name() +
                                 ": run in a domain of its own (set ROS_DOMAIN_ID)");
      }
    });
  }
}

template <typename Use>
void LiveApplication::for_each_subscription(const LiveCallback& live, const Use& use) const {
  const auto topics = model::inputs(live.callback);
  for (std::size_t input = 0; input < live.entities.size(); ++input) {
    const auto* const subscription =
        dynamic_cast<const SubscriptionBase*>(live.entities[input].get());
    if (subscription != nullptr) {
      const auto publishes = [&](const model::Callback& other) {
        return std::ranges::find(other.publishes, topics[input]) != other.publishes.end();
      };
      use(*subscription,
          static_cast<std::size_t>(std::ranges::count_if(application_.callbacks, publishes)));
    }
  }
}

void LiveApplication::add_nodes(std::size_t index, Executor& executor) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i] != nullptr && application_.nodes[i].executor == index) {
      executor.add_node(*nodes_[i]);
    }
  }
}

std::vector<recorder::CallbackCounts> LiveApplication::counts() const {
  std::vector<recorder::CallbackCounts> result(application_.callbacks.size());
  for (const auto& live : callbacks_) {
    if (live->results_differ) {
      throw std::runtime_error("callback '" + live->callback.id + "': workload '" +
                               live->callback.workload->name +
                               "' gave another result than at first");
    }
    for (const auto& entity : live->entities) {
      result[live->index] += entity->counters();
    }
  }
  return result;
}

}  // namespace rclrt::runner
