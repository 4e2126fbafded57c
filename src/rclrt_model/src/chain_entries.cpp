// SPDX-License-Identifier: Apache-2.0
// The topics by which a chain enters each of its callbacks.
#include <algorithm>

#include "rclrt/model/application.hpp"

namespace rclrt::model {
namespace {

/// The inputs of one callback of a chain; a timer, which has none, counts as one input.
using Inputs = std::vector<std::size_t>;

/// Returns whether a chain that enters by `from`'s input reaches the input of `to`.
bool reaches(const Callback& from, std::size_t input, const Callback& to, std::size_t next) {
  const std::vector<std::string> taken = inputs(to);
  for (std::size_t output = 0; output < from.publishes.size(); ++output) {
    if (from.publishes[output] == taken[next] && from.leads(input, output)) {
      return true;
    }
  }
  return false;
}

/// Returns the inputs of `to` that a chain reaches from one of these inputs of `from`.
Inputs next_inputs(const Callback& from, const Inputs& before, const Callback& to) {
  Inputs result;
  const std::size_t count = inputs(to).size();
  for (std::size_t next = 0; next < count; ++next) {
    if (std::ranges::any_of(before,
                            [&](std::size_t input) { return reaches(from, input, to, next); })) {
      result.push_back(next);
    }
  }
  return result;
}

}  // namespace

std::vector<std::vector<std::size_t>> Application::entries(const Chain& chain) const {
  std::vector<Inputs> result(chain.callbacks.size());
  if (chain.callbacks.empty()) {
    return result;
  }
  const auto at = [&](std::size_t n) -> const Callback& {
    return callbacks.at(chain.callbacks[n]);
  };
  result[0] = {0};
  std::size_t length = 1;
  while (length < result.size()) {
    result[length] = next_inputs(at(length - 1), result[length - 1], at(length));
    if (result[length].empty()) {
      break;
    }
    ++length;
  }
  for (std::size_t n = length - 1; n-- > 1;) {  // only those by which the chain continues
    std::erase_if(result[n], [&](std::size_t input) {
      return std::ranges::none_of(
          result[n + 1], [&](std::size_t next) { return reaches(at(n), input, at(n + 1), next); });
    });
  }
  for (std::size_t n = 1; n < length; ++n) {
    std::erase_if(result[n], [&](std::size_t next) {
      return std::ranges::none_of(
          result[n - 1], [&](std::size_t input) { return reaches(at(n - 1), input, at(n), next); });
    });
    if (at(n).kind() == CallbackKind::kSubscription) {
      result[n].resize(1);
    }
  }
  result[0].clear();
  return result;
}

}  // namespace rclrt::model
