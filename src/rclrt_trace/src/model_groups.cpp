// SPDX-License-Identifier: Apache-2.0
// Groups of callbacks that exclude each other.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model_builder.hpp"

namespace rclrt::trace {

namespace {

/// So many runs for which another callback waited show that the two exclude each other. Fewer may
/// be due to a CPU that was busy.
constexpr std::uint64_t kConvincing = 3;
/// Callbacks of a node with more of them are in no group. A real node has fewer, and the time for
/// all pairs grows with the square.
constexpr std::size_t kMostMembers = 500;

}  // namespace

/// Groups the callbacks of a node for which the trace has no groups. Those that never ran at once
/// with any other are in one group, and so are those that waited for each other and never ran at
/// once.
class ModelBuilder::GroupGuess {
 public:
  GroupGuess(const ModelBuilder& builder, std::vector<std::uint32_t> members,
             const WaitsForRuns& waits)
      : builder_(builder), members_(std::move(members)), waits_(waits) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      part_.push_back(i);
    }
    if (members_.size() > kMostMembers) {
      return;
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (builder_.overlap(members_[i], members_[j])) {
          overlaps_.emplace(i, j);
        }
      }
    }
  }

  /// Returns the parts of the members, each with the indices of the callbacks in it.
  std::vector<std::vector<std::uint32_t>> find() {
    if (members_.size() <= kMostMembers) {
      join_by_waits();
      join_those_apart_from_none();
    }
    std::map<std::size_t, std::vector<std::uint32_t>> parts;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      parts[part_[i]].push_back(members_[i]);
    }
    std::vector<std::vector<std::uint32_t>> result;
    for (auto& [part, members] : parts) {
      result.push_back(std::move(members));
    }
    return result;
  }

 private:
  std::uint64_t waits(std::size_t i, std::size_t j) const {
    const auto one = waits_.find({members_[i], members_[j]});
    const auto other = waits_.find({members_[j], members_[i]});
    return (one == waits_.end() ? 0 : one->second) + (other == waits_.end() ? 0 : other->second);
  }

  /// Joins callbacks that waited for each other, the clearest case first.
  void join_by_waits() {
    std::vector<std::pair<std::uint64_t, std::pair<std::size_t, std::size_t>>> pairs;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (const std::uint64_t count = waits(i, j); count >= kConvincing) {
          pairs.push_back({count, {i, j}});
        }
      }
    }
    std::ranges::stable_sort(pairs, std::greater(), [](const auto& pair) { return pair.first; });
    for (const auto& [count, pair] : pairs) {
      join(pair.first, pair.second);
    }
  }

  void join_those_apart_from_none() {
    std::size_t first = members_.size();
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const bool overlaps = std::ranges::any_of(
          overlaps_, [&](const auto& pair) { return pair.first == i || pair.second == i; });
      if (!overlaps && first == members_.size()) {
        first = i;
      } else if (!overlaps) {
        join(first, i);
      }
    }
  }

  /// Joins the parts of both, unless callbacks of them ran at once.
  void join(std::size_t i, std::size_t j) {
    const std::size_t into = part_[i];
    const std::size_t from = part_[j];
    const bool overlap = std::ranges::any_of(overlaps_, [&](const auto& pair) {
      const std::size_t a = part_[pair.first];
      const std::size_t b = part_[pair.second];
      return (a == into && b == from) || (a == from && b == into);
    });
    if (!overlap) {
      std::ranges::replace(part_, from, into);
    }
  }

  const ModelBuilder& builder_;
  const std::vector<std::uint32_t> members_;
  const WaitsForRuns& waits_;
  std::vector<std::size_t> part_;  // per member
  std::set<std::pair<std::size_t, std::size_t>> overlaps_;
};

