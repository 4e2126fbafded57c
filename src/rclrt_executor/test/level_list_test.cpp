// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/detail/level_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "test_callback.hpp"

namespace rclrt::executor::test {
namespace {

using detail::LevelList;

/// The reference for a list: a vector that is sorted each time.
class Model {
 public:
  void insert(Instance* instance) {
    waiting_.push_back(instance);
    std::sort(waiting_.begin(), waiting_.end(), [](const Instance* a, const Instance* b) {
      return std::pair(-a->queued_level, a->order) < std::pair(-b->queued_level, b->order);
    });
  }
  void remove(const Instance* instance) { std::erase(waiting_, instance); }
  std::size_t remove_all(const Callback* callback) {
    return std::erase_if(waiting_, [&](const Instance* i) { return i->callback == callback; });
  }
  Instance* first_ready_by(std::int64_t ready_by_ns) const {
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const bool leads = i == 0 || waiting_[i]->queued_level != waiting_[i - 1]->queued_level;
      if (leads && waiting_[i]->ready_ns <= ready_by_ns) {
        return waiting_[i];
      }
    }
    return nullptr;
  }
  Instance* first_of(const Callback* callback) const {
    const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const Instance* i) { return i->callback == callback; });
    return found == waiting_.end() ? nullptr : *found;
  }
  bool empty() const { return waiting_.empty(); }

 private:
  std::vector<Instance*> waiting_;
};

TEST(LevelListTest, IsAlwaysInOrderOfLevelThenOfSequence) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::deque<TestCallback> owners;
  for (int i = 0; i < 3; ++i) {
    owners.emplace_back(named("owner"), [](const InstanceInfo&) {});
  }
  std::array<Instance, 24> instances;
  for (int round = 0; round < 200; ++round) {
    LevelList list;
    Model model;
    std::vector<Instance*> outside;
    for (std::size_t i = 0; i < instances.size(); ++i) {
      instances[i].callback = &owners[below(owners.size())];
      instances[i].order = i;
      instances[i].ready_ns = static_cast<std::int64_t>(i);
      outside.push_back(&instances[i]);
    }
    for (int step = 0; step < 100; ++step) {
      const std::size_t action = below(8);
      if (action < 4 && !outside.empty()) {  // any order: some return to their old place
        std::swap(outside[below(outside.size())], outside.back());
        list.insert(outside.back(), static_cast<int>(below(4)) - 2);
        model.insert(outside.back());
        outside.pop_back();
      } else if (action < 6) {
        const auto by_ns = static_cast<std::int64_t>(below(instances.size()));
        Instance* const taken = list.first_ready_by(by_ns);
        ASSERT_EQ(taken, model.first_ready_by(by_ns));
        if (taken != nullptr) {
          list.remove_first(taken);
          model.remove(taken);
          outside.push_back(taken);
        }
      } else if (const Callback* const owner = &owners[below(owners.size())]; action == 6) {
        Instance* const taken = list.remove_one(*owner);
        ASSERT_EQ(taken, model.first_of(owner));
        if (taken != nullptr) {
          model.remove(taken);
          outside.push_back(taken);
        }
      } else if (step % 10 == 0) {
        Instance* taken = nullptr;
        list.remove_all(*owner, taken);
        std::size_t count = 0;
        for (; taken != nullptr; taken = taken->next) {
          EXPECT_EQ(taken->callback, owner);
          outside.push_back(taken);
          ++count;
        }
        ASSERT_EQ(count, model.remove_all(owner));
      }
      ASSERT_EQ(list.first(), model.first_ready_by(INT64_MAX));
      ASSERT_EQ(list.empty(), model.empty());
    }
  }
}

}  // namespace
}  // namespace rclrt::executor::test
