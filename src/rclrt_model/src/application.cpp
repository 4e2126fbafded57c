// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/application.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>

#include "graph.hpp"

namespace rclrt::model {
namespace {

Nanoseconds saturating_lcm(Nanoseconds a, Nanoseconds b) {
  const auto factor = b.count() / std::gcd(a.count(), b.count());
  if (a.count() > std::numeric_limits<Nanoseconds::rep>::max() / factor) {
    return Nanoseconds::max();
  }
  return a * factor;
}

const Callback& callback_at(const Application& application, std::size_t index) {
  if (index >= application.callbacks.size()) {
    throw std::out_of_range("there is no callback " + std::to_string(index) +
                            "; the application has " +
                            std::to_string(application.callbacks.size()));
  }
  return application.callbacks[index];
}

double own_rate(const Callback& callback) {
  const Nanoseconds interval = period(callback);
  const bool runs = interval > Nanoseconds::zero();
  return runs ? 1.0 / std::chrono::duration<double>(interval).count() : 0.0;
}

/// Returns how many runs of the callback per second publish on its n-th topic. `rates` are the runs
/// per second of all vertices of the graph.
double publishing_rate(const Callback& callback, const std::vector<std::size_t>& taken,
                       const std::vector<double>& rate, double own, std::size_t output) {
  if (callback.kind() != CallbackKind::kSubscription || callback.routes.empty()) {
    return own;
  }
  double sum = 0.0;
  for (std::size_t input = 0; input < taken.size(); ++input) {
    sum += callback.sends(input, output) ? rate[taken[input]] : 0.0;
  }
  return sum;
}

}  // namespace

std::vector<std::string> inputs(const Callback& callback) {
  if (const auto* subscription = std::get_if<Subscription>(&callback.trigger)) {
    return subscription->topics;
  }
  if (const auto* sync = std::get_if<Sync>(&callback.trigger)) {
    return sync->topics;
  }
  return {};
}

std::optional<std::string> sampled_topic(const Callback& from, const Callback& to) {
  const std::set<std::string_view> read(to.reads.begin(), to.reads.end());
  if (std::ranges::any_of(from.stores, [&](const auto& each) { return read.contains(each); })) {
    return std::nullopt;
  }
  const auto found = std::ranges::find_if(to.samples, [&](const std::string& topic) {
    return std::ranges::find(from.publishes, topic) != from.publishes.end();
  });
  return found != to.samples.end() ? std::optional(*found) : std::nullopt;
}

Nanoseconds period(const Callback& callback) {
  const auto* event = std::get_if<Event>(&callback.trigger);
  const bool states_period = event != nullptr && event->period > Nanoseconds::zero();
  return states_period ? event->period : min_interval(callback);
}

Nanoseconds min_interval(const Callback& callback) {
  if (const auto* timer = std::get_if<Timer>(&callback.trigger)) {
    return timer->period;
  }
  const auto* event = std::get_if<Event>(&callback.trigger);
  return event != nullptr ? event->min_interval : Nanoseconds::zero();
}

Nanoseconds max_interval(const Callback& callback) {
  const auto* event = std::get_if<Event>(&callback.trigger);
  return event != nullptr ? event->max_interval : min_interval(callback);
}

bool Callback::leads(std::size_t input, std::size_t output) const {
  return routes.empty() ||
         std::binary_search(routes.at(input).begin(), routes.at(input).end(), output);
}

int Application::effective_priority(std::size_t callback) const {
  if (const auto& own = callback_at(*this, callback).priority) {
    return *own;
  }
  int highest = 0;
  for (const Chain& chain : chains) {
    if (std::find(chain.callbacks.begin(), chain.callbacks.end(), callback) !=
        chain.callbacks.end()) {
      highest = std::max(highest, chain.priority);
    }
  }
  return highest;
}

std::vector<int> Application::effective_priorities() const {
  std::vector<int> result(callbacks.size());
  for (const Chain& chain : chains) {
    for (const std::size_t callback : chain.callbacks) {
      result.at(callback) = std::max(result.at(callback), chain.priority);
    }
  }
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    result[i] = callbacks[i].priority.value_or(result[i]);
  }
  return result;
}

std::size_t Application::executor_of(std::size_t callback) const {
  const Callback& own = callback_at(*this, callback);
  return own.executor ? *own.executor : nodes.at(own.node).executor;
}

std::optional<std::size_t> Application::host_of(std::size_t callback) const {
  return executors.at(executor_of(callback)).host;
}

Nanoseconds Application::period(const Chain& chain) const {
  if (chain.callbacks.empty()) {
    return Nanoseconds::zero();
  }
  return model::period(callback_at(*this, chain.callbacks.front()));
}

std::vector<std::size_t> Application::successors(std::size_t callback) const {
  const auto& published = callback_at(*this, callback).publishes;
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    const auto taken = inputs(callbacks[i]);
    if (std::find_first_of(published.begin(), published.end(), taken.begin(), taken.end()) !=
        published.end()) {
      result.push_back(i);
    }
  }
  return result;
}

std::vector<std::vector<std::size_t>> Application::processes() const {
  std::vector<std::vector<std::size_t>> result;
  for (std::size_t i = 0; i < executors.size(); ++i) {
    const auto own = std::ranges::find_if(result, [&](const auto& process) {
      const Executor& first = executors[process.front()];
      return first.process == executors[i].process && first.host == executors[i].host;
    });
    if (own != result.end()) {
      own->push_back(i);
    } else {
      result.push_back({i});
    }
  }
  return result;
}

std::vector<double> Application::rates() const {
  const detail::Graph graph(*this);
  std::vector<double> rate(graph.vertex_count(), 0.0);
  for (const std::size_t vertex : graph.topological_order()) {
    if (!graph.is_callback(vertex)) {
      continue;
    }
    const auto& taken = graph.input_topics(vertex);
    if (!callbacks[vertex].takes_messages()) {
      rate[vertex] = own_rate(callbacks[vertex]);
    } else {
      const bool all = callbacks[vertex].kind() == CallbackKind::kSync;  // inputs at once
      for (std::size_t i = 0; i < taken.size(); ++i) {
        const double more = rate[taken[i]];
        rate[vertex] = i == 0 ? more : all ? std::min(rate[vertex], more) : rate[vertex] + more;
      }
    }
    const auto& published = graph.output_topics(vertex);
    for (std::size_t i = 0; i < published.size(); ++i) {
      rate[published[i]] += publishing_rate(callbacks[vertex], taken, rate, rate[vertex], i);
    }
  }
  rate.resize(graph.callback_count());
  return rate;
}

double Application::utilisation() const {
  const std::vector<double> rate = rates();
  double sum = 0.0;
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    const double wcet = std::chrono::duration<double>(callbacks[i].wcet).count();
    if (wcet > 0.0) {
      sum += wcet * rate[i];
    }
  }
  return sum;
}

Nanoseconds Application::hyperperiod() const {
  Nanoseconds result = Nanoseconds::zero();
  for (const Callback& callback : callbacks) {
    const Nanoseconds interval = model::period(callback);
    if (interval > Nanoseconds::zero()) {
      result = result == Nanoseconds::zero() ? interval : saturating_lcm(result, interval);
    }
  }
  return result;
}

}  // namespace rclrt::model
