// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/token_rules.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace rclrt::recorder {

TokenRules::TokenRules(const model::Application& application, std::size_t callback) {
  for (std::size_t chain = 0; chain < application.chains.size(); ++chain) {
    const auto& path = application.chains[chain].callbacks;
    const auto at = std::find(path.begin(), path.end(), callback);
    if (at != path.end()) {
      const auto position = at - path.begin();
      auto entries = application.entries(application.chains[chain]);
      memberships_.push_back({static_cast<std::uint32_t>(chain),
                              static_cast<std::uint32_t>(position), at + 1 == path.end(),
                              std::move(entries[static_cast<std::size_t>(position)])});
    }
  }
  if (memberships_.size() > ChainTokens::kCapacity) {
    throw std::invalid_argument(
        "callback \"" + application.callbacks[callback].id + "\" is on " +
        std::to_string(memberships_.size()) + " chains; at most " +
        std::to_string(ChainTokens::kCapacity) +
        " through one callback can be measured; state fewer chains through it");
  }
}

const TokenRules::Membership* TokenRules::find(std::uint32_t chain) const {
  const auto at = std::lower_bound(
      memberships_.begin(), memberships_.end(), chain,
      [](const Membership& membership, std::uint32_t wanted) { return membership.chain < wanted; });
  return at != memberships_.end() && at->chain == chain ? &*at : nullptr;
}

ChainTokens TokenRules::start(std::uint64_t instance, std::int64_t release_ns) const {
  ChainTokens tokens;
  for (const Membership& membership : memberships_) {
    if (membership.position == 0) {
      tokens.add({membership.chain, instance, release_ns});
    }
  }
  return tokens;
}

void TokenRules::take(const ChainToken& token, std::uint32_t position,
                      std::optional<std::size_t> input, ChainTokens& tokens) const {
  const Membership* const membership = find(token.chain);
  if (membership == nullptr || membership->position != position + 1) {
    return;
  }
  if (input && !std::ranges::binary_search(membership->inputs, *input)) {
    return;
  }
  const auto present = tokens.all();
  if (std::find(present.begin(), present.end(), token) == present.end()) {
    tokens.add(token);
  }
}

std::uint32_t TokenRules::position(std::uint32_t chain) const {
  const Membership* const membership = find(chain);
  return membership != nullptr ? membership->position : 0;
}

bool TokenRules::passes_on(std::uint32_t chain) const {
  const Membership* const membership = find(chain);
  return membership != nullptr && !membership->last;
}

}  // namespace rclrt::recorder
