// SPDX-License-Identifier: Apache-2.0
#include "broken_applications.hpp"

#include <fstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace rclrt::model::test {
namespace {

/// The lines of a text. Those at N are line N of the base and what follows it; those at 0 precede
/// line 1.
using Slots = std::vector<std::vector<std::string>>;

std::string text_of(const Slots& slots) {
  std::string text;
  for (const auto& slot : slots) {
    for (const std::string& line : slot) {
      text += line + "\n";
    }
  }
  return text;
}

std::string unescaped(std::string text) {
  for (std::size_t at = text.find("\\x"); at != std::string::npos; at = text.find("\\x", at + 1)) {
    text.replace(at, 4, 1, static_cast<char>(std::stoi(text.substr(at + 2, 2), nullptr, 16)));
  }
  return text;
}

/// Changes the lines as `change` states, in the form "N|TEXT", "N-|", "N+|TEXT" or "|TEXT".
void apply(const std::string& change, Slots& slots) {
  const std::size_t bar = change.find('|');
  const std::size_t number = change.find_first_not_of(' ');
  if (bar == std::string::npos || number > bar) {
    throw std::invalid_argument("broken_applications.txt: " + change);
  }
  std::string text = unescaped(change.substr(bar + 1));
  if (number == bar) {
    slots.back().push_back(std::move(text));
    return;
  }
  auto& slot = slots.at(std::stoul(change.substr(number)));
  switch (change[bar - 1]) {
    case '+':
      slot.push_back(std::move(text));
      break;
    case '-':
      slot.erase(slot.begin());
      break;
    default:
      slot.front() = std::move(text);
  }
}

/// Reads the file line by line.
class Reader {
 public:
  void read(const std::string& line) {
    constexpr std::string_view kBase = "base ";
    constexpr std::string_view kCase = "case ";
    constexpr std::string_view kError = "   ! ";
    if (line.empty() || line.starts_with('#')) {
      return;
    }
    if (line.starts_with(kBase)) {
      base_ = line.substr(kBase.size());
      lines_of_base_.assign(1, {});
      in_base_ = true;
      result_.bases[base_] = "";
    } else if (line.starts_with(kCase)) {
      lines_ = lines_of_base_;
      in_base_ = false;
      result_.cases.push_back({line.substr(kCase.size()), text_of(lines_), {}});
    } else if (line.starts_with(kError)) {
      result_.cases.at(result_.cases.size() - 1).errors.push_back(line.substr(kError.size()));
    } else if (in_base_) {
      lines_of_base_.push_back({line.substr(line.find('|') + 1)});
      result_.bases[base_] = text_of(lines_of_base_);
    } else {
      apply(line, lines_);
      result_.cases.at(result_.cases.size() - 1).text = text_of(lines_);
    }
  }
  BrokenApplications result() && { return std::move(result_); }

 private:
  BrokenApplications result_;
  std::string base_;
  bool in_base_ = false;
  Slots lines_of_base_;
  Slots lines_;
};

}  // namespace

BrokenApplications broken_applications() {
  Reader reader;
  std::ifstream file(RCLRT_BROKEN_APPLICATIONS);
  for (std::string line; std::getline(file, line);) {
    reader.read(line);
  }
  return std::move(reader).result();
}

}  // namespace rclrt::model::test
