// SPDX-License-Identifier: Apache-2.0
// Runs a small concurrent program in every execution that the memory model allows.
//
// The program is ordinary code on explored_atomics.hpp in place of std::atomic. Its threads are
// fibres; each atomic operation transfers control to the explorer. The explorer decides which
// thread runs next and which store a load returns. It starts the program again until all decisions
// are exhausted (stateless search; P. Godefroid, "Model checking for programming languages using
// VeriSoft", 1997). Each execution checks:
// * what the program itself asserts with `check`;
// * that no two threads access the same memory without an atomic, one of them writing, unless one
//   access happens before the other (vector clocks; C. Flanagan, S. Freund, "FastTrack", 2009).
//   Such a race is found in any order of the two accesses, so these accesses need no interleaving.
//
// Memory model: C++20's release/acquire and relaxed operations as views, in the manner of J. Kang
// et al., "A promising semantics for relaxed-memory concurrency" (2017), without promises: a load
// may return any store that coherence and happens-before allow, however old. Not covered: a load
// that reads a store that depends on a later step of the load's own thread (load buffering).
// seq_cst operations are a little stronger than the standard's (each acts as a fence among seq_cst
// operations). Read-modify-writes read the newest store; compare_exchange_weak does not fail
// spuriously. A thread gets the same outdated store from the same variable `kOutdatedReads` times
// at most: stores become visible in finite time, and loops end.
//
// A futex is as the kernel's: a sleeping thread continues only when it is woken. (The program must
// tolerate spurious wake-ups, which are not explored: they only add checks of its condition.) If
// all threads sleep, that is a failure.
//
// Sleep sets (P. Godefroid, 1990) leave out executions that differ only in the order of operations
// that do not touch the same variable (with outdated loads some of these remain). Thread bodies
// must own nothing with a destructor, because a redundant execution is abandoned at any point.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "explored_memory.hpp"

namespace rclrt::test {

class Explorer {
 public:
  enum class Loads { kNewest, kAnyAllowed };  // sequentially consistent, or as described above

  struct Outcome {
    std::uint64_t executions = 0;  // complete ones
    bool exhausted = false;        // false: stopped by a failure or by the limit
    std::string failure;           // empty: none found
  };

  /// Calls `program(explorer)` for each execution. The program makes its objects, starts threads
  /// with `spawn`, calls `run`, and checks the final state.
  static Outcome explore(Loads loads, const std::function<void(Explorer&)>& program,
                         std::uint64_t limit = 3'000'000) {
    Explorer explorer(loads);
    Outcome outcome;
    for (std::uint64_t begun = 0; begun < limit; ++begun) {
      explorer.begin();
      try {
        program(explorer);
        ++outcome.executions;
      } catch (const Redundant&) {  // NOLINT(bugprone-empty-catch): seen in another order
      } catch (const std::logic_error& failure) {
        outcome.failure = failure.what();
        break;
      }
      if (!explorer.next()) {
        outcome.exhausted = true;
        break;
      }
    }
    current() = nullptr;
    return outcome;
  }

  void spawn(std::function<void()> body) {
    threads_.push_back(std::make_unique<Fibre>());
    Fibre& fibre = *threads_.back();
    fibre.body = std::move(body);
    fibre.memory = threads_[kMain]->memory;  // everything so far happens before it
    fibre.memory.clock[threads_.size() - 1] = 1;
    if (threads_.size() > kMostExploredThreads) {
      throw std::invalid_argument("too many threads");
    }
  }

  /// Runs the threads to their ends; all their steps happen before the code after this call.
  void run() {
    for (active_ = 1; active_ < threads_.size(); ++active_) {
      start(*threads_[active_]);  // up to its first operation
    }
    std::vector<std::size_t> asleep;
    for (;;) {
      std::vector<std::size_t> ready;
      bool all_ended = true;
      bool all_sleep = true;  // those that have not ended
      for (std::size_t i = 1; i < threads_.size(); ++i) {
        all_ended = all_ended && threads_[i]->ended;
        if (threads_[i]->ended || threads_[i]->sleeps_on) {
          continue;
        }
        all_sleep = false;
        if (std::count(asleep.begin(), asleep.end(), i) == 0) {
          ready.push_back(i);
        }
      }
      if (all_ended) {
        break;
      }
      if (all_sleep) {
        throw std::logic_error("a thread sleeps and none is left to wake it");
      }
      if (ready.empty()) {
        throw Redundant();
      }
      const std::size_t choice = choose(ready.size());
      active_ = ready[choice];
      const Operation operation = threads_[active_]->next;
      asleep.insert(asleep.end(), ready.begin(), ready.begin() + static_cast<long>(choice));
      std::erase_if(asleep, [&](std::size_t i) { return depends(threads_[i]->next, operation); });
      resume(*threads_[active_]);
    }
    active_ = kMain;
    for (const auto& thread : threads_) {
      threads_[kMain]->memory.join(thread->memory);
    }
  }

