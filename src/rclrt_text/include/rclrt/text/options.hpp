// SPDX-License-Identifier: Apache-2.0
// The command line of a program. Reading it, its errors and --help come from one table.
//
// An option is --name VALUE or --name=VALUE, at most once. After --, no argument is an option.
// --help, -h and --version are options of every program. Where --help or -h is among the options,
// the help is the answer, whatever else is wrong; argparse does the same for the verbs of rclrt.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "rclrt/text/export.hpp"
#include "rclrt/text/option.hpp"

namespace rclrt::text {

/// A wrong command line: the message has the option, the fault and what was expected.
class RCLRT_TEXT_EXPORT UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The options, arguments and commands that a command line may have.
struct OptionTable {
  std::string program;  ///< its name, or that of a command; empty: part of another command line
  std::string purpose;  ///< what it does, a line or more
  std::vector<Option> options{};
  std::vector<Option> operands{};       ///< the arguments without a name, in their order
  std::vector<OptionTable> commands{};  ///< the first argument is the name of one of them
  std::string notes{};                  ///< the end of the help, such as the exit codes
  std::string until{};   ///< the arguments from this one on are not read: "--ros-args"
  std::string prefix{};  ///< before an option's name in errors: "--rttest_args "
};

/// The parts of a command line that have no place of their own.
struct ParsedOptions {
  std::optional<std::string>
      answer;           ///< what --help or --version prints: then nothing else is read
  std::string command;  ///< of OptionTable::commands
  std::set<std::string, std::less<>> given{};  ///< the names of the options
};

/// Stores the values of the options. Throws UsageError.
RCLRT_TEXT_EXPORT ParsedOptions parse_options(const OptionTable& table,
                                              std::span<const std::string> arguments);
/// Stores the values of the options of argv[1] and those after it. Throws UsageError.
RCLRT_TEXT_EXPORT ParsedOptions parse_options(const OptionTable& table, int argc,
                                              const char* const* argv);

/// Returns what --help prints.
RCLRT_TEXT_EXPORT std::string help(const OptionTable& table);
/// Returns the lines of the options in the help, each after `indent` blanks.
RCLRT_TEXT_EXPORT std::string option_lines(const OptionTable& table, std::size_t indent = 2);

}  // namespace rclrt::text
