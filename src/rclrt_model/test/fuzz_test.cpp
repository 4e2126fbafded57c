// SPDX-License-Identifier: Apache-2.0
/// Feeds the parser with mutated files and checks its promises for any bytes. The files are the
/// same in every run; RCLRT_FUZZ_ITERATIONS and RCLRT_FUZZ_SEED select more texts and other ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "broken_applications.hpp"
#include "mutator.hpp"
#include "promises.hpp"
#include "test_files.hpp"

namespace rclrt::model {
namespace {

constexpr unsigned long kDefaultIterations = 80'000;  // about 20 s under AddressSanitizer

std::vector<std::string> corpus() {
  std::vector<std::string> texts;
  for (const test::BrokenApplication& each : test::broken_applications().cases) {
    if (!each.text.empty()) {
      texts.push_back(each.text);
    }
  }
  // As many good texts as broken ones; otherwise hardly any would pass.
  const std::size_t broken = texts.size();
  while (texts.size() < 2 * broken) {
    for (const auto& file : test::example_files()) {
      texts.push_back(test::read_file(file));
    }
  }
  return texts;
}

TEST(Fuzz, TheParserKeepsItsPromisesOnMutatedFiles) {
  const auto iterations = test::fuzz_iterations(kDefaultIterations);
  const auto seed = test::fuzz_seed();
  test::Mutator mutator(corpus(), seed);
  std::size_t accepted = 0;
  for (unsigned long i = 0; i < iterations; ++i) {
    const std::string text = mutator.next();
    const auto result = parse_application(text);
    const std::string broken = test::broken_promise(text, result);
    ASSERT_EQ(broken, "") << "iteration " << i << " of seed " << seed << ", text:\n" << text;
    if (result.application) {
      ++accepted;
    }
  }
  RecordProperty("iterations", std::to_string(iterations));
  if (iterations < kDefaultIterations) {
    return;
  }
  EXPECT_GT(accepted, iterations / 200) << "the mutations must leave some files valid";
  EXPECT_LT(accepted, iterations / 2) << "and break most";
}

}  // namespace
}  // namespace rclrt::model