  static void check(bool holds, const char* what) {
    if (!holds) {
      current()->fail(what);
    }
  }

  static Explorer*& current() {
    static Explorer* explorer = nullptr;
    return explorer;
  }

  // ---- the atomics' side ----
  std::size_t new_variable(std::uint64_t value) {
    variables_.push_back({{value, memory()}});
    return variables_.size() - 1;
  }

  std::uint64_t load(std::size_t variable, std::memory_order order) {
    pause({variable, false, order == std::memory_order_seq_cst});
    enter_order(order);
    const auto& stores = variables_[variable];
    std::vector<std::size_t> allowed;  // newest first
    for (std::size_t i = stores.size(); i-- > memory().seen_of(variable);) {
      if (i + 1 == stores.size() ||
          (loads_ == Loads::kAnyAllowed && active_ != kMain &&
           threads_[active_]->outdated_reads[{variable, i}] < kOutdatedReads)) {
        allowed.push_back(i);
      }
    }
    const std::size_t read = allowed[allowed.size() == 1 ? 0 : choose(allowed.size())];
    if (read + 1 != stores.size()) {
      ++threads_[active_]->outdated_reads[{variable, read}];
    }
    see(variable, read, order);
    return stores[read].value;
  }

  void store(std::size_t variable, std::uint64_t value, std::memory_order order) {
    pause({variable, true, order == std::memory_order_seq_cst});
    enter_order(order);
    append(variable, value, order, {});
  }

  /// `change` returns false to leave the value unchanged (a failed compare-exchange).
  std::uint64_t update(std::size_t variable, std::memory_order order, std::memory_order failure,
                       const std::function<bool(std::uint64_t&)>& change) {
    pause({variable, true, order == std::memory_order_seq_cst});
    const std::size_t newest = variables_[variable].size() - 1;
    const std::uint64_t before = variables_[variable][newest].value;
    std::uint64_t value = before;
    const bool changes = change(value);
    enter_order(changes ? order : failure);
    see(variable, newest, changes ? order : failure);
    if (changes) {
      // A read-modify-write continues the release sequence of the store that it replaces.
      append(variable, value, order, variables_[variable][newest].message);
    }
    return before;
  }

  /// A futex: falls asleep if the newest store of `variable` is `value`. The comparison and falling
  /// asleep are one step, as in the kernel under its own lock. The thread's view does not change.
  void wait_while(std::size_t variable, std::uint64_t value) {
    pause({variable, true, true});
    if (variables_[variable].back().value == value) {
      Fibre& fibre = *threads_[active_];
      fibre.sleeps_on = variable;
      fibre.next = {variable, false, false};  // once woken, it just continues
      swapcontext(&fibre.context, &scheduler_);
    }
  }

  /// Wakes at most `count` sleepers, in any order; returns the number woken.
  int wake(std::size_t variable, int count) {
    pause({variable, true, true});
    int woken = 0;
    for (; woken < count; ++woken) {
      std::vector<Fibre*> sleepers;
      for (const auto& thread : threads_) {
        if (thread->sleeps_on == variable) {
          sleepers.push_back(thread.get());
        }
      }
      if (sleepers.empty()) {
        break;
      }
      sleepers[sleepers.size() == 1 ? 0 : choose(sleepers.size())]->sleeps_on.reset();
    }
    return woken;
  }

  void touch(const void* address, bool writes) {
    Accesses& earlier = memory_accesses_[address];
    const auto& now = memory().clock;
    for (std::size_t i = 0; i < kMostExploredThreads; ++i) {
      if (earlier.written[i] > now[i] || (writes && earlier.read[i] > now[i])) {
        fail(writes ? "a write races with another access" : "a read races with a write");
      }
    }
    (writes ? earlier.written : earlier.read)[active_] = now[active_];
  }

 private:
  static constexpr std::size_t kMain = 0;  // makes the objects and checks the final state
  static constexpr int kOutdatedReads = 1;

