// SPDX-License-Identifier: Apache-2.0
#include "lives.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace rclrt::trace {

namespace {

constexpr std::size_t kMostNamed = 5;  // nodes in a note

/// Disjoint sets (union-find). The least member represents its set.
class Joined {
 public:
  explicit Joined(std::size_t size) : root_(size) { std::iota(root_.begin(), root_.end(), 0U); }

  void join(std::uint32_t one, std::uint32_t other) {
    one = root(one);
    other = root(other);
    root_[std::max(one, other)] = std::min(one, other);
  }
  std::uint32_t root(std::uint32_t member) {
    while (root_[member] != member) {
      member = root_[member] = root_[root_[member]];
    }
    return member;
  }
  std::vector<std::uint32_t> roots() {
    std::vector<std::uint32_t> result;
    for (std::uint32_t i = 0; i < root_.size(); ++i) {
      result.push_back(root(i));
    }
    return result;
  }

 private:
  std::vector<std::uint32_t> root_;
};

/// The life of a node or callback: from its creation to its last activity.
struct Life {
  std::uint32_t index = 0;
  std::int64_t process = 0;
  std::int64_t created_ns = 0;
  std::int64_t last_ns = 0;
};

std::string milliseconds(std::int64_t time_ns) {
  return std::to_string(time_ns / 1'000'000) + " ms";
}

/// Finds lives that follow each other: first of nodes, then of callbacks, then of executors.
class Finder {
 public:
  explicit Finder(const TracedSystem& system)
      : system_(system),
        processes_(system.processes().size()),
        nodes_(system.nodes().size()),
        callbacks_(system.callbacks().size()),
        executors_(system.executors().size()) {}

  Lives find() {
    see_runs();
    find_nodes();
    find_callbacks();
    result_.process_of = processes_.roots();
    result_.node_of = nodes_.roots();
    result_.callback_of = callbacks_.roots();
    merge();
    result_.executor_of = executors_.roots();
    add_notes();
    return std::move(result_);
  }

 private:
  /// The identity of a callback across lives: its owner and its trigger, without a timer's period.
  using Key =
      std::tuple<std::int64_t, std::uint32_t, TriggerKind, std::string, std::vector<std::uint32_t>>;

  void see_runs() {
    last_run_.assign(system_.callbacks().size(), 0);
    for (std::uint32_t i = 0; i < system_.callbacks().size(); ++i) {
      last_run_[i] = system_.callbacks()[i].created_ns;
    }
    for (const TracedInstance& instance : system_.instances()) {
      std::int64_t& last = last_run_[instance.callback];
      last = std::max(last, instance.end_ns);
    }
    for (const std::uint32_t callback : system_.first_runs()) {
      std::int64_t& last = last_run_[callback];
      last = std::max(last, system_.totals()[callback].span().last_ns);
    }
    node_last_.assign(system_.nodes().size(), 0);
    for (std::uint32_t i = 0; i < system_.nodes().size(); ++i) {
      node_last_[i] = system_.nodes()[i].created_ns;
    }
    for (std::uint32_t i = 0; i < system_.callbacks().size(); ++i) {
      if (const std::uint32_t node = system_.callbacks()[i].node; node != kNone) {
        node_last_[node] = std::max(node_last_[node], last_run_[i]);
      }
    }
  }

  /// Returns whether the life `one` ended before `other` was created. In the same process, `one`
  /// ends with its last activity, because the process may have unloaded it. In another process,
  /// `one` lasts as long as that process, which may be idle.
  /// A node of another host is another one.
  bool precedes(const Life& one, const Life& other) const {
    const auto host = [&](std::int64_t process) {
      return system_.processes()[static_cast<std::size_t>(process)].host;
    };
    if (host(one.process) != host(other.process)) {
      return false;
    }
    const auto last = [&](std::int64_t process) {
      return system_.processes()[static_cast<std::size_t>(process)].last_ns;
    };
    const std::int64_t end =
        one.process == other.process ? one.last_ns : std::max(one.last_ns, last(one.process));
    return end <= other.created_ns;
  }

