// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/token_rules.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace rclrt::recorder {
namespace {

/// Callbacks a 0, b 1, c 2, d 3; chain 0 is a b c, chain 1 is d b c, chain 2 is a d.
model::Application application() {
  model::Application result;
  for (const char* id : {"a", "b", "c", "d"}) {
    model::Callback callback;
    callback.id = id;
    result.callbacks.push_back(callback);
  }
  for (const std::vector<std::size_t>& path :
       {std::vector<std::size_t>{0, 1, 2}, {3, 1, 2}, {0, 3}}) {
    model::Chain chain;
    chain.callbacks = path;
    result.chains.push_back(chain);
  }
  return result;
}

std::vector<ChainToken> taken(const TokenRules& rules, const ChainToken& token,
                              std::uint32_t position) {
  ChainTokens tokens;
  rules.take(token, position, {}, tokens);
  return {tokens.all().begin(), tokens.all().end()};
}

TEST(TokenRules, ATimerStartsEveryChainThatBeginsWithIt) {
  const auto tokens = TokenRules(application(), 0).start(7, 1000);
  EXPECT_EQ((std::vector<ChainToken>{tokens.all().begin(), tokens.all().end()}),
            (std::vector<ChainToken>{{0, 7, 1000}, {2, 7, 1000}}));
}

TEST(TokenRules, OnlyTheNextCallbackOfTheChainTakesAToken) {
  const ChainToken token{0, 7, 1000};
  EXPECT_EQ(taken(TokenRules(application(), 1), token, 0), (std::vector<ChainToken>{token}));
  EXPECT_TRUE(taken(TokenRules(application(), 2), token, 0).empty());  // past b
  EXPECT_TRUE(taken(TokenRules(application(), 3), token, 0).empty());  // not on the chain
  EXPECT_EQ(taken(TokenRules(application(), 2), token, 1), (std::vector<ChainToken>{token}));
}

TEST(TokenRules, ATokenThatArrivesOnBothInputsCountsOnce) {
  const TokenRules rules(application(), 1);
  ChainTokens tokens;
  rules.take({0, 7, 1000}, 0, {}, tokens);
  rules.take({0, 7, 1000}, 0, {}, tokens);
  rules.take({1, 7, 1000}, 0, {}, tokens);
  EXPECT_EQ(tokens.all().size(), 2U);
}

TEST(TokenRules, OfTwoTopicsATokenCountsOnThatOfItsChain) {
  model::Application two;
  model::Callback timer;
  timer.id = "timer";
  timer.publishes = {"x", "y"};
  model::Callback shared;
  shared.id = "shared";
  shared.trigger = model::Subscription{.topics = {"x", "y"}, .depth = 10};
  shared.publishes = {"u", "v"};
  shared.routes = {{0}, {1}};
  model::Callback one;
  one.trigger = model::Subscription{.topics = {"u"}, .depth = 10};
  model::Callback other;
  other.trigger = model::Subscription{.topics = {"v"}, .depth = 10};
  two.callbacks = {timer, shared, one, other};
  two.chains.resize(2);
  two.chains[0].callbacks = {0, 1, 2};
  two.chains[1].callbacks = {0, 1, 3};
  const TokenRules rules(two, 1);
  for (const std::uint32_t chain : {0U, 1U}) {
    ChainTokens tokens;
    rules.take({chain, 7, 1000}, 0, 1 - chain, tokens);
    EXPECT_TRUE(tokens.all().empty()) << "the other chain's topic carries it, too";
    rules.take({chain, 7, 1000}, 0, chain, tokens);
    EXPECT_EQ(tokens.all().size(), 1U);
  }
}

TEST(TokenRules, MoreChainsThanARecordHoldsAreRefusedNotMiscounted) {
  model::Application many = application();
  many.chains.assign(17, many.chains[0]);
  try {
    const TokenRules rules(many, 0);
    FAIL() << "no exception";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "callback \"a\" is on 17 chains; at most 16 through one callback can be measured; "
                 "state fewer chains through it");
  }
}

TEST(TokenRules, TheLastCallbackOfAChainPassesNothingOn) {
  const TokenRules b(application(), 1);
  EXPECT_TRUE(b.passes_on(0));
  EXPECT_EQ(b.position(0), 1U);
  EXPECT_FALSE(TokenRules(application(), 2).passes_on(0));
  EXPECT_FALSE(b.passes_on(2));
}

}  // namespace
}  // namespace rclrt::recorder
