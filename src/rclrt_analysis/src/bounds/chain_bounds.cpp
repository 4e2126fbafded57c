// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/chain_bounds.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

#include "bounds/form_bounds.hpp"

namespace rclrt::analysis {

using model::Application;

void detail::check_start(const Application& application, const model::Chain& chain) {
  if (application.period(chain).count() <= 0) {
    throw std::invalid_argument("chain '" + chain.id + "' does not start at a timer or an event");
  }
}

namespace {

/// Replaces the shorter terms by their sum if more than `most` are left. One alone stays.
void sum_up_shorter(std::size_t most, std::vector<Contribution>& terms) {
  if (terms.size() > most + 1) {
    Contribution rest{Contribution::Kind::kRest, 0, static_cast<Ticks>(terms.size() - most), 0};
    for (std::size_t i = most; i < terms.size(); ++i) {
      rest.total += terms[i].total;
      rest.whole += terms[i].whole;
      rest.before += terms[i].before;
    }
    terms.resize(most);
    terms.push_back(rest);
  }
  terms.shrink_to_fit();
}

}  // namespace

detail::FormBounds::FormBounds(const Application& form, ExecutorKind kind,
                               const model::ExecutorChoice& chosen, const Overheads& overheads,
                               Effort effort)
    : parts_(form),
      bounds_(parts_.application(), kind, chosen, overheads, effort),
      effort_(effort) {}

std::vector<ChainBound> detail::FormBounds::chains(std::span<const std::size_t> chains,
                                                   bool& gave_up) {
  std::vector<ChainBound> result;
  for (const std::size_t index : chains) {
    const model::Chain& chain = parts_.application().chains[index];
    check_start(parts_.application(), chain);
    ChainBound& bound = result.emplace_back(bounds_.bound(chain));
    for (Contribution& each : bound.why) {
      each.callback = parts_.whole(each.callback);
    }
    if (effort_.all_terms_of != index) {
      sum_up_shorter(effort_.terms, bound.why);
    }
  }
  gave_up = gave_up || bounds_.gave_up();
  return result;
}

std::vector<QueueBound> detail::FormBounds::queues() {
  bounds_.forget_order();
  std::vector<QueueBound> result;
  for (std::size_t i = 0; i < parts_.application().callbacks.size(); ++i) {
    const QueueBound part = bounds_.queue(i);
    if (parts_.whole(i) == result.size()) {
      result.push_back(part);
    } else if (!part.pending || !result.back().pending) {
      result.back().pending.reset();
    } else {
      result.back().pending = std::max(*result.back().pending, *part.pending);
    }
  }
  return result;
}

}  // namespace rclrt::analysis
