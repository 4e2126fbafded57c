// SPDX-License-Identifier: Apache-2.0
#include "rclrt/detail/intra_topic.hpp"

#include <rmw/time.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "rclrt/error.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt::detail {

namespace {
bool compatible(const rmw_qos_profile_t& publisher, const rmw_qos_profile_t& subscription) {
  rmw_qos_compatibility_type_t result = RMW_QOS_COMPATIBILITY_OK;
  check(rmw_qos_profile_check_compatible(publisher, subscription, &result, nullptr, 0),
        "comparing the quality of service of a publisher and a subscription");
  return result != RMW_QOS_COMPATIBILITY_ERROR;
}

bool is_limited(const rmw_time_t& duration) noexcept {
  const rmw_time_t infinite = RMW_DURATION_INFINITE;
  return (duration.sec != 0 || duration.nsec != 0) &&
         (duration.sec != infinite.sec || duration.nsec != infinite.nsec);
}
}  // namespace

bool middleware_must_see(const rmw_qos_profile_t& qos) noexcept {
  return qos.durability == RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL ||
         qos.liveliness == RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC || is_limited(qos.deadline);
}

IntraWriter::IntraWriter(const rmw_qos_profile_t& qos, std::size_t loans)
    : qos_(qos),
      slots_(loans),
      lifespan_ns_(is_limited(qos.lifespan)
                       ? static_cast<std::int64_t>(rmw_time_total_nsec(qos.lifespan))
                       : INT64_MAX) {}

IntraReader::IntraReader(const rmw_qos_profile_t& qos, std::size_t depth, std::size_t running)
    : qos_(qos), slots_(depth + running), ring_(depth) {}

void IntraTopic::join(IntraReader& reader) {
  const std::scoped_lock joining(joining_);
  grow(reader.slots_);
  readers_.push_back(&reader);
  Matches matches = match();
  apply_matches(matches);
}

void IntraTopic::join(IntraWriter& writer) {
  const std::scoped_lock joining(joining_);
  grow(writer.slots_);
  writers_.push_back(&writer);
  Matches matches = match();
  apply_matches(matches);
}

void IntraTopic::leave(IntraReader& reader) noexcept {
  const std::scoped_lock joining(joining_);
  std::erase(readers_, &reader);
  wanted_ -= reader.slots_;
  const std::scoped_lock lock(mutex_);
  for (IntraWriter* writer : writers_) {
    std::erase(writer->matched_, &reader);
    writer->count_.store(writer->matched_.size());
  }
  for (; reader.size_ > 0; --reader.size_) {
    drop(reader.ring_[reader.first_].slot);
    reader.first_ = (reader.first_ + 1) % reader.ring_.size();
  }
}

void IntraTopic::leave(IntraWriter& writer) noexcept {
  const std::scoped_lock joining(joining_);
  std::erase(writers_, &writer);
  wanted_ -= writer.slots_;
}

bool IntraTopic::has_mismatch(const IntraReader& reader) {
  const std::scoped_lock joining(joining_);
  return std::ranges::any_of(
      writers_, [&](const IntraWriter* writer) { return !compatible(writer->qos_, reader.qos_); });
}

bool IntraTopic::has_mismatch(const IntraWriter& writer) {
  const std::scoped_lock joining(joining_);
  return std::ranges::any_of(
      readers_, [&](const IntraReader* reader) { return !compatible(writer.qos_, reader->qos_); });
}

std::size_t IntraTopic::count_writers(const IntraReader& reader) {
  const std::scoped_lock locks(joining_, mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(writers_, [&](const IntraWriter* writer) {
    return std::ranges::find(writer->matched_, &reader) != writer->matched_.end();
  }));
}

/// Makes the pool as large as all members and the newcomer may need.
void IntraTopic::grow(std::size_t more) {
  const std::size_t wanted = wanted_ + more;
  if (wanted > slots_) {
    IntraSlot* const added = make_slots(wanted - slots_);
    IntraSlot* last = added;
    while (last->next != nullptr) {
      last = last->next;
    }
    const std::scoped_lock lock(mutex_);
    last->next = std::exchange(free_, added);
    slots_ = wanted;
  }
  wanted_ = wanted;
}

/// Returns, for each writer, the readers with compatible QoS. Called before the lock is taken,
/// because it allocates.
IntraTopic::Matches IntraTopic::match() const {
  Matches matches(writers_.size());
  for (std::size_t i = 0; i < writers_.size(); ++i) {
    for (IntraReader* reader : readers_) {
      if (compatible(writers_[i]->qos_, reader->qos_)) {
        matches[i].push_back(reader);
      }
    }
  }
  return matches;
}

void IntraTopic::apply_matches(Matches& matches) noexcept {
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < writers_.size(); ++i) {
    writers_[i]->matched_.swap(matches[i]);  // the old ones are destroyed unlocked
    writers_[i]->count_.store(writers_[i]->matched_.size());
  }
}

IntraSlot* IntraTopic::borrow() noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  IntraSlot* const slot = free_;
  if (slot != nullptr) {
    free_ = std::exchange(slot->next, nullptr);
    slot->holders = 1;
  }
  return slot;
}

void IntraTopic::hand_over(const IntraWriter& writer, IntraSlot* slot) noexcept RCLRT_WAITS {
  const std::int64_t now = realtime::monotonic_now_ns();
  const std::int64_t expires =
      writer.lifespan_ns_ < INT64_MAX - now ? now + writer.lifespan_ns_ : INT64_MAX;
  const std::scoped_lock lock(mutex_);
  for (IntraReader* reader : writer.matched_) {
    const std::size_t capacity = reader->ring_.size();
    if (reader->size_ == capacity) {
      drop(reader->ring_[reader->first_].slot);
      reader->first_ = (reader->first_ + 1) % capacity;
      --reader->size_;
    }
    reader->ring_[(reader->first_ + reader->size_++) % capacity] = {slot, now, expires};
    ++slot->holders;
    reader->on_message();
  }
}

void IntraTopic::discard_before(IntraReader& reader, std::int64_t time_ns) noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  while (reader.size_ > 0 && reader.ring_[reader.first_].ready_ns < time_ns) {
    drop(reader.ring_[reader.first_].slot);
    reader.first_ = (reader.first_ + 1) % reader.ring_.size();
    --reader.size_;
  }
}

IntraSlot* IntraTopic::take(IntraReader& reader, std::int64_t& ready_ns,
                            std::int64_t not_before_ns) noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  while (reader.size_ > 0 && reader.ring_[reader.first_].ready_ns >= not_before_ns) {
    const IntraReader::Waiting oldest = reader.ring_[reader.first_];
    reader.first_ = (reader.first_ + 1) % reader.ring_.size();
    --reader.size_;
    if (oldest.expires_ns == INT64_MAX || realtime::monotonic_now_ns() < oldest.expires_ns) {
      ready_ns = oldest.ready_ns;
      return oldest.slot;  // the ring's hold is the caller's now
    }
    drop(oldest.slot);
  }
  return nullptr;
}

void IntraTopic::return_slot(IntraSlot* slot) noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  drop(slot);
}

/// The caller holds the lock.
void IntraTopic::drop(IntraSlot* slot) noexcept {
  if (--slot->holders == 0) {
    slot->next = std::exchange(free_, slot);
  }
}

}  // namespace rclrt::detail
