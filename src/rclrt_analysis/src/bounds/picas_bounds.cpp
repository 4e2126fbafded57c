// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/picas_bounds.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <utility>

#include "bounds/cores.hpp"
#include "callback_graph.hpp"
#include "demand.hpp"
#include "rclrt/model/executor_kind.hpp"

namespace rclrt::analysis {
namespace {

using detail::Budget;
using detail::CallbackGraph;
using detail::ceil_div;
using detail::Cores;
using detail::product;
using detail::sum;
using model::Application;
using model::Chain;

/// The properties of a callback that the analysis uses.
struct Member {
  std::size_t root{};  ///< the timer or event that starts its chains
  int priority{};      ///< within its executor
  int top{};           ///< of its executor
  std::size_t core{};  ///< its CPU
  Ticks wcet{};
  Ticks chain_work{};      ///< the most of its chains that are on one CPU
  bool comes_from_afar{};  ///< its messages come by way of another CPU
  bool behind_several{};   ///< it, or one before it, takes the messages of several callbacks
};

class PicasAnalysis {
 public:
  PicasAnalysis(const Application& application, Effort effort)
      : application_(application),
        graph_(application),
        cores_(application, graph_, false),
        budget_(effort),
        members_(application.callbacks.size()),
        unknown_(cores_.cores.size()) {
    const std::vector<int> priorities = application.effective_priorities();
    const std::vector<int> tops = top_priorities(application, model::ExecutorKind::kPicas);
    for (const std::size_t i : graph_.order) {
      const std::size_t executor = cores_.executor_of[i];
      members_[i] = {.root = i,
                     .priority = priorities[i],
                     .top = tops[executor],
                     .core = cores_.core_of[executor],
                     .wcet = application.callbacks[i].wcet.count()};
      take_publisher(i);
    }
    take_chains();
  }

  PicasBound bound(const Chain& chain) {
    PicasBound result;
    Ticks total = 0;
    const std::set<std::size_t> visited = cores_of(chain);
    for (const std::size_t core : visited) {
      if (!unknown_[core].empty()) {
        result.note = unknown_[core];
        return result;
      }
    }
    for (const std::size_t core : visited) {
      const auto own = response(chain, core, visited.size() == 1, result.unsafe);
      if (!own) {
        result.note = "more urgent callbacks leave it no time";
        result.unsafe.clear();
        return result;
      }
      total = sum(total, *own);
    }
    const Ticks period =
        model::min_interval(application_.callbacks[chain.callbacks.front()]).count();
    if (total > period) {
      total = sum(total, period);
      result.unsafe.emplace_back(
          "it takes longer than its period: of the instances before it no more than a period "
          "counts");
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (application_.callbacks[i].waits.count() > 0 && visited.contains(members_[i].core)) {
        result.unsafe.push_back("callback '" + id(i) + "' waits (waits_ms), which does not count");
      }
    }
    if (comes_back(chain)) {
      result.unsafe.emplace_back("the chain comes back to a CPU, and counts there once");
    }
    result.bound = total;
    if (result.unsafe.empty() && total <= chain.deadline.count()) {
      result.verdict = Verdict::kConditional;
    }
    return result;
  }

 private:
  const std::string& id(std::size_t callback) const { return application_.callbacks[callback].id; }

  /// Takes the data of the callback's publisher, which comes first in the order.
  void take_publisher(std::size_t callback) {
    Member& own = members_[callback];
    std::vector<std::size_t> publishers;
    for (const auto& input : graph_.publishers[callback]) {
      publishers.insert(publishers.end(), input.begin(), input.end());
    }
    if (publishers.empty()) {
      if (model::min_interval(application_.callbacks[callback]).count() <= 0) {
        not_known(callback, "has neither a timer nor an event");
      }
      return;
    }
    const Member& before = members_[publishers.front()];
    own.root = before.root;
    own.comes_from_afar = before.comes_from_afar || before.core != own.core;
    own.behind_several = publishers.size() > 1 || before.behind_several;
    if (own.behind_several) {
      not_known(callback, "takes, or follows one that takes, several messages");
    }
  }

  void take_chains() {
    std::vector<bool> on_chain(members_.size());
    for (const Chain& chain : application_.chains) {
      Ticks work = 0;
      for (const std::size_t callback : chain.callbacks) {
        on_chain[callback] = true;
        work = sum(work, members_[callback].wcet);
      }
      if (cores_of(chain).size() > 1) {
        continue;
      }
      for (const std::size_t callback : chain.callbacks) {
        members_[callback].chain_work = std::max(members_[callback].chain_work, work);
      }
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (!on_chain[i]) {
        not_known(i, "is on no chain");
      }
    }
  }

  void not_known(std::size_t callback, const std::string& why) {
    std::string& first = unknown_[members_[callback].core];
    if (first.empty()) {
      first =
          "callback '" + id(callback) + "' " + why + ", which PiCAS's analysis does not support";
    }
  }

  std::set<std::size_t> cores_of(const Chain& chain) const {
    std::set<std::size_t> result;
    for (const std::size_t callback : chain.callbacks) {
      result.insert(members_[callback].core);
    }
    return result;
  }

