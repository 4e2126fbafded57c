// SPDX-License-Identifier: Apache-2.0
#include "running_table.hpp"

#include "thread_state.hpp"

namespace rclrt::executor {

namespace {
constinit thread_local std::size_t t_last_slot = 0;
constinit thread_local int t_number = 0;  // the thread's ID; 0: not known yet

std::size_t& last_slot() noexcept RCLRT_NONBLOCKING {
  return RCLRT_TRUST("a constant-initialised variable of the thread", (t_last_slot));
}

int own_number() noexcept RCLRT_NONBLOCKING {
  int& number = RCLRT_TRUST("a constant-initialised variable of the thread", (t_number));
  if (number == 0) {
    number = this_thread_number();
  }
  return number;
}
}  // namespace

[[gnu::hot]] RunningTable::Slot* RunningTable::enter(const Callback& callback,
                                                     std::uint64_t id) noexcept RCLRT_NONBLOCKING {
  std::size_t& last = last_slot();
  for (std::size_t tried = 0; tried < kSlots; ++tried) {
    const std::size_t index = (last + tried) % kSlots;
    Slot& slot = slots_[index];
    const Callback* none = nullptr;
    // relaxed: only a prediction. acquire; PAIRS WITH: leave(). release; PAIRS WITH: running()
    if (slot.callback.load(std::memory_order_relaxed) == nullptr &&
        slot.callback.compare_exchange_strong(none, &callback, std::memory_order_acq_rel,
                                              std::memory_order_relaxed)) {
      last = index;
      slot.thread.store(own_number(), std::memory_order_release);  // PAIRS WITH: running()
      slot.id.store(id + 1, std::memory_order_release);            // PAIRS WITH: running()
      return &slot;
    }
  }
  return nullptr;
}

std::vector<RunningTable::Running> RunningTable::running() const {
  std::vector<Running> result;
  for (const Slot& slot : slots_) {
    // All acquire; PAIRS WITH: enter() and leave()
    const std::uint64_t id = slot.id.load(std::memory_order_acquire);
    const Callback* const callback = slot.callback.load(std::memory_order_acquire);
    const int thread = slot.thread.load(std::memory_order_acquire);
    // relaxed: the acquire loads of the other fields come before it
    if (id != 0 && callback != nullptr && slot.id.load(std::memory_order_relaxed) == id) {
      result.push_back({callback, thread, id});
    }
  }
  return result;
}

}  // namespace rclrt::executor
