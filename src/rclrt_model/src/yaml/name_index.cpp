// SPDX-License-Identifier: Apache-2.0
#include "rclrt/yaml/name_index.hpp"

namespace rclrt::yaml {

void NameIndex::add(const std::string& name, Position at, Context& context,
                    const std::string& made) {
  const auto [entry, inserted] = entries_.try_emplace(name, Entry{size_, at});
  ++size_;
  if (inserted) {
    names_.push_back(entry->first);
    return;
  }
  const std::string line = line_of(entry->second.at);
  if (!made.empty()) {
    context.diagnostics.report(
        at, made + " is named " + in_quotes(name) + ", as the " + what_ + " on " + line + " is",
        "another name for one of the two");
    return;
  }
  context.diagnostics.report(at, what_ + " " + in_quotes(name) + " is declared twice",
                             "a name of its own (the first is on " + line + ")");
}

void NameIndex::add_unreadable() {
  ++size_;
  complete_ = false;
}

std::size_t NameIndex::resolve(const std::string& name, Position at, Context& context) const {
  const auto found = entries_.find(name);
  if (found != entries_.end()) {
    return found->second.index;
  }
  if (complete_) {
    context.diagnostics.report(
        at, what_ + " " + in_quotes(name) + " is not declared under " + in_quotes(section_),
        context.suggester.suggest(name, names_, "a declared " + what_).expected);
  }
  return kUnknown;
}

}  // namespace rclrt::yaml
