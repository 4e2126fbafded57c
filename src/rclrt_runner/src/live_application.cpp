// SPDX-License-Identifier: Apache-2.0
#include "live_application.hpp"

#include <algorithm>
#include <rclrt/model/relative_deadline.hpp>
#include <rclrt/model/services.hpp>
#include <span>
#include <stdexcept>
#include <utility>
#include <variant>

#include "live_callback.hpp"
#include "message_memory.hpp"
#include "rclrt/recorder/model_conversion.hpp"
#include "rclrt/workloads/workload.hpp"

namespace rclrt::runner {

LiveApplication::LiveApplication(const model::Application& application,
                                 std::span<const std::size_t> own,
                                 const std::shared_ptr<Context>& context,
                                 recorder::InstanceLog& log, model::ExecutorKind kind,
                                 const RunTime& time)
    : application_(application),
      log_(log),
      kind_(kind),
      time_(time),
      nodes_(application.nodes.size()) {
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
  create_variables();
}

LiveApplication::~LiveApplication() = default;

void LiveApplication::create(std::size_t index, Node& node) {
  auto& live =
      *callbacks_.emplace_back(std::make_unique<LiveCallback>(application_, index, time_, ended_));
  if (live.callback.workload) {
    live.kernel = workloads::make(live.callback.workload->name);
    live.kernel_result = live.kernel->run();  // this also touches its memory
  }
  for (const std::string& topic : live.callback.publishes) {
    create_output(topic, live, node);
  }
  for (const std::string& topic : live.callback.samples) {
    live.newest.push_back(std::make_unique<NewestMessage>(node, topic, live.callback.id));
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
  output.publisher = node.create_publisher<ChainMessage>(topic, kPublisherDepth);
  for (const model::Callback& other : application_.callbacks) {
    const auto topics = model::inputs(other);
    const auto samples = static_cast<std::size_t>(std::ranges::count(other.samples, topic));
    output.expected_subscriptions +=
        samples + static_cast<std::size_t>(std::count(topics.begin(), topics.end(), topic));
    output.is_sampled = output.is_sampled || samples > 0;
  }
  output.message.padding.resize(padding_of(application_, topic));
  live.outputs.push_back(std::move(output));
}

void LiveApplication::create_variables() {
  for (const auto& writer : callbacks_) {
    for (const std::string& variable : writer->callback.stores) {
      const auto reads = [&](const auto& live) {
        return std::ranges::find(live->callback.reads, variable) != live->callback.reads.end();
      };
      const auto readers = static_cast<std::size_t>(std::ranges::count_if(callbacks_, reads));
      const auto value =
          std::make_shared<realtime::SampledValue<std::int64_t>>(std::max<std::size_t>(readers, 1));
      for (const auto& live : callbacks_) {
        if (reads(live)) {
          live->reads.emplace_back(value);
        }
      }
      writer->stores.push_back(value);
    }
  }
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
        // On the grid the instance is the number of the release, so lost releases leave a gap.
        const std::uint64_t instance =
            counts_runs ? live.runs++
                        : static_cast<std::uint64_t>(since_first / timer.period.count());
        const std::int64_t release_ns = time_.of(info.release_ns);
        live.work(live.rules.start(instance, release_ns), release_ns, busy_loop_);
      },
      options(live), {.offset = timer.offset, .overrun = recorder::to_engine(timer.overrun)}));
}