  bool comes_back(const Chain& chain) const {
    std::set<std::size_t> left;
    for (std::size_t i = 1; i < chain.callbacks.size(); ++i) {
      const std::size_t before = members_[chain.callbacks[i - 1]].core;
      const std::size_t now = members_[chain.callbacks[i]].core;
      if (before != now) {
        left.insert(before);
      }
      if (left.contains(now)) {
        return true;
      }
    }
    return false;
  }

  /// Returns the callback with the chain's lowest priority on the CPU. If several have it, returns
  /// the one in the executor with the lowest top priority.
  std::size_t least_urgent(const Chain& chain, std::size_t core) const {
    std::optional<std::size_t> result;
    const auto urgency = [&](std::size_t each) {
      return std::pair(members_[each].priority, members_[each].top);
    };
    for (const std::size_t callback : chain.callbacks) {
      if (members_[callback].core == core && (!result || urgency(callback) < urgency(*result))) {
        result = callback;
      }
    }
    return *result;
  }

  std::size_t last_on(const Chain& chain, std::size_t core) const {
    return *std::ranges::find_if(chain.callbacks.rbegin(), chain.callbacks.rend(),
                                 [&](std::size_t each) { return members_[each].core == core; });
  }

  struct Interferer {
    Ticks work{};
    Ticks period{};
    bool once{};
  };

  /// Returns the response of the part of the chain on one CPU.
  std::optional<Ticks> response(const Chain& chain, std::size_t core, bool one_cpu,
                                std::vector<std::string>& unsafe) {
    const std::size_t lowest = least_urgent(chain, core);
    const Member& least = members_[lowest];
    Ticks constant = 0;
    Ticks blocking = 0;
    std::vector<Interferer> others;
    for (const std::size_t callback : cores_.cores[core].callbacks) {
      const Member& each = members_[callback];
      const bool own = std::ranges::find(chain.callbacks, callback) != chain.callbacks.end();
      const bool same_executor = each.top == least.top;
      const bool above = each.top > least.top || (same_executor && each.priority > least.priority);
      if (own) {
        constant = sum(constant, each.wcet);
        if (each.top < least.top) {
          unsafe.push_back("callback '" + id(callback) +
                           "' of the chain is in a less urgent "
                           "executor than '" +
                           id(lowest) + "', its least urgent one");
        }
      } else if (same_executor && each.priority < least.priority) {
        blocking = std::max(blocking, each.wcet);
      } else if (same_executor && each.priority == least.priority) {
        unsafe.push_back("callback '" + id(callback) + "' is as urgent as '" + id(lowest) +
                         "', and does not count");
      }
      if (above && callback != lowest && (!own || !one_cpu)) {
        others.push_back(interferer(callback, least, own, unsafe));
      }
    }
    if (const std::size_t last = last_on(chain, core); members_[last].wcet == 0) {
      unsafe.push_back("callback '" + id(last) +
                       "' takes no time, and what is released at its end does not count");
    }
    constant = sum(constant, blocking);
    return detail::fixed_point(std::max(constant, Ticks{1}), others.size(), budget_, [&](Ticks w) {
      Ticks work = constant;
      for (const Interferer& each : others) {
        work = sum(work, product(each.once ? 1 : ceil_div(w, each.period), each.work));
      }
      return work;
    });
  }

  Interferer interferer(std::size_t callback, const Member& least, bool own,
                        std::vector<std::string>& unsafe) const {
    const Member& each = members_[callback];
    const Member& root = members_[each.root];
    const Ticks period = model::min_interval(application_.callbacks[each.root]).count();
    const bool once = root.core == least.core && root.priority < least.priority;
    const std::string name = "callback '" + id(callback) + "' ";
    if (once && root.top > least.top) {
      unsafe.push_back(name + "counts once, though the executor of its timer is more urgent");
    }
    if (each.comes_from_afar && !own) {
      unsafe.push_back(name + "comes by way of another CPU, and its jitter does not count");
    }
    if (!once && each.chain_work > period) {
      unsafe.push_back(name +
                       "counts as if it came once in the time that its chain's work takes, but its "
                       "period is shorter");
    }
    return {each.wcet, std::max(period, each.chain_work), once};
  }

  const Application& application_;
  CallbackGraph graph_;
  Cores cores_;
  Budget budget_;
  std::vector<Member> members_;       // of each callback
  std::vector<std::string> unknown_;  // for each CPU: a property that the analysis does not support
};

}  // namespace

std::vector<PicasBound> picas_bounds(const Application& application, Effort effort) {
  if (!application.hosts.empty()) {
    throw std::invalid_argument("PiCAS's bounds are for applications on one host");
  }
  PicasAnalysis analysis(application, effort);
  std::vector<PicasBound> result;
  for (const Chain& chain : application.chains) {
    if (application.period(chain).count() <= 0) {
      throw std::invalid_argument("chain '" + chain.id + "' does not start at a timer or an event");
    }
    result.push_back(analysis.bound(chain));
  }
  return result;
}

}  // namespace rclrt::analysis