  void find_nodes() {
    std::map<std::string, std::vector<Life>> latest;  // by name; several if they overlap
    lives_of_node_.assign(system_.nodes().size(), 1);
    for (std::uint32_t i = 0; i < system_.nodes().size(); ++i) {  // in order of creation
      const TracedNode& node = system_.nodes()[i];
      const Life life{i, node.process, node.created_ns, node_last_[i]};
      std::vector<Life>& of_name = latest[full_name(node)];
      const auto before =
          std::ranges::find_if(of_name, [&](const Life& each) { return precedes(each, life); });
      if (before == of_name.end()) {
        of_name.push_back(life);
        continue;
      }
      nodes_.join(before->index, i);
      processes_.join(static_cast<std::uint32_t>(before->process),
                      static_cast<std::uint32_t>(node.process));
      ++lives_of_node_[nodes_.root(i)];
      *before = life;
    }
  }

  Key key_of(const TracedCallback& callback) {
    std::vector<std::uint32_t> topics;
    for (const TracedInput& input : callback.inputs) {
      topics.push_back(input.topic);
    }
    // A callback without a node belongs to its process.
    const bool has_node = callback.node != kNone;
    const std::int64_t process =
        has_node ? -1 : processes_.root(static_cast<std::uint32_t>(callback.process));
    return {process, has_node ? nodes_.root(callback.node) : kNone, callback.kind, callback.name,
            std::move(topics)};
  }

  void find_callbacks() {
    std::map<std::pair<Key, std::int64_t>, std::vector<Life>> latest;  // by key and period
    std::map<std::uint32_t, std::vector<std::uint32_t>> others;  // timers, by node (one life each)
    for (std::uint32_t i = 0; i < system_.callbacks().size(); ++i) {
      const TracedCallback& callback = system_.callbacks()[i];
      if (callback.kind == TriggerKind::kOther && callback.name.empty()) {
        continue;  // nothing in the trace identifies it
      }
      const Life life{i, callback.process, callback.created_ns, last_run_[i]};
      std::vector<Life>& alike = latest[{key_of(callback), callback.period_ns}];
      const auto before = std::ranges::find_if(alike, [&](const Life& each) {
        // One that never ran, in the same life of the node, may still wait for its first run.
        const bool may_wait = callback.node != kNone && each.last_ns == each.created_ns &&
                              system_.callbacks()[each.index].node == callback.node;
        return precedes(each, life) && !may_wait;
      });
      if (before != alike.end()) {
        callbacks_.join(before->index, i);
        *before = life;
        continue;
      }
      alike.push_back(life);
      if (callback.kind == TriggerKind::kTimer && callback.node != kNone) {
        others[callback.node].push_back(i);
      }
    }
    find_changed_timers(others);
  }

  /// Joins timers that have another period after a restart of their node. A timer with a period
  /// that no earlier life of the node had is taken for an earlier timer of the node that has
  /// disappeared: for the first of these, in order of creation.
  void find_changed_timers(const std::map<std::uint32_t, std::vector<std::uint32_t>>& others) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> before;  // by node (all lives)
    for (const auto& [node, timers] : others) {                  // nodes in order of creation
      std::vector<std::uint32_t>& known = before[nodes_.root(node)];
      std::vector<std::uint32_t> missing;
      for (const std::uint32_t timer : known) {
        if (!lives_in(timer, node) && last_run_[timer] <= system_.nodes()[node].created_ns) {
          missing.push_back(timer);
        }
      }
      std::vector<std::uint32_t> fresh;
      for (const std::uint32_t timer : timers) {
        const auto same_name =
            std::ranges::find(missing, system_.callbacks()[timer].name,
                              [&](std::uint32_t each) { return system_.callbacks()[each].name; });
        if (same_name == missing.end()) {
          fresh.push_back(timer);
          continue;
        }
        callbacks_.join(*same_name, timer);
        missing.erase(same_name);
      }
      known.insert(known.end(), fresh.begin(), fresh.end());
    }
  }

