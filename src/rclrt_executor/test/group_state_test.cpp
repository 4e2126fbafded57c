// SPDX-License-Identifier: Apache-2.0
// Which instance may enter a group, which ones wait, and which is next.
#include "rclrt/executor/detail/group_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "test_callback.hpp"

namespace rclrt::executor::test {
namespace {

class GroupOrder : public ::testing::Test {
 protected:
  GroupOrder() {
    std::uint64_t order = 0;
    for (Instance* instance : {&low_, &low_later_, &middle_, &high_}) {
      instance->order = order++;
    }
    low_.callback = low_later_.callback = &low_callback_;
    middle_.callback = &middle_callback_;
    high_.callback = &high_callback_;
  }

  TestCallback low_callback_{named("low", 1), nullptr};
  TestCallback middle_callback_{named("middle", 2), nullptr};
  TestCallback high_callback_{named("high", 3), nullptr};
  Instance low_;
  Instance low_later_;
  Instance middle_;
  Instance high_;
  detail::GroupState group_{GroupType::kMutuallyExclusive};
};

TEST_F(GroupOrder, OneIsInsideAndTheNextAfterItIsTheMostUrgentThatWaits) {
  EXPECT_TRUE(group_.enter(&low_));
  EXPECT_FALSE(group_.enter(&low_later_));
  EXPECT_FALSE(group_.enter(&middle_));
  EXPECT_FALSE(group_.enter(&high_));
  EXPECT_EQ(group_.leave(), &high_);
  EXPECT_TRUE(group_.enter(&high_));
  EXPECT_EQ(group_.leave(), &middle_);
  EXPECT_TRUE(group_.enter(&middle_));
  EXPECT_EQ(group_.leave(), &low_later_);
  EXPECT_TRUE(group_.enter(&low_later_));
  EXPECT_EQ(group_.leave(), nullptr);
}

TEST_F(GroupOrder, WhileTheGroupIsReservedOnlyAMoreUrgentMemberPasses) {
  ASSERT_TRUE(group_.enter(&low_));
  ASSERT_FALSE(group_.enter(&middle_));
  ASSERT_EQ(group_.leave(), &middle_);
  EXPECT_FALSE(group_.enter(&low_later_)) << "it would block the middle one a second time";
  EXPECT_TRUE(group_.enter(&high_));
  EXPECT_EQ(group_.leave(), nullptr) << "the middle one still has its reservation";
  EXPECT_TRUE(group_.enter(&middle_));
  EXPECT_EQ(group_.leave(), &low_later_);
}

TEST_F(GroupOrder, AReservationMovesToAMoreUrgentMemberThatHadToWaitMeanwhile) {
  Instance high_later;
  high_later.callback = &high_callback_;
  high_later.order = 9;
  ASSERT_TRUE(group_.enter(&low_));
  ASSERT_FALSE(group_.enter(&middle_));
  ASSERT_EQ(group_.leave(), &middle_);  // but its lane does not run now
  ASSERT_TRUE(group_.enter(&high_));
  ASSERT_FALSE(group_.enter(&high_later));
  EXPECT_EQ(group_.leave(), &high_later);
  EXPECT_FALSE(group_.enter(&middle_)) << "now the reservation is another's";
  EXPECT_TRUE(group_.enter(&high_later));
  EXPECT_EQ(group_.leave(), &middle_);
}

TEST_F(GroupOrder, AMemberThatWasPassedKeepsItsPlaceBeforeLaterOnesOfItsLevel) {
  ASSERT_TRUE(group_.enter(&middle_));
  ASSERT_FALSE(group_.enter(&low_));
  ASSERT_EQ(group_.leave(), &low_);
  ASSERT_TRUE(group_.enter(&high_));
  ASSERT_FALSE(group_.enter(&low_later_));
  ASSERT_FALSE(group_.enter(&low_));  // it found the group busy again
  EXPECT_EQ(group_.leave(), &low_);
  EXPECT_TRUE(group_.enter(&low_));
  EXPECT_EQ(group_.leave(), &low_later_);
}

TEST_F(GroupOrder, ForgettingTheMemberWithTheReservationGivesTheNext) {
  ASSERT_TRUE(group_.enter(&high_));
  ASSERT_FALSE(group_.enter(&middle_));
  ASSERT_FALSE(group_.enter(&low_));
  ASSERT_EQ(group_.leave(), &middle_);
  EXPECT_EQ(group_.forget(&middle_), &low_);
  EXPECT_EQ(group_.forget(&high_), nullptr) << "it has no reservation";
}

TEST_F(GroupOrder, MembersOfAReentrantGroupAlwaysEnter) {
  detail::GroupState reentrant(GroupType::kReentrant);
  EXPECT_TRUE(reentrant.enter(&low_));
  EXPECT_TRUE(reentrant.enter(&high_));
  EXPECT_EQ(reentrant.leave(), nullptr);
}

/// The group's rules, literally, on a list that is sorted each time.
class ReferenceGroup {
 public:
  bool enter(Instance* instance) {
    if (reserved == instance) {
      reserved = nullptr;
    }
    if (inside || (reserved != nullptr && level(instance) <= level(reserved))) {
      parked.push_back(instance);
      std::stable_sort(parked.begin(), parked.end(), [](const Instance* a, const Instance* b) {
        return level(a) != level(b) ? level(a) > level(b) : a->order < b->order;
      });
      return false;
    }
    return inside = true;
  }
  Instance* leave() {
    inside = false;
    return next();
  }
  Instance* forget(const Instance* instance) {
    if (reserved != instance) {
      return nullptr;
    }
    reserved = nullptr;
    return inside ? nullptr : next();
  }
  Instance* unpark(const Callback& callback) {
    const auto found = std::find_if(parked.begin(), parked.end(), [&](const Instance* each) {
      return each->callback == &callback;
    });
    return found == parked.end() ? nullptr : take(found);
  }