/// Numbers the groups of all callbacks, also of those that the model leaves out.
void ModelBuilder::find_groups() {
  group_of_.assign(lives_.callbacks.size(), 0);
  using NodeInProcess = std::pair<std::uint32_t, std::uint32_t>;  // a process only without a node
  std::map<std::pair<NodeInProcess, std::uint64_t>, std::vector<std::uint32_t>> stated;
  std::map<NodeInProcess, std::vector<std::uint32_t>> unknown;
  for (std::uint32_t i = 0; i < lives_.callbacks.size(); ++i) {
    const TracedCallback& traced = callback_at(i);
    if (lives_.callback_of[i] != i || is_of_tools(i)) {
      continue;
    }
    const auto process = static_cast<std::size_t>(traced.process);
    const NodeInProcess node{traced.node, traced.node == kNone ? lives_.process_of[process] : 0};
    if (traced.group == 0) {
      unknown[node].push_back(i);
    } else if (!traced.reentrant) {
      stated[{node, traced.group}].push_back(i);
    }
  }
  std::uint32_t number = 0;
  const auto add = [&](const std::vector<std::uint32_t>& members) {
    ++number;
    for (const std::uint32_t member : members) {
      group_of_[member] = number;
    }
  };
  for (const auto& [key, members] : stated) {
    add(members);
  }
  const WaitsForRuns waits = count_waits_for_runs(system_, lives_, pools_, starvation_.stopped);
  for (const auto& [node, members] : unknown) {
    for (const auto& part : GroupGuess(*this, members, waits).find()) {
      add(part);
    }
  }
}

void ModelBuilder::add_groups() {
  std::map<std::uint32_t, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < traced_of_.size(); ++i) {
    const std::uint32_t group = group_of_[traced_of_[i]];
    const bool is_stated = callback_at(traced_of_[i]).group != 0;
    if (group != 0 && (is_stated || application_.callbacks[i].executor == std::nullopt)) {
      groups[group].push_back(i);
    }
  }
  std::erase_if(groups, [](const auto& each) { return each.second.size() < 2; });
  Names names;
  std::map<std::size_t, std::size_t> largest;  // by node: size of its largest assumed group
  for (const auto& [number, members] : groups) {
    if (callback_at(traced_of_[members.front()]).group == 0) {
      std::size_t& size = largest[application_.callbacks[members.front()].node];
      size = std::max(size, members.size());
    }
  }
  const std::size_t assumed = largest.size();
  for (const auto& [number, members] : groups) {
    const std::size_t node = application_.callbacks[members.front()].node;
    const bool is_stated = callback_at(traced_of_[members.front()]).group != 0;
    const auto found = largest.find(node);
    const bool is_default = !is_stated && found != largest.end() && found->second == members.size();
    if (is_default) {
      largest.erase(found);
    }
    const std::string name = is_default ? std::string(model::kDefaultGroup)
                                        : names.unique(application_.nodes[node].name + "_group");
    for (const std::size_t member : members) {
      application_.callbacks[member].group = name;
    }
  }
  if (assumed > 0) {
    model_.notes.push_back("of " + std::to_string(assumed) + (assumed == 1 ? " node" : " nodes") +
                           " the callback groups are not in the trace: callbacks of a node that "
                           "never ran at once with another one, or never with each other and "
                           "waited for each other, are in one group");
  }
}

/// Returns whether the two callbacks ever ran at the same time. Members of one group never do.
bool ModelBuilder::overlap(std::uint32_t one, std::uint32_t other) const {
  const Runs& a = runs_[one];
  const Runs& b = runs_[other];
  if (a.threads.size() == 1 && a.threads == b.threads) {
    return false;
  }
  if (system_.streams()) {
    return std::ranges::any_of(system_.first_runs(), [&](std::uint32_t x) {
      return lives_.callback_of[x] == one &&
             std::ranges::any_of(system_.first_runs(), [&](std::uint32_t y) {
               return lives_.callback_of[y] == other && system_.have_overlapped(x, y);
             });
    });
  }
  auto x = a.times.begin();
  auto y = b.times.begin();
  while (x != a.times.end() && y != b.times.end()) {
    if (x->start_ns < y->end_ns && y->start_ns < x->end_ns) {
      return true;
    }
    x->end_ns < y->end_ns ? ++x : ++y;
  }
  return false;
}

}  // namespace rclrt::trace
