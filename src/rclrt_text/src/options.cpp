// SPDX-License-Identifier: Apache-2.0
#include "rclrt/text/options.hpp"

#include <algorithm>
#include <string_view>

#include "rclrt/text/nearest_word.hpp"

namespace rclrt::text {

namespace {

constexpr std::size_t kLineWidth = 80;
constexpr std::size_t kMostNameWidth = 24;  // a longer name has a line of its own

bool is_help(std::string_view word) { return word == "--help" || word == "-h"; }

/// Returns whether one of the arguments before "--" asks for the help. It comes before any error.
bool asks_for_help(std::span<const std::string> arguments) {
  return std::any_of(arguments.begin(), std::ranges::find(arguments, "--"), is_help);
}

std::string_view without_dashes(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  return name;
}

/// Returns "; did you mean X?", or an empty text if no name is near.
std::string suggestion(std::string_view word, const std::vector<std::string_view>& names) {
  std::vector<std::string_view> known;
  for (const std::string_view name : names) {
    known.push_back(without_dashes(name));
  }
  const std::string_view guess = nearest_word(without_dashes(word), known);
  if (guess.empty()) {
    return {};
  }
  const auto found = std::ranges::find(known, guess) - known.begin();
  return "; did you mean " + std::string(names[static_cast<std::size_t>(found)]) + "?";
}

std::string joined(const std::vector<std::string_view>& names) {
  std::string list;
  for (const std::string_view name : names) {
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  return list;
}

/// Reads the arguments of one table.
class Reader {
 public:
  Reader(const OptionTable& table, std::span<const std::string> arguments)
      : table_(table), arguments_(arguments.begin(), end_of(table, arguments)) {}

  ParsedOptions read() {
    if (!table_.program.empty() && asks_for_help(arguments_)) {
      return {.answer = help(table_), .command = {}};
    }
    bool only_operands = false;
    while (next_ < arguments_.size()) {
      const std::string& word = arguments_[next_++];
      if (only_operands || !is_option(word)) {
        read_operand(word);
      } else if (word == "--") {
        only_operands = true;
      } else if (!table_.program.empty() && word == "--version") {
        return {.answer = first_word(table_.program) + " " RCLRT_VERSION "\n", .command = {}};
      } else {
        read_option(word);
      }
    }
    require_all();
    return std::move(result_);
  }

 private:
  /// Returns the place of `until`, if it is before any "--".
  static std::span<const std::string>::iterator end_of(const OptionTable& table,
                                                       std::span<const std::string> arguments) {
    const auto options_end = std::ranges::find(arguments, "--");
    const auto until = std::find(arguments.begin(), options_end, table.until);
    return table.until.empty() || until == options_end ? arguments.end() : until;
  }

  static bool is_option(std::string_view word) {
    const bool is_number = word.size() > 1 && word[1] >= '0' && word[1] <= '9';
    return word.size() > 1 && word.starts_with('-') && !is_number;
  }

  static std::string first_word(std::string_view name) {
    return std::string(name.substr(0, name.find(' ')));
  }

  const Option* find(std::string_view name) const {
    const auto found = std::ranges::find(table_.options, name, &Option::name);
    return found == table_.options.end() ? nullptr : &*found;
  }

  std::string shown(std::string_view name) const { return table_.prefix + std::string(name); }

  void read_option(const std::string& word) {
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    const Option* const option = find(name);
    if (option == nullptr) {
      throw UsageError("unknown option " + shown(name) + near(name));
    }
    if (!result_.given.insert(name).second) {
      throw UsageError(shown(name) + " is given twice; expected it once");
    }
    if (!option->value.empty()) {
      store(*option, equals == std::string::npos ? next_value(*option) : word.substr(equals + 1));
    } else if (equals != std::string::npos) {
      throw UsageError(shown(name) + ": takes no value; expected it without " +
                       word.substr(equals));
    } else {
      option->store({});
    }
  }

  /// Returns the end of the error for an unknown option.
  std::string near(std::string_view name) const {
    std::vector<std::string_view> names;
    for (const Option& each : table_.options) {
      names.push_back(each.name);
    }
    if (table_.program.empty()) {
      const std::string guess = suggestion(name, names);
      return guess.empty() ? "; expected one of " + joined(names) : guess;
    }
    names.insert(names.end(), {"--help", "--version"});
    const std::string guess = suggestion(name, names);
    return guess.empty() ? "; see --help" : guess;
  }

  /// Returns the argument after an option; empty if that is another option.
  std::string next_value(const Option& option) {
    if (next_ == arguments_.size() || arguments_[next_].empty()) {
      return {};
    }
    const std::string& word = arguments_[next_];
    if (word.starts_with("--") && find(word.substr(0, word.find('='))) != nullptr) {
      throw UsageError(missing(option) + "; found " + word);
    }
    ++next_;
    return word;
  }

  std::string missing(const Option& option) const {
    const bool is_operand = !option.name.starts_with('-');
    return shown(option.name) + ": expected a value" + (is_operand ? "" : " after it") +
           (option.expected.empty() ? "" : ", " + option.expected);
  }

  void store(const Option& option, const std::string& value) const {
    if (value.empty()) {
      throw UsageError(missing(option));
    }
    bool is_expected = false;
    try {
      is_expected = option.store(value);
    } catch (const std::invalid_argument& error) {
      throw UsageError(shown(option.name) + ": " + error.what());
    }
    if (!is_expected) {
      const std::vector<std::string_view> words(option.words.begin(), option.words.end());
      throw UsageError(shown(option.name) + " " + value + ": expected " + option.expected +
                       suggestion(value, words));
    }
  }

  void read_operand(const std::string& word) {
    if (operand_ == table_.operands.size()) {
      throw UsageError("unexpected argument '" + word + "'" +
                       (table_.program.empty() ? "; expected an option" : "; see --help"));
    }
    const Option& operand = table_.operands[operand_];
    operand_ += operand.repeats ? 0 : 1;
    store(operand, word);
  }

  void require_all() const {
    for (std::size_t i = operand_; i < table_.operands.size(); ++i) {
      require(table_.operands[i]);
    }
    for (const Option& option : table_.options) {
      if (!result_.given.contains(option.name)) {
        require(option);
      }
    }
  }

  void require(const Option& option) const {
    if (!option.required.empty()) {
      throw UsageError("no " + shown(option.name) + "; expected " + option.required);
    }
  }

  const OptionTable& table_;
  std::span<const std::string> arguments_;
  std::size_t next_ = 0;
  std::size_t operand_ = 0;
  ParsedOptions result_;
};

ParsedOptions parse_command(const OptionTable& table, std::span<const std::string> arguments) {
  std::vector<std::string_view> names;
  for (const OptionTable& each : table.commands) {
    names.push_back(each.program);
  }
  const std::string word = arguments.empty() ? "" : arguments.front();
  const auto found = std::ranges::find(table.commands, word, &OptionTable::program);
  if (found != table.commands.end()) {
    OptionTable command = *found;
    command.program = table.program + " " + command.program;
    ParsedOptions result = parse_options(command, arguments.subspan(1));
    result.command = word;
    return result;
  }
  if (asks_for_help(arguments)) {
    return {.answer = help(table), .command = {}};
  }
  if (word == "--version") {
    OptionTable only_these = table;
    only_these.commands.clear();
    return Reader(only_these, arguments.first(1)).read();
  }
  const std::string guess = suggestion(word, names);
  throw UsageError((word.empty() ? "no command" : "unknown command '" + word + "'") +
                   (guess.empty() ? "; expected one of " + joined(names) : guess));
}

std::string with_value(const Option& option) {
  return option.value.empty() ? option.name : option.name + " " + option.value;
}

/// Returns the first line of the help.
std::string synopsis(const OptionTable& table) {
  std::string line = "usage: " + table.program;
  if (!table.commands.empty()) {
    return line + " COMMAND [options]";
  }
  for (const Option& each : table.operands) {
    line += each.repeats            ? " [" + each.name + "...]"
            : each.required.empty() ? " [" + each.name + "]"
                                    : " " + each.name;
  }
  std::string optional;
  for (const Option& each : table.options) {
    if (each.required.empty()) {
      optional += " [" + with_value(each) + "]";
    } else {
      line += " " + with_value(each);
    }
  }
  const bool fits = line.size() + optional.size() <= kLineWidth;
  line += fits ? optional : " [options]";
  return table.until.empty() ? line : line + " [" + table.until + " ...]";
}

/// Appends a text that begins in `column`, and continues there on each further line.
void append_wrapped(std::string& lines, std::size_t column, std::string_view text) {
  std::size_t position = column;
  bool begins = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!begins && position + 1 + word.size() > kLineWidth) {
      lines += "\n" + std::string(column, ' ');
      position = column;
      begins = true;
    }
    lines += begins ? "" : " ";
    lines += word;
    position += word.size() + (begins ? 0 : 1);
    begins = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  lines += '\n';
}

/// Appends the lines of a text.
void append_lines(std::string& lines, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    append_wrapped(lines, 0, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void append_entry(std::string& lines, std::size_t indent, std::size_t width, std::string_view name,
                  std::string_view text) {
  const std::size_t column = indent + width + 2;
  lines += std::string(indent, ' ') + std::string(name);
  if (name.size() > width) {
    lines += "\n" + std::string(column, ' ');
  } else {
    lines += std::string(width + 2 - name.size(), ' ');
  }
  append_wrapped(lines, column, text);
}

std::string help_of(const Option& option) {
  return option.help + option.range +
         (option.standard.empty() ? "" : "; default " + option.standard);
}

}  // namespace

std::string option_lines(const OptionTable& table, std::size_t indent) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const Option& each : table.operands) {
    entries.emplace_back(each.name, each.help.empty() ? each.required : help_of(each));
  }
  for (const Option& each : table.options) {
    entries.emplace_back(with_value(each), help_of(each));
  }
  if (!table.program.empty()) {
    entries.emplace_back("--help, --version", "");
  }
  std::size_t width = 0;
  for (const auto& [name, text] : entries) {
    const bool shares_its_line = !text.empty() && name.size() <= kMostNameWidth;
    width = shares_its_line ? std::max(width, name.size()) : width;
  }
  std::string lines;
  for (const auto& [name, text] : entries) {
    if (text.empty()) {
      lines += std::string(indent, ' ') + name + "\n";
    } else {
      append_entry(lines, indent, width, name, text);
    }
  }
  return lines;
}

std::string help(const OptionTable& table) {
  std::string text = synopsis(table) + "\n\n";
  append_lines(text, table.purpose);
  text += '\n';
  for (const OptionTable& each : table.commands) {
    OptionTable command = each;
    command.program = table.program + " " + each.program;
    text += synopsis(command).substr(std::string_view("usage: ").size()) + "\n";
    append_entry(text, 4, 0, "", each.purpose);
  }
  text += table.commands.empty() ? option_lines(table) : "\nCOMMAND --help has its options.\n";
  return table.notes.empty() ? text : text + "\n" + table.notes + "\n";
}

ParsedOptions parse_options(const OptionTable& table, std::span<const std::string> arguments) {
  return table.commands.empty() ? Reader(table, arguments).read() : parse_command(table, arguments);
}

ParsedOptions parse_options(const OptionTable& table, int argc, const char* const* argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  return parse_options(table, arguments);
}

}  // namespace rclrt::text
