// SPDX-License-Identifier: Apache-2.0
// The rules by which a callback starts, takes and passes on chain tokens. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <rclrt/model/application.hpp>
#include <vector>

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::recorder {

/// The chains of one callback.
class RCLRT_RECORDER_EXPORT TokenRules {
 public:
  /// Throws std::invalid_argument if the callback is on more chains than a record has room for.
  TokenRules(const model::Application& application, std::size_t callback);

  /// Returns the tokens of a release for the chains that start here.
  ChainTokens start(std::uint64_t instance, std::int64_t release_ns) const;

  /// Adds to `tokens` a token that a message brings to this callback. `position` is the position of
  /// the publisher on the token's chain, and `input` the index in model::inputs() at which the
  /// message arrives (std::nullopt: any input). The token is added only if this callback is the
  /// next one of that chain and the chain comes by that input, and only once.
  void take(const ChainToken& token, std::uint32_t position, std::optional<std::size_t> input,
            ChainTokens& tokens) const;

  /// Returns the position of this callback on a chain that it is on.
  std::uint32_t position(std::uint32_t chain) const;

  /// Returns whether the chain goes on after this callback.
  bool passes_on(std::uint32_t chain) const;

 private:
  struct Membership {
    std::uint32_t chain;
    std::uint32_t position;
    bool last;
    std::vector<std::size_t> inputs;  // by which the chain comes; ascending
  };
  const Membership* find(std::uint32_t chain) const;

  std::vector<Membership> memberships_;  // ascending by chain
};

}  // namespace rclrt::recorder
