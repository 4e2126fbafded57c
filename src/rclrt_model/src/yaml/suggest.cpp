// SPDX-License-Identifier: Apache-2.0
#include "rclrt/yaml/suggest.hpp"

#include <algorithm>
#include <rclrt/text/nearest_word.hpp>
#include <span>

#include "rclrt/yaml/diagnostics.hpp"

namespace rclrt::yaml {
namespace {

constexpr std::size_t kMaxListed = 10;

}  // namespace

Suggestion Suggester::suggest(std::string_view word, const std::vector<std::string_view>& known,
                              std::string_view otherwise) {
  const auto compared = std::span(known).first(std::min(comparisons_left_, known.size()));
  comparisons_left_ -= compared.size();
  const std::string_view guess = text::nearest_word(word, compared);
  if (!guess.empty()) {
    return {std::string(otherwise) + " (did you mean " + in_quotes(guess) + "?)", guess};
  }
  const bool listed = !known.empty() && known.size() <= kMaxListed;
  return {listed ? list_in_quotes(known) : std::string(otherwise), {}};
}

}  // namespace rclrt::yaml
