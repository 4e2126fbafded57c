// SPDX-License-Identifier: Apache-2.0
#include "audsley.hpp"

#include <algorithm>
#include <array>
#include <rclrt/model/no_deadline.hpp>

namespace rclrt::analysis::detail {
namespace {

class FromBelow {
 public:
  FromBelow(const model::Application& application,
            const std::function<std::vector<bool>(const std::vector<int>&,
                                                  std::span<const std::size_t>)>& hold,
            const std::function<bool()>& may_go_on)
      : hold_(hold), may_go_on_(may_go_on) {
    const auto& chains = application.chains;
    result_.level.assign(chains.size(), 0);
    result_.by.assign(chains.size(), PlacedBy::kNoDeadline);
    for (std::size_t i = 0; i < chains.size(); ++i) {
      if (chains[i].deadline < model::kNoDeadline) {
        open_.push_back(i);
      } else {
        result_.level[i] = 1;
      }
    }
    level_ = open_.size() < chains.size() ? 2 : 1;
    std::ranges::stable_sort(open_, std::less{},
                             [&](std::size_t chain) { return chains[chain].deadline; });
  }

  ChainLevels run() {
    while (!open_.empty()) {
      if (!place_one() && !place_several()) {
        result_.complete = false;
        break;
      }
      ++level_;
    }
    raise_open(result_.level);
    for (const std::size_t chain : open_) {
      result_.by[chain] = PlacedBy::kMethod;
    }
    return std::move(result_);
  }

 private:
  /// Gives the chains that have no priority one each, above level_, by their deadlines.
  void raise_open(std::vector<int>& levels) const {
    int above = level_ + static_cast<int>(open_.size());
    for (const std::size_t chain : open_) {
      levels[chain] = above--;
    }
  }

  void place(std::span<const std::size_t> chains, PlacedBy by) {
    for (const std::size_t chain : chains) {
      result_.level[chain] = level_;
      result_.by[chain] = by;
      std::erase(open_, chain);
    }
  }

  bool place_one() {
    for (auto at = open_.rbegin(); at != open_.rend() && may_go_on_(); ++at) {
      const std::array one{*at};
      std::vector<int> levels = result_.level;
      raise_open(levels);
      levels[*at] = level_;
      if (hold_(levels, one).front()) {
        place(one, PlacedBy::kAlone);
        return true;
      }
    }
    return false;
  }

  /// Places the largest set of chains that hold together. A chain that does not hold with all of
  /// the others at its priority does not hold with fewer of them either, because those that leave
  /// the set become more urgent. So chains leave the set until all hold.
  bool place_several() {
    std::vector<std::size_t> together = open_;
    while (together.size() > 1 && may_go_on_()) {
      std::vector<int> levels = result_.level;
      raise_open(levels);
      for (const std::size_t chain : together) {
        levels[chain] = level_;
      }
      const std::vector<bool> held = hold_(levels, together);
      std::vector<std::size_t> rest;
      for (std::size_t i = 0; i < together.size(); ++i) {
        if (held[i]) {
          rest.push_back(together[i]);
        }
      }
      if (rest.size() == together.size()) {
        place(together, PlacedBy::kTogether);
        return true;
      }
      together = std::move(rest);
    }
    return false;
  }

  const std::function<std::vector<bool>(const std::vector<int>&, std::span<const std::size_t>)>&
      hold_;
  const std::function<bool()>& may_go_on_;
  ChainLevels result_;
  std::vector<std::size_t> open_;  // chains without a priority, the shortest deadline first
  int level_ = 1;
};

}  // namespace

ChainLevels audsley(const model::Application& application,
                    const std::function<std::vector<bool>(const std::vector<int>& levels,
                                                          std::span<const std::size_t>)>& hold,
                    const std::function<bool()>& may_go_on) {
  return FromBelow(application, hold, may_go_on).run();
}

}  // namespace rclrt::analysis::detail
