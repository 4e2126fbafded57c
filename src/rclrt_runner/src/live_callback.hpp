// SPDX-License-Identifier: Apache-2.0
// A callback of a running application: its work and its outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <rclrt_msgs/msg/chain_message.hpp>
#include <vector>

#include "live_application.hpp"
#include "live_services.hpp"
#include "message_check.hpp"
#include "newest_message.hpp"
#include "rclrt/realtime/sampled_value.hpp"
#include "rclrt/realtime/stop_flag.hpp"
#include "rclrt/workloads/workload.hpp"
#include "read_time.hpp"
#include "run_time.hpp"

namespace rclrt::runner {

using rclrt_msgs::msg::ChainMessage;

struct LiveApplication::LiveCallback {
  LiveCallback(const model::Application& application, std::size_t number, const RunTime& run_time,
               const realtime::StopFlag& end)
      : callback(application.callbacks[number]),
        index(number),
        time(run_time),
        ended(end),
        rules(application, number),
        check(application, number, time.tolerance_ns()),
        kept_foreign(model::inputs(callback).size()) {}

  const model::Callback& callback;
  const std::size_t index;
  const RunTime time;
  const realtime::StopFlag& ended;
  const recorder::TokenRules rules;
  const MessageCheck check;
  const recorder::ChainTokens no_tokens;
  struct Output {
    std::shared_ptr<Publisher<ChainMessage>> publisher;  // nullptr: a request or a response
    std::size_t expected_subscriptions = 0;
    LiveClient* client = nullptr;  // of a request
    bool is_sampled = false;       // callbacks read its newest message
    ChainMessage message;          // reused; the callback never overlaps with itself
  };
  std::vector<Output> outputs;
  /// The values of its variables: the releases of the data. A run reads at its begin, and stores at
  /// its end. The results follow the times of the runs; the values are for traces.
  std::vector<std::shared_ptr<realtime::SampledValue<std::int64_t>>> stores;
  std::vector<realtime::SampleReaders<std::int64_t>> reads;  // they keep the values
  std::vector<std::unique_ptr<NewestMessage>> newest;        // of the topics that it samples
  std::vector<std::shared_ptr<executor::Callback>>
      entities;  // one for each input; a service has one
  std::unique_ptr<LiveService> service;
  std::unique_ptr<LiveClient> client;
  std::uint64_t runs = 0;
  std::unique_ptr<workloads::Kernel> kernel;  // the callback never overlaps with itself
  std::uint64_t kernel_result = 0;
  bool results_differ = false;
  std::uint64_t foreign = 0;                // messages from outside the application
  std::vector<std::uint64_t> kept_foreign;  // of these, for each input of a synchroniser

  /// Does the callback's work and publishes its messages. If the callback subscribes to several
  /// topics, `input` is the index of the topic by which the message came; otherwise 0.
  void work(const recorder::ChainTokens& tokens, std::int64_t stamp_ns, const BusyLoop& busy_loop,
            std::size_t input = 0) {
    std::int64_t stored_ns = 0;  // when it published the first message that others sample
    read_variables();
    const recorder::ChainTokens& worked_for = compute(busy_loop) ? tokens : no_tokens;
    // Before its messages: the time of the first one counts for the variables, too.
    for (const auto& variable : stores) {
      variable->store(stamp_ns, {stamp_ns, true});
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!callback.sends(input, i)) {
        continue;
      }
      Output& output = outputs[i];
      output.message.stamp_ns = stamp_ns;
      output.message.tokens.clear();
      for (const recorder::ChainToken& token : worked_for.all()) {
        if (rules.passes_on(token.chain)) {
          auto& sent = output.message.tokens.emplace_back();
          sent.chain = token.chain;
          sent.instance = token.instance;
          sent.release_ns = token.release_ns;
          sent.position = rules.position(token.chain);
        }
      }
      output.message.sent_ns = time.now();
      if (output.is_sampled && stored_ns == 0) {
        stored_ns = output.message.sent_ns;
      }
      if (output.publisher != nullptr) {
        output.publisher->publish(output.message);
      } else if (output.client != nullptr) {
        output.client->send(output.message);
      }  // otherwise the service sends it at the end
    }
    recorder::InstanceLog::set_tokens(worked_for);
    if (stored_ns != 0) {
      recorder::InstanceLog::set_stored(stored_ns);
    }
  }

  /// Uses CPU time for the callback's work. If the callback waits, it sleeps in the middle of that.
  /// Returns false if the run has ended meanwhile. The instance then ends too early, and counts for
  /// no chain.
  bool compute(const BusyLoop& busy_loop) {
    const std::uint64_t iterations = kernel != nullptr ? callback.workload->iterations : 0;
    const bool waits = callback.waits > model::Nanoseconds::zero();
    run_kernel(waits ? iterations / 2 : iterations);
    if (kernel == nullptr) {
      busy_loop.burn(waits ? callback.wcet / 2 : callback.wcet);
    }
    if (waits) {
      if (ended.wait_until(realtime::monotonic_now_ns() + callback.waits.count())) {
        return false;
      }
      run_kernel(iterations - iterations / 2);
      if (kernel == nullptr) {
        busy_loop.burn(callback.wcet - callback.wcet / 2);
      }
    }
    return true;
  }

  void run_kernel(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      if (kernel->run() != kernel_result) {
        results_differ = true;
      }
    }
  }

  /// Reads the variables, and takes the newest messages of topics.
  void read_variables() {
    for (auto& variable : reads) {
      variable.view();
    }
    ReadTime read(reads.empty() ? std::nullopt : std::optional(time.now()));
    for (std::size_t i = 0; i < newest.size(); ++i) {
      const bool is_own = newest[i]->take(
          [&](const ChainMessage& message) { return check.is_own_sample(message, i, time.now()); });
      foreign += is_own ? 0 : 1;
      read.add_message(newest[i]->sent_ns());
    }
    if (!newest.empty()) {
      recorder::InstanceLog::set_read(read.ns());
    }
  }

  /// Returns whether the message is of the application; counts it if not.
  bool accept(const ChainMessage& message, std::size_t input) {
    const bool own = check.is_own(message, input, time.now());
    foreign += own ? 0 : 1;
    return own;
  }

  /// Returns the same for a message that a synchroniser keeps.
  bool accept_kept(const ChainMessage& message, std::size_t input) {
    const bool own = accept(message, input);
    kept_foreign[input] += own ? 0 : 1;
    return own;
  }

  /// Returns the same for a message of a set. It was kept before unless it completes the set.
  bool accept_in_set(const ChainMessage& message, std::size_t input) {
    const bool own = accept(message, input);
    if (!own && kept_foreign[input] > 0) {
      --kept_foreign[input];
      --foreign;  // it is counted already
    }
    return own;
  }

  void take(const ChainMessage& message, std::size_t input, recorder::ChainTokens& tokens) const {
    for (const auto& token : message.tokens) {
      rules.take({token.chain, token.instance, token.release_ns}, token.position, input, tokens);
    }
  }
};

}  // namespace rclrt::runner
