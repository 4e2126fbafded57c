// SPDX-License-Identifier: Apache-2.0
// Makes broken texts from good ones: deterministic for a seed.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace rclrt::model::test {

/// Returns the number of texts to try: RCLRT_FUZZ_ITERATIONS, or `otherwise`.
unsigned long fuzz_iterations(unsigned long otherwise);

/// Returns RCLRT_FUZZ_SEED, or a constant.
unsigned fuzz_seed();

class Mutator {
 public:
  Mutator(std::vector<std::string> corpus, unsigned seed);

  /// Returns a text of the corpus after one to six mutations.
  std::string next();

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  const std::string& any_text() { return corpus_[below(corpus_.size())]; }

  void mutate(std::string& text, std::size_t kind);

  void replace_token(std::string& text);
  void repeat_line(std::string& text);
  void remove_line(std::string& text);
  void flip_bytes(std::string& text);
  void splice(std::string& text);
  void swap_tokens(std::string& text);
  void insert_token(std::string& text);
  void nest(std::string& text);
  void remove_part(std::string& text);
  void repeat_part(std::string& text);
  void change_number(std::string& text);

  std::vector<std::string> corpus_;
  std::mt19937_64 random_;
};

}  // namespace rclrt::model::test
