// SPDX-License-Identifier: Apache-2.0
#include "publication_stream.hpp"

#include <algorithm>
#include <utility>

#include "clock_error.hpp"
#include "publisher_choice.hpp"

namespace rclrt::recorder {

namespace {

/// Several subscriptions take a message at about the same time.
constexpr std::size_t kRecent = 32;

}  // namespace

void PublicationStream::grow(const model::Application& application,
                             const std::vector<std::set<std::string>>& of_node) {
  const std::size_t callbacks = application.callbacks.size();
  const std::size_t known = inputs_.size();
  busy_.resize(callbacks);
  for (std::size_t i = known; i < callbacks; ++i) {
    const std::vector<std::string> topics = inputs(application.callbacks[i]);
    inputs_.push_back(topics.size() == 1 ? topics.front() : "");
    if (!inputs_.back().empty()) {
      topics_[inputs_.back()];
    }
  }
  for (auto& [name, topic] : topics_) {
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < callbacks; ++i) {
      const std::size_t node = application.callbacks[i].node;
      if (node < of_node.size() && of_node[node].contains(name)) {
        candidates.push_back(i);
      }
    }
    take_candidates(topic, std::move(candidates), known);
  }
}

/// The first `known` callbacks may have published messages that are kept.
void PublicationStream::take_candidates(Topic& topic, std::vector<std::size_t> candidates,
                                        std::size_t known) const {
  const auto added = std::ranges::lower_bound(candidates, known);
  if (!std::ranges::equal(candidates.begin(), added, topic.candidates.begin(),
                          topic.candidates.end())) {
    if (topic.messages.size() >= kCertain) {
      topic.earlier = publishers_of(topic);
    }
    topic.messages.clear();
  }
  topic.candidates = std::move(candidates);
}

void PublicationStream::take(const LoggedInstance& instance, const RanAt& ran_at) {
  const InstanceRecord& record = instance.record;
  if (record.outcome == Outcome::kRan) {
    Busy& busy = busy_[record.callback];
    if (busy.first_ns < 0) {
      busy.first_ns = record.start_ns;
    }
    busy.sum_ns += record.end_ns - record.start_ns;
    newest_ns_ = std::max(newest_ns_, record.end_ns);
  }
  if (instance.published_ns == 0 || inputs_[record.callback].empty()) {
    return;
  }
  Topic& topic = topics_.at(inputs_[record.callback]);
  std::deque<Message>& messages = topic.messages;
  const auto recent =
      messages.end() - static_cast<std::ptrdiff_t>(std::min(messages.size(), kRecent));
  if (std::ranges::any_of(recent, messages.end(), [&](const Message& one) {
        return one.published_ns == instance.published_ns;
      })) {
    return;
  }
  Message& added = messages.emplace_back();
  added.published_ns = instance.published_ns;
  for (const std::size_t each : topic.candidates) {
    if (ran_at(each, instance.published_ns, kClockError_ns)) {
      added.near.push_back(each);
      if (ran_at(each, instance.published_ns, 0)) {
        added.exact.push_back(each);
      }
    }
  }
  if (messages.size() > kMessages) {
    messages.pop_front();
  }
}

/// Among candidates that explain the same messages, takes the one that ran for the smallest part of
/// the time since its first run: a callback that appeared late has run less in total.
std::vector<std::size_t> PublicationStream::publishers_of(const Topic& topic) const {
  if (topic.messages.size() < kCertain && !topic.earlier.empty()) {
    return topic.earlier;
  }
  const auto covers = [&](std::size_t message, std::size_t candidate, std::int64_t error_ns) {
    const Message& one = topic.messages[message];
    return std::ranges::binary_search(error_ns == 0 ? one.exact : one.near, candidate);
  };
  return choose_publishers(topic.messages.size(), topic.candidates, covers,
                           [this](std::size_t candidate) {
                             const Busy& busy = busy_[candidate];
                             return static_cast<double>(busy.sum_ns) /
                                    static_cast<double>(std::max<std::int64_t>(
                                        1, newest_ns_ - std::max<std::int64_t>(0, busy.first_ns)));
                           });
}

bool PublicationStream::set(model::Application& application) const {
  std::vector<std::vector<std::string>> found(application.callbacks.size());
  for (const auto& [name, topic] : topics_) {
    for (const std::size_t each : publishers_of(topic)) {
      found[each].push_back(name);
    }
  }
  bool changed = false;
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::vector<std::string>& publishes = application.callbacks[i].publishes;
    if (publishes != found[i]) {
      publishes = std::move(found[i]);
      changed = true;
    }
  }
  return changed;
}

std::set<std::string> PublicationStream::certain() const {
  std::set<std::string> result;
  for (const auto& [name, topic] : topics_) {
    if (topic.messages.size() >= kCertain) {
      result.insert(name);
    }
  }
  return result;
}

std::size_t PublicationStream::messages() const {
  std::size_t result = 0;
  for (const auto& [name, topic] : topics_) {
    result += topic.messages.size();
  }
  return result;
}

}  // namespace rclrt::recorder
