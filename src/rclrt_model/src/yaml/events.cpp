// SPDX-License-Identifier: Apache-2.0
#include "events.hpp"

#include <algorithm>
#include <new>
#include <string>

namespace rclrt::yaml {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

/// Returns the position of a byte in the text.
Position position_of_byte(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::string_view line = before.substr(before.rfind('\n') + 1);  // npos + 1 is 0
  Position at;
  at.line += static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n'));
  at.column +=
      static_cast<std::uint32_t>(std::count_if(line.begin(), line.end(), begins_character));
  return at;
}

/// Returns the character at this position if it is ASCII; '\0' at the end of a line and beyond.
char character_at(std::string_view text, Position at) {
  for (std::uint32_t line = 1; line < at.line; ++line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      return '\0';
    }
    text.remove_prefix(end + 1);
  }
  std::uint32_t column = 0;
  for (const char c : text.substr(0, text.find('\n'))) {
    if (begins_character(c) && ++column == at.column) {
      return c;
    }
  }
  return '\0';
}

std::string_view remedy_at(std::string_view text, Position at) {
  switch (character_at(text, at)) {
    case '\t':
      return "spaces instead of a tab";
    case ':':
      return "a blank after the ':'";
    default:
      return "valid YAML";
  }
}

}  // namespace

Position position(const yaml_mark_t& mark) {
  return {static_cast<std::uint32_t>(mark.line + 1), static_cast<std::uint32_t>(mark.column + 1)};
}

Events::Events(std::string_view text) : text_(text) {
  if (text_.starts_with(kByteOrderMark)) {
    text_.remove_prefix(kByteOrderMark.size());
  }
  if (yaml_parser_initialize(&parser_) == 0) {
    throw std::bad_alloc();
  }
  yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text_.data()),
                               text_.size());
}

Events::~Events() {
  yaml_event_delete(&event_);
  yaml_parser_delete(&parser_);
}

const yaml_event_t* Events::next() {
  yaml_event_delete(&event_);
  return yaml_parser_parse(&parser_, &event_) != 0 ? &event_ : nullptr;
}

void Events::report_error(Diagnostics& diagnostics) const {
  if (parser_.error == YAML_MEMORY_ERROR) {
    throw std::bad_alloc();
  }
  if (parser_.error == YAML_READER_ERROR) {
    const std::size_t offset = std::min(parser_.problem_offset, text_.size());
    diagnostics.report(position_of_byte(text_, offset),
                       std::string("the text cannot be read: ") + parser_.problem,
                       "UTF-8 without control characters");
    return;
  }
  std::string what = std::string("the YAML is broken: ") + parser_.problem;
  if (parser_.context != nullptr) {
    what += std::string(" ") + parser_.context + " that begins on " +
            line_of(position(parser_.context_mark));
  }
  const Position at = position(parser_.problem_mark);
  diagnostics.report(at, what, remedy_at(text_, at));
}

}  // namespace rclrt::yaml