  /// Returns whether a life of the callback belongs to that life of its node.
  bool lives_in(std::uint32_t callback, std::uint32_t node) {
    for (std::uint32_t i = 0; i < system_.callbacks().size(); ++i) {
      if (system_.callbacks()[i].node == node && callbacks_.root(i) == callbacks_.root(callback)) {
        return true;
      }
    }
    return false;
  }

  void merge() {
    result_.callbacks = system_.callbacks();
    std::map<std::pair<std::int64_t, std::uint64_t>, std::pair<std::int64_t, std::uint64_t>> groups;
    for (std::uint32_t i = 0; i < result_.callbacks.size(); ++i) {
      const std::uint32_t root = result_.callback_of[i];
      TracedCallback& own = result_.callbacks[i];
      if (root == i) {
        continue;
      }
      TracedCallback& all = result_.callbacks[root];
      all.outputs.insert(own.outputs.begin(), own.outputs.end());
      all.samples.insert(own.samples.begin(), own.samples.end());
      for (std::size_t input = 0; input < std::min(all.inputs.size(), own.inputs.size()); ++input) {
        all.inputs[input].depth = std::max(all.inputs[input].depth, own.inputs[input].depth);
      }
      note_periods(all, own);
      if (all.executor != kNone && own.executor != kNone) {
        executors_.join(all.executor, own.executor);
      }
      all.executor = all.executor == kNone ? own.executor : all.executor;
      all.priority = own.priority ? own.priority : all.priority;  // the latest one counts
      all.deadline_ns = own.deadline_ns;
      groups.try_emplace({own.process, own.group}, all.process, all.group);
    }
    for (std::uint32_t i = 0; i < result_.callbacks.size(); ++i) {
      TracedCallback& callback = result_.callbacks[i];
      const auto first = groups.find({callback.process, callback.group});
      if (result_.callback_of[i] == i && callback.group != 0 && first != groups.end()) {
        callback.group = first->second.second;
      }
      if (callback.node != kNone) {
        callback.node = result_.node_of[callback.node];
      }
    }
  }

  void note_periods(TracedCallback& all, const TracedCallback& own) {
    if (all.kind != TriggerKind::kTimer || all.period_ns == own.period_ns) {
      return;
    }
    result_.notes.push_back(
        "a timer of " + (all.node == kNone ? "no node" : full_name(system_.nodes()[all.node])) +
        " has a period of " + milliseconds(all.period_ns) + " in one life and of " +
        milliseconds(own.period_ns) + " in another: the model has the shorter one");
    all.period_ns = std::min(all.period_ns, own.period_ns);
  }

  void add_notes() {
    std::map<std::size_t, std::vector<std::string>> names;  // by number of lives
    for (std::uint32_t i = 0; i < lives_of_node_.size(); ++i) {
      if (result_.node_of[i] == i && lives_of_node_[i] > 1) {
        names[lives_of_node_[i]].push_back(full_name(system_.nodes()[i]));
      }
    }
    for (const auto& [lives, nodes] : names) {
      std::string list;
      for (std::size_t i = 0; i < std::min(nodes.size(), kMostNamed); ++i) {
        list += (i == 0 ? "" : ", ") + nodes[i];
      }
      if (nodes.size() > kMostNamed) {
        list += " and " + std::to_string(nodes.size() - kMostNamed) + " more";
      }
      result_.notes.push_back((nodes.size() == 1 ? "node " : "nodes ") + list + " lived " +
                              std::to_string(lives) +
                              " times in the trace, one life after the other (several sessions, or "
                              "started again): counted once, with the execution times of all");
    }
  }

  const TracedSystem& system_;
  Joined processes_;
  Joined nodes_;
  Joined callbacks_;
  Joined executors_;
  std::vector<std::int64_t> last_run_;      // per callback
  std::vector<std::int64_t> node_last_;     // per node: the last end of one of its callbacks
  std::vector<std::size_t> lives_of_node_;  // at the node that represents all lives
  Lives result_;
};

}  // namespace

std::string full_name(const TracedNode& node) {
  return (node.name_space.empty() || node.name_space == "/" ? "" : node.name_space) + "/" +
         node.name;
}

Lives find_lives(const TracedSystem& system) { return Finder(system).find(); }

}  // namespace rclrt::trace
