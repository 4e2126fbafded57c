// SPDX-License-Identifier: Apache-2.0
#include "rclrt/detail/sync_matcher.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>

namespace rclrt::detail {

namespace {
/// Returns how far `later` is after `earlier`; any two stamps have a distance.
std::uint64_t distance_ns(std::int64_t earlier, std::int64_t later) {
  return static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier);
}
}  // namespace

SyncMatcher::SyncMatcher(std::size_t inputs, std::size_t depth, std::int64_t window_ns)
    : inputs_(inputs), window_ns_(static_cast<std::uint64_t>(window_ns)) {
  if (window_ns < 0) {
    throw std::invalid_argument("a synchroniser's window must not be negative, not " +
                                std::to_string(window_ns) + " ns");
  }
  if (depth == 0) {
    throw std::invalid_argument("a synchroniser's depth must be at least 1");
  }
  if (inputs < 2) {
    throw std::invalid_argument("a synchroniser needs at least two inputs");
  }
  for (Input& input : inputs_) {
    input.stamps_ns.resize(depth);
  }
  candidates_.reserve(inputs * depth);
}

std::size_t SyncMatcher::add(std::size_t input, std::int64_t stamp_ns) {
  Input& own = inputs_[input];
  if (own.size == own.stamps_ns.size()) {
    ++lost_;
    drop_through(own, 0);
  }
  const std::size_t slot = slot_of(own, own.size++);
  own.stamps_ns[slot] = stamp_ns;
  return slot;
}

bool SyncMatcher::match(std::size_t input) {
  const Input& own = inputs_[input];
  const std::size_t newest = own.size - 1;
  const std::int64_t stamp_ns = own.stamps_ns[slot_of(own, newest)];
  if (!find_candidates(input, stamp_ns)) {
    return false;
  }
  candidates_.push_back({stamp_ns, input, newest});
  std::ranges::sort(candidates_, {}, [](const Candidate& each) {
    return std::tuple(each.stamp_ns, each.input, each.place);
  });
  // The shortest interval of candidates with one of each input: each end advances once.
  std::size_t best_from = 0;
  std::size_t best_to = 0;
  std::uint64_t best_ns = window_ns_;
  bool found = false;
  std::size_t missing = inputs_.size();
  std::size_t from = 0;
  for (std::size_t to = 0; to < candidates_.size(); ++to) {
    missing -= inputs_[candidates_[to].input].inside++ == 0 ? 1 : 0;
    for (; missing == 0; ++from) {
      const std::uint64_t length_ns =
          distance_ns(candidates_[from].stamp_ns, candidates_[to].stamp_ns);
      if (length_ns < best_ns || (length_ns == best_ns && !found)) {
        found = true;
        best_ns = length_ns;
        best_from = from;
        best_to = to;
      }
      missing += --inputs_[candidates_[from].input].inside == 0 ? 1 : 0;
    }
  }
  if (found) {
    choose(best_from, best_to);
  }
  return found;
}

/// Finds all messages within the window of the stamp. Returns false if an input has none.
bool SyncMatcher::find_candidates(std::size_t input, std::int64_t stamp_ns) {
  candidates_.clear();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    Input& other = inputs_[i];
    other.inside = 0;
    if (i == input) {
      continue;
    }
    const std::size_t before = candidates_.size();
    for (std::size_t place = 0; place < other.size; ++place) {
      const std::int64_t theirs_ns = other.stamps_ns[slot_of(other, place)];
      const auto [earlier, later] = std::minmax(theirs_ns, stamp_ns);
      if (distance_ns(earlier, later) <= window_ns_) {
        candidates_.push_back({theirs_ns, i, place});
      }
    }
    if (candidates_.size() == before) {
      return false;
    }
  }
  return true;
}

/// Chooses for each input the oldest message in the interval: newer ones may still find partners.
void SyncMatcher::choose(std::size_t from, std::size_t to) {
  for (Input& input : inputs_) {
    input.chosen = input.size;
  }
  for (std::size_t i = from; i <= to; ++i) {
    Input& input = inputs_[candidates_[i].input];
    input.chosen = std::min(input.chosen, candidates_[i].place);
  }
}

void SyncMatcher::drop_through(Input& input, std::size_t place) {
  input.first = slot_of(input, place + 1);
  input.size -= place + 1;
}

void SyncMatcher::consume() {
  for (Input& input : inputs_) {
    lost_ += input.chosen;
    drop_through(input, input.chosen);
  }
}

}  // namespace rclrt::detail