  struct Redundant {};
  using Clock = ExploredClock;
  using Memory = ExploredMemory;
  using Store = ExploredStore;
  using Operation = ExploredOperation;
  using Accesses = ExploredAccesses;
  struct Fibre {
    std::function<void()> body;
    Memory memory;
    std::map<std::pair<std::size_t, std::size_t>, int> outdated_reads;
    Operation next{};
    bool ended = false;
    std::optional<std::size_t> sleeps_on;  // the futex
    ucontext_t context{};
    std::unique_ptr<std::byte[]> stack;
  };
  struct Choice {
    std::size_t taken;
    std::size_t options;
  };

  explicit Explorer(Loads loads) : loads_(loads) {}

  static bool depends(const Operation& a, const Operation& b) {
    return (a.variable == b.variable && (a.writes || b.writes)) || (a.seq_cst && b.seq_cst);
  }

  void begin() {
    current() = this;
    depth_ = 0;
    failure_.clear();
    variables_.clear();
    memory_accesses_.clear();
    seq_cst_ = {};
    threads_.clear();
    threads_.push_back(std::make_unique<Fibre>());
    threads_[kMain]->memory.clock[kMain] = 1;
    active_ = kMain;
  }

  bool next() {
    while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().options) {
      choices_.pop_back();
    }
    if (choices_.empty()) {
      return false;
    }
    ++choices_.back().taken;
    return true;
  }

  std::size_t choose(std::size_t options) {
    if (depth_ == choices_.size()) {
      choices_.push_back({0, options});
    }
    return choices_[depth_++].taken;
  }

  Memory& memory() { return threads_[active_]->memory; }

  void enter_order(std::memory_order order) {
    if (order == std::memory_order_seq_cst) {
      const Clock clock = memory().clock;
      memory().join(seq_cst_);
      memory().clock = clock;  // the order of seq_cst operations alone synchronizes nothing
    }
  }

  void leave_order(std::memory_order order) {
    if (order == std::memory_order_seq_cst) {
      seq_cst_.join(memory());
    }
    ++memory().clock[active_];
  }

  void see(std::size_t variable, std::size_t index, std::memory_order order) {
    note(variable, index);
    if (order != std::memory_order_relaxed && order != std::memory_order_release) {
      memory().join(variables_[variable][index].message);
    }
    leave_order(order);
  }

  void append(std::size_t variable, std::uint64_t value, std::memory_order order, Memory message) {
    note(variable, variables_[variable].size());
    if (order != std::memory_order_relaxed && order != std::memory_order_acquire) {
      message.join(memory());
    }
    variables_[variable].push_back({value, std::move(message)});
    leave_order(order);
  }

  void note(std::size_t variable, std::size_t index) {
    auto& seen = memory().seen;
    seen.resize(std::max(seen.size(), variable + 1));
    seen[variable] = std::max(seen[variable], index);
  }

  // ---- fibres ----
  static void entry() {
    Explorer& explorer = *current();
    Fibre& fibre = *explorer.threads_[explorer.active_];
    fibre.body();
    fibre.ended = true;
    setcontext(&explorer.scheduler_);
  }

  void start(Fibre& fibre) {
    constexpr std::size_t kStack = 64 * 1024;
    fibre.stack = std::make_unique_for_overwrite<std::byte[]>(kStack);
    getcontext(&fibre.context);
    fibre.context.uc_stack.ss_sp = fibre.stack.get();
    fibre.context.uc_stack.ss_size = kStack;
    makecontext(&fibre.context, entry, 0);
    resume(fibre);
  }

  void resume(Fibre& fibre) {
    swapcontext(&scheduler_, &fibre.context);
    if (!failure_.empty()) {
      throw std::logic_error(failure_);
    }
  }

  /// Called before each operation of a thread: lets the explorer decide which thread runs next.
  void pause(Operation operation) {
    if (active_ != kMain) {
      Fibre& fibre = *threads_[active_];
      fibre.next = operation;
      swapcontext(&fibre.context, &scheduler_);
    }
  }

  void fail(const char* what) {
    if (active_ == kMain) {
      throw std::logic_error(what);
    }
    failure_ = what;  // an exception must not leave a fibre
    setcontext(&scheduler_);
  }

  const Loads loads_;
  std::vector<Choice> choices_;
  std::size_t depth_ = 0;
  std::string failure_;
  std::vector<std::vector<Store>> variables_;  // stores in modification order
  std::map<const void*, Accesses> memory_accesses_;
  Memory seq_cst_;
  std::vector<std::unique_ptr<Fibre>> threads_;
  std::size_t active_ = kMain;
  ucontext_t scheduler_{};
};

}  // namespace rclrt::test