void LiveApplication::create_entities(const model::Subscription& subscription, LiveCallback& live,
                                      Node& node) {
  const auto run = [this, &live](const ChainMessage& message, std::size_t input) {
    if (!live.accept(message, input)) {
      return;
    }
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

/// The callback of a synchroniser. Its record of a message contains the message's tokens even if
/// the synchroniser only stores the message, because it is decided after the run what became of the
/// message.
struct LiveApplication::SyncFunction {
  LiveApplication& application;
  LiveCallback& live;

  void took(std::size_t input, const ChainMessage& message) const {
    if (!live.accept_kept(message, input)) {
      return;
    }
    recorder::ChainTokens tokens;
    live.take(message, input, tokens);
    recorder::InstanceLog::set_tokens(tokens);
    recorder::InstanceLog::set_input(static_cast<std::uint32_t>(input), message.stamp_ns);
  }

  void operator()(std::span<const ChainMessage* const> set) const {
    bool own = true;
    for (std::size_t input = 0; input < set.size(); ++input) {
      own = live.accept_in_set(*set[input], input) && own;
    }
    if (!own) {
      return;
    }
    recorder::ChainTokens tokens;
    std::int64_t stamp_ns = set.front()->stamp_ns;
    for (std::size_t input = 0; input < set.size(); ++input) {
      live.take(*set[input], input, tokens);
      stamp_ns = std::max(stamp_ns, set[input]->stamp_ns);
    }
    live.work(tokens, stamp_ns, application.busy_loop_);
    const ChainMessage& last = **std::ranges::max_element(
        set, {}, [](const ChainMessage* message) { return message->sent_ns; });
    recorder::InstanceLog::set_published(last.sent_ns, last.sender);
  }
};

void LiveApplication::create_entities(const model::Sync& sync, LiveCallback& live, Node& node) {
  const SyncOptions sync_options{.policy = sync.policy == model::SyncPolicy::kExact
                                               ? SyncPolicy::kExact
                                               : SyncPolicy::kApproximate,
                                 .window = sync.window};
  const auto created = node.create_synchronizer<ChainMessage>(
      sync.topics, sync.depth, sync_options, SyncFunction{*this, live}, options(live));
  live.entities.assign(created.inputs.begin(), created.inputs.end());
}

/// Creates the connection from a driver's thread to the callback of an event. Messages are passed
/// by reference within the process, so the middleware's threads are not involved.
void LiveApplication::create_entities(const model::Event& event, LiveCallback& live, Node& node) {
  const std::string topic = "/rclrt_events/" + live.callback.id;
  const QoS qos(event.depth);
  CallbackOptions with_intra_process = options(live);
  with_intra_process.intra_process = true;
  if (model::traits(kind_).by_deadline) {
    // As for a timer, which takes its period by itself: the entity of an event is a subscription.
    with_intra_process.deadline = model::relative_deadline(live.callback).value();
  }
  live.entities.push_back(node.create_subscription<ChainMessage>(
      topic, qos,
      [this, &live](const ChainMessage& message) {
        if (!live.check.is_own_release(message, realtime::monotonic_now_ns())) {
          ++live.foreign;
          return;
        }
        const std::int64_t release_ns = time_.of(message.stamp_ns);
        live.work(live.rules.start(message.tokens.front().instance, release_ns), release_ns,
                  busy_loop_);
      },
      with_intra_process));
  const auto publisher = node.create_publisher<ChainMessage>(topic, qos);
  ChainMessage release;
  release.sender = static_cast<std::uint32_t>(live.index);
  release.tokens.resize(1);
  sources_.push_back(std::make_unique<EventSource>(
      event, live.callback.id,
      [publisher, release](std::uint64_t number, std::int64_t release_ns) mutable {
        release.stamp_ns = release.tokens.front().release_ns = release_ns;
        release.tokens.front().instance = number;
        publisher->publish(release);
      }));
}

std::optional<std::string> LiveApplication::start_events() {
  for (const auto& source : sources_) {
    source->start();
  }
  return sources_.empty() ? std::nullopt : EventSource::why_no_realtime();
}

void LiveApplication::begin(std::int64_t epoch_ns) {
  epoch_ns_ = epoch_ns;
  for (const auto& source : sources_) {
    source->begin(epoch_ns);
  }
}

void LiveApplication::stop() {
  ended_.request_stop();
  for (const auto& source : sources_) {
    source->stop();
  }
}

CallbackOptions LiveApplication::options(const LiveCallback& live) {
  CallbackOptions result;
  result.name = live.callback.id;
  result.priority = application_.effective_priority(live.index);
  result.overload = recorder::to_engine(live.callback.overload);
  result.deadline = live.callback.deadline.value_or(std::chrono::nanoseconds::zero());
  if (live.callback.group) {
    // The first member of a group of a node makes the group, the others join.
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

void LiveApplication::add_nodes(std::size_t index, Executor& executor) const {
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    if (nodes_[node] != nullptr && application_.nodes[node].executor == index) {
      nodes_[node]->warn_of_ignored_overrides();
    }
    for (const auto& live : callbacks_) {
      if (live->callback.node != node || application_.executor_of(live->index) != index) {
        continue;
      }
      for (const auto& entity : live->entities) {
        executor.add(entity);
      }
    }
  }
}

std::vector<recorder::CallbackCounts> LiveApplication::counts() const {
  std::vector<recorder::CallbackCounts> result(application_.callbacks.size());
  for (const auto& live : callbacks_) {
    if (live->results_differ) {
      throw std::runtime_error(
          "callback '" + live->callback.id + "': workload '" + live->callback.workload->name +
          "' gave another result than the first time; it must always give the same");
    }
    for (const auto& entity : live->entities) {
      result[live->index] += entity->counters();
    }
  }
  return result;
}

std::uint64_t LiveApplication::foreign_messages() const {
  std::uint64_t result = 0;
  for (const auto& live : callbacks_) {
    result += live->foreign + (live->service ? live->service->foreign_requests() : 0);
  }
  return result;
}

}  // namespace rclrt::runner
