// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/synthesis.hpp"

#include <gtest/gtest.h>

#include <map>

#include "application_builder.hpp"

namespace rclrt::analysis {
namespace {

std::map<std::string, int> by_id(const model::Application& application,
                                 ChainPriorities source = ChainPriorities::kGiven) {
  std::map<std::string, int> result;
  const auto values = synthesize_priorities(application, source);
  for (std::size_t i = 0; i < values.size(); ++i) {
    result[application.callbacks[i].id] = values[i].priority;
  }
  return result;
}

/// Figure 5.5: the chains of section 5.2.3; c11 and c12 are syncs.
model::Application figure_5_5() {
  Builder builder;
  builder.timer("c1", 100, 1).timer("c4", 100, 1).timer("c8", 100, 1);
  builder.sync("c11", "c1", "c4", 1);
  builder.subscription("c2", "c11", 1).subscription("c3", "c2", 1).publishes("end");
  builder.subscription("c5", "c11", 1);
  builder.subscription("c9", "c8", 1);
  builder.sync("c12", "c5", "c9", 1);
  builder.subscription("c6", "c12", 1).publishes("end");
  builder.subscription("c10", "c12", 1).publishes("end");
  builder.subscription("c7", "end", 1);
  builder.chain("tau1", {"c1", "c11", "c2", "c3", "c7"}, 0);
  builder.chain("tau2", {"c4", "c11", "c5", "c12", "c6", "c7"}, 1);
  builder.chain("tau3", {"c8", "c9", "c12", "c10", "c7"}, 2);
  return builder.done();
}

// Section 5.2.3, quadrant D of figure 5.5.
TEST(Synthesis, FigureFivePointFiveOfTheThesis) {
  const std::map<std::string, int> expected{{"c1", 2}, {"c2", 0},  {"c3", 0},  {"c4", 2},
                                            {"c5", 2}, {"c6", 1},  {"c7", 2},  {"c8", 2},
                                            {"c9", 2}, {"c10", 2}, {"c11", 2}, {"c12", 2}};
  EXPECT_EQ(by_id(figure_5_5()), expected);
}

// The same steps, by their reasons: (a) a shared callback takes the most urgent chain, (b) c11
// takes tau2's, (c) c12 raises tau2 up to c4, (d) and through c11 also c1.
TEST(Synthesis, EachValueOfFigureFivePointFiveHasItsReason) {
  const auto application = figure_5_5();
  const auto values = synthesize_priorities(application);
  std::map<std::string, std::string> reasons;
  for (std::size_t i = 0; i < values.size(); ++i) {
    reasons[application.callbacks[i].id] = reason(application, values[i]);
  }
  EXPECT_EQ(reasons["c7"], "chain tau3");
  EXPECT_EQ(reasons["c6"], "chain tau2");
  EXPECT_EQ(reasons["c2"], "chain tau1");
  EXPECT_EQ(reasons["c5"], "sync c12 waits for it");
  EXPECT_EQ(reasons["c11"], "sync c12 waits for it");
  EXPECT_EQ(reasons["c4"], "sync c11 waits for it");
  EXPECT_EQ(reasons["c9"], "chain tau3");
}

TEST(Synthesis, TheBundledExampleOfFigureFivePointFiveGivesTheSame) {
  const auto values = by_id(example("fig_5_5"));
  EXPECT_EQ(values.at("c1"), 2);
  EXPECT_EQ(values.at("c6"), 1);
  EXPECT_EQ(values.at("c2"), 0);
}

// Errata: algorithm 1 walks declared chains only.
TEST(Synthesis, AnInputOfASyncThatIsOnNoChainIsRaised) {
  const auto application = Builder()
                               .timer("a", 10, 1)
                               .timer("b", 10, 1)
                               .subscription("b2", "b", 1)
                               .sync("s", "a", "b2", 1)
                               .chain("main", {"a", "s"}, 5)
                               .done();
  EXPECT_EQ(by_id(application),
            (std::map<std::string, int>{{"a", 5}, {"b", 5}, {"b2", 5}, {"s", 5}}));
}

TEST(Synthesis, ASharedCallbackThatIsNoSyncRaisesNobody) {
  const auto application = Builder()
                               .timer("a", 10, 1)
                               .publishes("shared")
                               .timer("b", 10, 1)
                               .publishes("shared")
                               .subscription("s", "shared", 1)
                               .chain("high", {"a", "s"}, 2)
                               .chain("low", {"b", "s"}, 1)
                               .done();
  EXPECT_EQ(by_id(application), (std::map<std::string, int>{{"a", 2}, {"b", 1}, {"s", 2}}));
}

TEST(Synthesis, IsIdempotentAndKeepsWhatACallbackStates) {
  auto application = figure_5_5();
  application.callbacks[0].priority = 7;
  const auto once = synthesize_priorities(application);
  EXPECT_EQ(once[0].priority, 7);
  EXPECT_TRUE(once[0].stated);
  for (std::size_t i = 0; i < once.size(); ++i) {
    application.callbacks[i].priority = once[i].priority;
  }
  const auto twice = synthesize_priorities(application);
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_EQ(once[i].priority, twice[i].priority) << application.callbacks[i].id;
  }
}

TEST(Synthesis, ChainPrioritiesFromPeriodsAndDeadlines) {
  const auto application = Builder()
                               .timer("slow", 30, 1)
                               .timer("fast", 10, 1)
                               .timer("also_fast", 10, 1)
                               .chain("a", {"slow"}, 9, 5)
                               .chain("b", {"fast"}, 8)
                               .chain("c", {"also_fast"}, 7)
                               .done();
  EXPECT_EQ(chain_priorities(application, ChainPriorities::kRateMonotonic),
            (std::vector<int>{1, 2, 2}));
  EXPECT_EQ(chain_priorities(application, ChainPriorities::kDeadlineMonotonic),
            (std::vector<int>{2, 1, 1}));
  EXPECT_EQ(by_id(application, ChainPriorities::kDeadlineMonotonic).at("slow"), 2);
}

// PiCAS, section V: chains one above the other, later callbacks of a chain above earlier ones, a
// shared callback with its most urgent chain.
TEST(Synthesis, PicasOrdersChainsAndWithinThemTheLaterCallbacksFirst) {
  const auto application = Builder()
                               .timer("a", 10, 1)
                               .subscription("a1", "a", 1)
                               .publishes("end")
                               .timer("b", 10, 1)
                               .subscription("b1", "b", 1)
                               .publishes("end")
                               .subscription("last", "end", 1)
                               .timer("off", 10, 1)
                               .chain("low", {"a", "a1", "last"}, 1)
                               .chain("high", {"b", "b1", "last"}, 2)
                               .done();
  EXPECT_EQ(by_id(application, ChainPriorities::kPicas),
            (std::map<std::string, int>{
                {"last", 5}, {"b1", 4}, {"b", 3}, {"a1", 2}, {"a", 1}, {"off", 0}}));
}

TEST(Synthesis, PicasBreaksTiesByTheDeadline) {
  const auto application = Builder()
                               .timer("a", 10, 1)
                               .timer("b", 10, 1)
                               .chain("relaxed", {"a"}, 1, 10)
                               .chain("tight", {"b"}, 1, 5)
                               .done();
  EXPECT_EQ(by_id(application, ChainPriorities::kPicas),
            (std::map<std::string, int>{{"a", 1}, {"b", 2}}));
}

TEST(Synthesis, PicasTakesWhatASyncWaitsForIntoItsChain) {
  const auto application = Builder()
                               .timer("a", 10, 1)
                               .timer("b", 10, 1)
                               .subscription("b2", "b", 1)
                               .sync("s", "a", "b2", 1)
                               .chain("main", {"a", "s"}, 5)
                               .chain("other", {"b", "b2"}, 4)
                               .done();
  const auto values = synthesize_priorities(application, ChainPriorities::kPicas);
  EXPECT_EQ(values[application.callbacks.size() - 1].priority, 4);  // s, the last of all
  EXPECT_EQ(reason(application, values[2]), "sync s waits for it");
  EXPECT_GT(values[2].priority, values[1].priority);  // b2 comes after b
}

}  // namespace
}  // namespace rclrt::analysis
