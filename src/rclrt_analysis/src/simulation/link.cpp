// SPDX-License-Identifier: Apache-2.0
#include "simulation/link.hpp"

#include <algorithm>

namespace rclrt::analysis::detail {
namespace {

constexpr std::int64_t kBit =
    8'000'000;  // tokens of a byte; a rate in kbit/s brings so many per ns

std::int64_t time_of(std::size_t bytes, std::uint64_t rate_kbit, bool up) {
  const std::int64_t tokens = static_cast<std::int64_t>(bytes) * kBit;
  const auto rate = static_cast<std::int64_t>(rate_kbit);
  return tokens / rate + (up && tokens % rate > 0 ? 1 : 0);
}

}  // namespace

SimulatedQueue::SimulatedQueue(const SimulatedLink& stated, SimulationRandom random)
    : stated_(stated), random_(random), next_ns_(kNever) {
  const model::NetworkLink& link = stated.link;
  if (link.shaper) {
    const std::size_t burst = std::max(link.shaper->burst_bytes, link.largest_packet());
    burst_ns_ = tokens_ns_ = time_of(burst, link.shaper->rate_kbit, true);
  }
  for (std::size_t i = 0; i < link.cross_traffic.size(); ++i) {
    if (link.cross_traffic[i].from == stated.from) {
      const auto burst = static_cast<std::int64_t>(link.cross_traffic[i].burst_bytes);
      other_.push_back({.stated = i, .level = burst * kBit, .since_ns = 0});
    }
  }
}

/// Makes a packet. The times of other traffic are rounded down, because the bounds count its bytes
/// together.
SimulatedQueue::Packet SimulatedQueue::make_packet(std::size_t bytes, bool is_other) const {
  const model::NetworkLink& link = stated_.link;
  Packet result{.bytes = bytes};
  result.line_ns = time_of(bytes, link.rate_kbit, !is_other);
  if (link.shaper) {
    result.tokens_ns = time_of(bytes, link.shaper->rate_kbit, !is_other);
  }
  return result;
}

void SimulatedQueue::add(const Packet& packet, int priority) {
  bytes_ += static_cast<std::int64_t>(packet.bytes);
  most_bytes_ = std::max(most_bytes_, bytes_);
  const bool is_fifo = stated_.link.order == model::LinkOrder::kFifo;
  waiting_[is_fifo ? 0 : priority].push_back(packet);
}

/// Adds the packets that the tokens of other traffic allow, each of them as large as possible.
void SimulatedQueue::add_other_traffic(std::int64_t now_ns) {
  for (Traffic& each : other_) {
    const model::CrossTraffic& stated = stated_.link.cross_traffic[each.stated];
    const std::int64_t most = static_cast<std::int64_t>(stated.burst_bytes) * kBit;
    const auto rate = static_cast<std::int64_t>(stated.rate_kbit);
    const std::int64_t fills = rate > 0 ? (most - each.level) / rate : kNever;
    each.level =
        now_ns - each.since_ns > fills ? most : each.level + (now_ns - each.since_ns) * rate;
    each.since_ns = now_ns;
    const std::size_t size = std::min(stated.burst_bytes, stated_.link.largest_packet());
    const std::int64_t needed = static_cast<std::int64_t>(size) * kBit;
    while (needed > 0 && each.level >= needed) {
      each.level -= needed;
      add(make_packet(size, true), stated.priority);
    }
  }
}

void SimulatedQueue::push(Id message, const std::vector<std::size_t>& packets, int priority,
                          std::int64_t now_ns) {
  if (bytes_ == 0) {
    const std::int64_t access_ns = stated_.link.access.count();
    usable_ns_ = now_ns + (random_.next() % 4 == 0 ? 0 : access_ns);
    others_send_ = random_.next() % 2 == 0;
  }
  if (others_send_) {
    add_other_traffic(now_ns);
  }
  // The sizes are the largest ones: a message may have fewer packets.
  const std::size_t fewer = random_.next() % 8 == 0 ? random_.next() % packets.size() : 0;
  for (std::size_t i = fewer; i < packets.size(); ++i) {
    Packet packet = make_packet(packets[i], false);
    packet.message = i + 1 == packets.size() ? message : kNone;
    packet.since_ns = now_ns;
    add(packet, priority);
  }
  next_ns_ = std::min(next_ns_, now_ns);
}

/// Returns the earliest start of the chosen packet.
std::int64_t SimulatedQueue::start_ns() const {
  const std::int64_t lacks_ns = std::max<std::int64_t>(0, chosen_->tokens_ns - tokens_ns_);
  return std::max(usable_ns_, tokens_since_ns_ + lacks_ns);
}

void SimulatedQueue::start(std::int64_t now_ns) {
  tokens_ns_ = std::min(burst_ns_, tokens_ns_ + now_ns - tokens_since_ns_) - chosen_->tokens_ns;
  tokens_since_ns_ = now_ns;
  sends_ = true;
  sent_from_ns_ = now_ns;
  next_ns_ = now_ns + chosen_->line_ns;
}

void SimulatedQueue::choose(std::int64_t now_ns) {
  if (others_send_) {
    add_other_traffic(now_ns);
  }
  for (auto& [priority, packets] : waiting_) {
    if (!packets.empty()) {
      chosen_ = packets.front();
      packets.pop_front();
      return;
    }
  }
}

std::vector<SimulatedQueue::Sent> SimulatedQueue::proceed(
    std::int64_t now_ns, const std::function<void(const SimulatedPacket&)>& observe) {
  std::vector<Sent> result;
  while (true) {
    if (sends_) {
      if (now_ns < sent_from_ns_ + chosen_->line_ns) {
        next_ns_ = sent_from_ns_ + chosen_->line_ns;
        return result;
      }
      bytes_ -= static_cast<std::int64_t>(chosen_->bytes);
      observe({.from_ns = sent_from_ns_, .to_ns = now_ns, .bytes = chosen_->bytes});
      if (chosen_->message != kNone) {
        result.push_back({chosen_->message, chosen_->since_ns});
      }
      sends_ = false;
      chosen_.reset();
      if (bytes_ == 0) {
        next_ns_ = kNever;  // the period ends; other traffic begins none
        return result;
      }
    }
    if (!chosen_) {
      choose(now_ns);
      if (!chosen_) {
        next_ns_ = kNever;
        return result;
      }
    }
    const std::int64_t begin_ns = start_ns();
    if (begin_ns > now_ns) {
      next_ns_ = begin_ns;
      return result;
    }
    start(now_ns);
  }
}

std::int64_t SimulatedQueue::draw_latency() {
  const std::int64_t least_ns = stated_.link.min_latency.count();
  const std::int64_t most_ns = stated_.link.latency.count();
  return random_.next() % 4 == 0 ? least_ns : most_ns;
}

}  // namespace rclrt::analysis::detail
