// SPDX-License-Identifier: Apache-2.0
// Equal stamps of messages that came in and that went out: a callback that publishes with the stamp
// of a message which another callback of its node took before has used that message.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model_builder.hpp"

namespace rclrt::trace {

namespace {

/// The fewest messages that show a link. Stamps have nanoseconds: they are not equal by chance.
constexpr std::uint64_t kFewest = 3;
/// Stamps of simulated time, which begins at 0, are before this time of day. That clock moves in
/// steps, so different messages have equal stamps.
constexpr std::int64_t kFirstUnique_ns = 365LL * 24 * 3'600 * 1'000'000'000;
/// One of so many messages may be without its source, which may have come before the trace.
constexpr std::uint64_t kOneOf = 10;

/// The callbacks that took the stamps which the messages of one callback have.
struct Sources {
  std::uint64_t messages = 0;                    ///< with a stamp
  std::map<std::size_t, std::uint64_t> equal{};  ///< by callback that took this stamp before
  bool passes_on = false;                        ///< its own messages have these stamps
};

}  // namespace

void ModelBuilder::add_equal_stamps() {
  const auto in_model = [&](std::uint32_t traced) {
    return model_.callback_of[lives_.callback_of[traced]];
  };
  const auto node_of = [&](std::uint32_t traced) { return system_.callbacks()[traced].node; };
  std::uint64_t simulated = 0;
  // The first run of each callback for a stamp, by node and stamp.
  std::map<std::pair<std::uint32_t, std::int64_t>, std::map<std::size_t, std::int64_t>> took;
  for (const TracedInstance& each : system_.instances()) {
    const std::uint32_t index = in_model(each.callback);
    simulated += each.stamp_ns > 0 && each.stamp_ns < kFirstUnique_ns ? 1U : 0U;
    if (each.stamp_ns >= kFirstUnique_ns && index != kNone && node_of(each.callback) != kNone) {
      auto& runs = took[{node_of(each.callback), each.stamp_ns}];
      const auto [run, is_new] = runs.try_emplace(index, each.start_ns);
      run->second = std::min(run->second, each.start_ns);
    }
  }
  if (simulated >= kFewest) {
    model_.notes.push_back(
        std::to_string(simulated) +
        " messages have stamps of simulated time, of which several may be equal: "
        "they show no links");
  }
  std::map<std::size_t, Sources> sources;  // by publisher
  for (const TracedInstance& each : system_.instances()) {
    if (each.stamp_ns < kFirstUnique_ns || each.publisher == kNone ||
        node_of(each.publisher) == kNone) {
      continue;
    }
    const std::uint32_t publisher = in_model(each.publisher);
    if (publisher == kNone) {
      continue;
    }
    Sources& own = sources[publisher];
    ++own.messages;
    const auto found = took.find({node_of(each.publisher), each.stamp_ns});
    if (found == took.end()) {
      continue;
    }
    for (const auto& [taker, start_ns] : found->second) {
      own.passes_on = own.passes_on || taker == publisher;
      own.equal[taker] += start_ns < each.published_ns ? 1U : 0U;
    }
  }
  for (const auto& [publisher, own] : sources) {
    add_equal_stamps_of(publisher, own.passes_on ? 0 : own.messages, own.equal);
  }
}

/// Adds the one callback of which all stamps went out again as a source of the publisher. Several
/// ones, as of a camera and a detector with its stamps, are proposed.
void ModelBuilder::add_equal_stamps_of(std::size_t publisher, std::uint64_t messages,
                                       const std::map<std::size_t, std::uint64_t>& equal) {
  std::vector<std::size_t> takers;
  for (const auto& [taker, count] : equal) {
    if (messages >= kFewest && count >= kFewest &&
        messages - std::min(count, messages) <= messages / kOneOf) {
      takers.push_back(taker);
    }
  }
  const bool is_known =
      std::ranges::any_of(takers, [&](std::size_t taker) { return reads(publisher, taker); });
  if (takers.size() == 1 && !is_known) {
    add_variable(takers.front(), {publisher});
  } else if (takers.size() > 1 && !is_known) {
    std::string ids;
    for (const std::size_t taker : takers) {
      ids += (ids.empty() ? "" : ", ") + application_.callbacks[taker].id;
    }
    model_.notes.push_back("callback '" + application_.callbacks[publisher].id +
                           "' publishes with the stamps of messages that several callbacks of its "
                           "node took (" +
                           ids + "): state which of them it reads");
  }
}

}  // namespace rclrt::trace