  bool inside = false;
  Instance* reserved = nullptr;
  std::vector<Instance*> parked;

 private:
  static int level(const Instance* instance) { return instance->callback->level(); }
  Instance* take(std::vector<Instance*>::iterator place) {
    Instance* const taken = *place;
    parked.erase(place);
    return taken;
  }
  Instance* next() {
    if (parked.empty() || (reserved != nullptr && level(parked.front()) <= level(reserved))) {
      return nullptr;
    }
    return reserved = take(parked.begin());
  }
};

/// A group and its reference, which get the same operations.
class Both {
 public:
  Both(const std::vector<std::unique_ptr<TestCallback>>& callbacks, unsigned seed)
      : callbacks_(callbacks), random_(seed) {
    for (Instance& each : instances_) {
      each.callback = callbacks_[below(callbacks_.size())].get();
      free_.push_back(&each);
    }
  }

  void step() {
    const std::size_t action = below(10);
    if (action < 6 && !(free_.empty() && resumed_.empty())) {
      enter();
    } else if (action < 8 && running_ != nullptr) {
      free_.push_back(std::exchange(running_, nullptr));
      resume(group_.leave(), reference_.leave());
    } else if (action == 8 && !resumed_.empty()) {
      Instance* const instance = drawn(resumed_);
      resume(group_.forget(instance), reference_.forget(instance));
      free_.push_back(instance);
    } else if (action == 9) {
      const Callback& callback = *callbacks_[below(callbacks_.size())];
      Instance* const unparked = group_.unpark(callback);
      ASSERT_EQ(unparked, reference_.unpark(callback));
      if (unparked != nullptr) {
        free_.push_back(unparked);
      }
    }
  }

 private:
  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }
  Instance* drawn(std::vector<Instance*>& from) {
    std::swap(from[below(from.size())], from.back());
    Instance* const instance = from.back();
    from.pop_back();
    return instance;
  }
  void enter() {
    const bool again = !resumed_.empty() && (free_.empty() || below(2) == 0);
    Instance* const instance = drawn(again ? resumed_ : free_);
    if (!again) {
      instance->order = order_++;
    }
    const bool entered = group_.enter(instance);
    ASSERT_EQ(entered, reference_.enter(instance));
    running_ = entered ? instance : running_;
  }
  void resume(Instance* got, Instance* expected) {
    ASSERT_EQ(got, expected);
    if (got != nullptr) {
      resumed_.push_back(got);
    }
  }

  const std::vector<std::unique_ptr<TestCallback>>& callbacks_;
  std::mt19937 random_;
  std::array<Instance, 40> instances_;
  detail::GroupState group_{GroupType::kMutuallyExclusive};
  ReferenceGroup reference_;
  Instance* running_ = nullptr;
  std::vector<Instance*> free_;     // not in a list
  std::vector<Instance*> resumed_;  // in their lanes, with or without the reservation
  std::uint64_t order_ = 0;
};

TEST(GroupRules, HoldWhateverComesAndGoes) {
  std::vector<std::unique_ptr<TestCallback>> callbacks;
  for (const int level : {0, 0, 1, 2, 2, 5}) {
    callbacks.push_back(std::make_unique<TestCallback>(named("member", level), nullptr));
  }
  for (unsigned seed = 0; seed < 200 && !HasFatalFailure(); ++seed) {
    Both both(callbacks, seed);
    for (int step = 0; step < 400 && !HasFatalFailure(); ++step) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " step " + std::to_string(step));
      both.step();
    }
  }
}

}  // namespace
}  // namespace rclrt::executor::test
