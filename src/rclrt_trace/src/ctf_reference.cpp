// SPDX-License-Identifier: Apache-2.0
#include "ctf_reference.hpp"

#include <map>
#include <string>

namespace rclrt::trace::ctf {

std::string plain(std::string name) {
  return name.size() > 1 && name.front() == '_' ? name.substr(1) : name;
}

Reference parse_reference(Lexer& lexer) {
  static const std::map<std::string, Scope> kNames{
      {"trace.packet.header.", Scope::kPacketHeader},
      {"stream.packet.context.", Scope::kPacketContext},
      {"stream.event.header.", Scope::kEventHeader},
      {"stream.event.context.", Scope::kStreamEventContext},
      {"event.context.", Scope::kEventContext},
      {"event.fields.", Scope::kEventFields}};
  Reference result;
  std::string so_far;
  do {
    const std::string word = lexer.expect_word();
    so_far += word + ".";
    result.path.push_back(plain(word));
    if (const auto found = kNames.find(so_far); found != kNames.end() && lexer.peek().text == ".") {
      result = {.scope = found->second};
    }
  } while (lexer.take_if("."));
  return result;
}

}  // namespace rclrt::trace::ctf
