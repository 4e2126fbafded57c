// SPDX-License-Identifier: Apache-2.0
#include "rclrt/text/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace rclrt::text {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

enum class Colour { kRed, kGreen };

/// The places of all kinds of options.
struct Settings {
  int priority = 80;
  std::uint64_t seed = 0;
  std::optional<int> rounds;
  double scale = 1;
  std::chrono::nanoseconds time = 10s;
  std::optional<std::chrono::nanoseconds> limit;
  bool strict = false;
  bool awake = true;
  std::string name;
  std::optional<std::string> label;
  std::filesystem::path out;
  std::vector<int> cpus;
  Colour colour = Colour::kGreen;
  std::vector<Colour> colours;
  std::vector<std::string> cases;
  std::filesystem::path file;
};

OptionTable table_of(Settings& to) {
  const std::vector<std::pair<std::string, Colour>> colours{{"red", Colour::kRed},
                                                            {"green", Colour::kGreen}};
  return {
      .program = "measure",
      .purpose = "Measures.",
      .options = {number("--priority", "N", to.priority, {1, 99}, "of SCHED_FIFO"),
                  number("--seed", "N", to.seed, {}, "of the random numbers"),
                  number("--rounds", "N", to.rounds, {1, std::numeric_limits<int>::max()},
                         "rounds"),
                  number("--scale", "X", to.scale, {kAboveZero, 2.5}, "scale"),
                  duration("--seconds", "S", to.time, 1s, {0.1, 3600}, "how long"),
                  duration("--limit", "US", to.limit, 1us, {1, 1e6}, "the longest"),
                  flag("--strict", to.strict, "fails early"),
                  flag("--sleepy", to.awake, "lets CPUs sleep", false),
                  text("--name", "NAME", to.name, "of the run"),
                  text("--label", "TEXT", to.label, "of the figure"),
                  path("--out", "DIR", to.out, "where the results go"),
                  numbers("--cpus", "N,N,...", to.cpus, {0, 1023}, "a thread on each"),
                  choice("--colour", "NAME", to.colour, colours, "of the lines"),
                  choices("--colours", "NAMES", to.colours, colours, "of all lines"),
                  words("--cases", "A,B", to.cases, {"timer", "publish"}, "only these")},
      .operands = {operand("FILE", to.file, "the path of a file")},
      .notes = "exit code: 0 measured",
      .until = "--ros-args",
  };
}

ParsedOptions parse(std::vector<std::string> arguments, Settings& settings) {
  return parse_options(table_of(settings), arguments);
}

std::string error_of(std::vector<std::string> arguments) {
  Settings settings;
  arguments.insert(arguments.begin(), "file");
  try {
    parse(arguments, settings);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ParseOptions, StoresEachValueAtItsPlace) {
  Settings to;
  const ParsedOptions parsed = parse({"--priority", "7",         "--seed",   "18446744073709551615",
                                      "--rounds",   "3",         "--scale",  "0.5",
                                      "--seconds",  "2.5",       "--limit",  "300",
                                      "--strict",   "--sleepy",  "--name",   "a b",
                                      "--label",    "c",         "--out",    "dir",
                                      "--cpus",     "2,0",       "--colour", "red",
                                      "--colours",  "green,red", "--cases",  "publish",
                                      "app.yaml"},
                                     to);
  EXPECT_EQ(parsed.answer, std::nullopt);
  EXPECT_EQ(to.priority, 7);
  EXPECT_EQ(to.seed, UINT64_MAX);
  EXPECT_EQ(to.rounds, 3);
  EXPECT_EQ(to.scale, 0.5);
  EXPECT_EQ(to.time, 2500ms);
  EXPECT_EQ(to.limit, 300us);
  EXPECT_TRUE(to.strict);
  EXPECT_FALSE(to.awake);
  EXPECT_EQ(to.name, "a b");
  EXPECT_EQ(to.label, "c");
  EXPECT_EQ(to.out, "dir");
  EXPECT_THAT(to.cpus, ElementsAre(2, 0));
  EXPECT_EQ(to.colour, Colour::kRed);
  EXPECT_THAT(to.colours, ElementsAre(Colour::kGreen, Colour::kRed));
  EXPECT_THAT(to.cases, ElementsAre("publish"));
  EXPECT_EQ(to.file, "app.yaml");
}

TEST(ParseOptions, LeavesTheDefaultsOfOthersAndKnowsWhichWereGiven) {
  Settings to;
  const ParsedOptions parsed = parse({"--seed", "0", "app.yaml"}, to);
  EXPECT_EQ(to.priority, 80);
  EXPECT_EQ(to.time, 10s);
  EXPECT_EQ(to.rounds, std::nullopt);
  EXPECT_THAT(parsed.given, ElementsAre("--seed"));
}

TEST(ParseOptions, TakesAValueAfterAnEqualsSign) {
  Settings to;
  parse({"--priority=7", "--name=a=b", "--out=--strict", "app.yaml"}, to);
  EXPECT_EQ(to.priority, 7);
  EXPECT_EQ(to.name, "a=b");
  EXPECT_EQ(to.out, "--strict");
  EXPECT_FALSE(to.strict);
}

TEST(ParseOptions, AfterTwoDashesNothingIsAnOption) {
  Settings to;
  parse({"--strict", "--", "--priority"}, to);
  EXPECT_EQ(to.file, "--priority");
  EXPECT_EQ(to.priority, 80);
}

TEST(ParseOptions, ReadsNothingFromTheArgumentsOfOthersOn) {
  Settings to;
  parse({"app.yaml", "--ros-args", "--priority", "x"}, to);
  EXPECT_EQ(to.priority, 80);
}

TEST(ParseOptions, RefusesAnUnknownOptionWithASuggestion) {
  EXPECT_EQ(error_of({"--prioity", "1"}), "unknown option --prioity; did you mean --priority?");
  EXPECT_EQ(error_of({"--prioity=1"}), "unknown option --prioity; did you mean --priority?");
  EXPECT_EQ(error_of({"--prio", "1"}), "unknown option --prio; did you mean --priority?");
  EXPECT_EQ(error_of({"--fast"}), "unknown option --fast; see --help");
  EXPECT_EQ(error_of({"-x"}), "unknown option -x; see --help");
}

TEST(ParseOptions, RefusesAMissingValue) {
  const std::vector<std::vector<std::string>> all{
      {"--priority"}, {"--priority", ""}, {"--priority="}, {"--priority", "--ros-args"}};
  for (const std::vector<std::string>& missing : all) {
    EXPECT_EQ(error_of(missing),
              "--priority: expected a value after it, a whole number from 1 to 99");
  }
  EXPECT_EQ(error_of({"--out", "--strict"}), "--out: expected a value after it; found --strict");
  EXPECT_EQ(error_of({"--out", "--name=x"}), "--out: expected a value after it; found --name=x");
}

TEST(ParseOptions, RefusesAValueThatIsNotAsExpected) {
  for (const char* const wrong : {"0", "100", "-1", "2.5", "x", "1x", "+1", " 1"}) {
    EXPECT_EQ(error_of({"--priority", wrong}),
              "--priority " + std::string(wrong) + ": expected a whole number from 1 to 99");
  }
  EXPECT_EQ(error_of({"--seed", "-1"}), "--seed -1: expected a whole number from 0 on");
  EXPECT_EQ(error_of({"--rounds", "0"}), "--rounds 0: expected a whole number from 1 on");
  EXPECT_EQ(error_of({"--scale", "0"}), "--scale 0: expected a number above 0 and up to 2.5");
  EXPECT_EQ(error_of({"--seconds", "nan"}),
            "--seconds nan: expected a number of seconds from 0.1 to 3600");
  EXPECT_EQ(error_of({"--limit", "1000001"}),
            "--limit 1000001: expected a number of microseconds from 1 to 1000000");
  EXPECT_EQ(error_of({"--cpus", "0,,1"}),
            "--cpus 0,,1: expected a whole number from 0 to 1023, or several with commas between "
            "them");
  EXPECT_EQ(error_of({"--cpus", "1,0,1"}), "--cpus: '1' is listed more than once; list each once");
}

TEST(ParseOptions, RefusesAnUnknownWordWithASuggestion) {
  EXPECT_EQ(error_of({"--colour", "blue"}), "--colour blue: expected red or green");
  EXPECT_EQ(error_of({"--colour", "gren"}),
            "--colour gren: expected red or green; did you mean green?");
  EXPECT_EQ(error_of({"--colours", "red,blue"}),
            "--colours: 'blue' is not known; expected red or green");
  EXPECT_EQ(error_of({"--cases", "timr"}), "--cases: 'timr' is not known; did you mean timer?");
  EXPECT_EQ(error_of({"--cases", "timer,timer"}),
            "--cases: 'timer' is listed more than once; list each once");
}

TEST(ParseOptions, RefusesWhatIsGivenTwiceOrTooMuch) {
  EXPECT_EQ(error_of({"--priority", "1", "--priority=2"}),
            "--priority is given twice; expected it once");
  EXPECT_EQ(error_of({"--strict", "--strict"}), "--strict is given twice; expected it once");
  EXPECT_EQ(error_of({"--strict=yes"}), "--strict: takes no value; expected it without =yes");
  EXPECT_EQ(error_of({"other"}), "unexpected argument 'other'; see --help");
  EXPECT_EQ(error_of({"-1"}), "unexpected argument '-1'; see --help") << "it is a number";
}

TEST(ParseOptions, RefusesALineWithoutWhatIsRequired) {
  Settings to;
  OptionTable table = table_of(to);
  table.options.push_back(
      required(path("--result", "DIR", to.out, "results"), "a directory for the results"));
  const auto error = [&](const std::vector<std::string>& arguments) -> std::string {
    try {
      parse_options(table, arguments);
    } catch (const UsageError& problem) {
      return problem.what();
    }
    return "no error";
  };
  EXPECT_EQ(error({}), "no FILE; expected the path of a file");
  EXPECT_EQ(error({"file"}), "no --result; expected a directory for the results");
  EXPECT_EQ(error({"file", "--result", "x"}), "no error");
}

TEST(ParseOptions, AReaderOfItsOwnHasItsOwnMessage) {
  const OptionTable table{
      .program = "measure",
      .purpose = "Measures.",
      .options = {custom(
          "--even", "N", "an even number",
          [](std::string_view given) {
            if (given == "zero") {
              throw std::invalid_argument("'zero' is a word; expected digits");
            }
            return parse_number<int>(given).value_or(1) % 2 == 0;
          },
          "even")},
  };
  const auto error = [&](const std::string& value) -> std::string {
    try {
      parse_options(table, std::vector<std::string>{"--even", value});
    } catch (const UsageError& problem) {
      return problem.what();
    }
    return "no error";
  };
  EXPECT_EQ(error("2"), "no error");
  EXPECT_EQ(error("3"), "--even 3: expected an even number");
  EXPECT_EQ(error("zero"), "--even: 'zero' is a word; expected digits");
}

TEST(ParseOptions, PartOfAnotherCommandLineHasAPrefixAndNoHelp) {
  int count = 1;
  const OptionTable table{.program = {},
                          .purpose = {},
                          .options = {number("-i", "N", count, {0, 9}, "how often")},
                          .prefix = "--inner "};
  const auto error = [&](const std::vector<std::string>& arguments) -> std::string {
    try {
      parse_options(table, arguments);
    } catch (const UsageError& problem) {
      return problem.what();
    }
    return "no error";
  };
  EXPECT_EQ(error({"-i", "10"}), "--inner -i 10: expected a whole number from 0 to 9");
  EXPECT_EQ(error({"-x", "1"}), "unknown option --inner -x; expected one of -i");
  EXPECT_EQ(error({"--help"}), "unknown option --inner --help; expected one of -i");
  EXPECT_EQ(error({"x"}), "unexpected argument 'x'; expected an option");
}

TEST(ParseOptions, ACommandHasOptionsOfItsOwn) {
  std::filesystem::path trace;
  std::vector<std::string> names;
  const OptionTable table{
      .program = "tracer",
      .purpose = "Reads traces.",
      .commands = {{.program = "model",
                    .purpose = "Prints a model.",
                    .operands = {operand("TRACE", trace, "the directory of a trace")}},
                   {.program = "list",
                    .purpose = "Lists names.",
                    .operands = {operands("NAME", names, "only these")}}},
  };
  const auto error = [&](const std::vector<std::string>& arguments) -> std::string {
    try {
      parse_options(table, arguments);
    } catch (const UsageError& problem) {
      return problem.what();
    }
    return "no error";
  };
  EXPECT_EQ(parse_options(table, std::vector<std::string>{"list", "a", "b"}).command, "list");
  EXPECT_THAT(names, ElementsAre("a", "b"));
  EXPECT_EQ(error({}), "no command; expected one of model, list");
  EXPECT_EQ(error({"modle"}), "unknown command 'modle'; did you mean model?");
  EXPECT_EQ(error({"draw"}), "unknown command 'draw'; expected one of model, list");
  EXPECT_EQ(error({"model"}), "no TRACE; expected the directory of a trace");
  const auto answer = [&](const std::vector<std::string>& arguments) {
    return parse_options(table, arguments).answer.value_or("");
  };
  EXPECT_THAT(answer({"--help"}), HasSubstr("tracer model TRACE\n      Prints a model.\n"));
  EXPECT_THAT(answer({"list", "--help"}), HasSubstr("usage: tracer list [NAME...]\n"));
  EXPECT_EQ(answer({"draw", "--help"}), answer({"--help"}));
  EXPECT_THAT(answer({"list", "--version"}), testing::StartsWith("tracer "));
}

TEST(Help, ComesFromTheTable) {
  Settings to;
  to.out = ".";
  EXPECT_EQ(parse({"--help"}, to).answer,
            "usage: measure FILE [options] [--ros-args ...]\n"
            "\n"
            "Measures.\n"
            "\n"
            "  FILE             the path of a file\n"
            "  --priority N     of SCHED_FIFO, 1 to 99; default 80\n"
            "  --seed N         of the random numbers, from 0 on; default 0\n"
            "  --rounds N       rounds, from 1 on\n"
            "  --scale X        scale, above 0 and up to 2.5; default 1\n"
            "  --seconds S      how long, 0.1 to 3600; default 10\n"
            "  --limit US       the longest, 1 to 1000000\n"
            "  --strict         fails early\n"
            "  --sleepy         lets CPUs sleep\n"
            "  --name NAME      of the run\n"
            "  --label TEXT     of the figure\n"
            "  --out DIR        where the results go; default .\n"
            "  --cpus N,N,...   a thread on each, 0 to 1023\n"
            "  --colour NAME    of the lines: red or green; default green\n"
            "  --colours NAMES  of all lines: red or green\n"
            "  --cases A,B      only these: timer or publish\n"
            "  --help, --version\n"
            "\n"
            "exit code: 0 measured\n");
  const auto asked = parse({"--help"}, to).answer;
  EXPECT_EQ(parse({"-h", "--priority", "100"}, to).answer, asked);
  EXPECT_EQ(parse({"--priority", "100", "-h"}, to).answer, asked);
  EXPECT_EQ(parse({"--unknown", "--help"}, to).answer, asked);
}

TEST(Help, HasTheOptionsInItsFirstLineIfTheyAreFew) {
  bool strict = false;
  const OptionTable table{.program = "measure",
                          .purpose = "Measures.",
                          .options = {flag("--strict", strict, "fails early")}};
  EXPECT_THAT(help(table), HasSubstr("usage: measure [--strict]\n"));
}

TEST(Help, LinesAreAtMostEightyCharactersLong) {
  bool strict = false;
  std::string words;
  for (int i = 0; i < 60; ++i) {
    words += "word ";
  }
  words.pop_back();
  const OptionTable table{.program = "measure",
                          .purpose = words,
                          .options = {flag("--strict", strict, words),
                                      flag("--an-option-with-a-rather-long-name", strict, words)}};
  std::string text = help(table);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 80U) << text.substr(begin, end - begin);
    begin = end + 1;
  }
  EXPECT_THAT(text, HasSubstr("  --an-option-with-a-rather-long-name\n"));
}

TEST(Version, HasTheProgramsName) {
  Settings to;
  EXPECT_THAT(parse({"--version"}, to).answer.value_or(""),
              testing::MatchesRegex("measure [0-9]+[.][0-9]+[.][0-9]+\n"));
}

}  // namespace
}  // namespace rclrt::text
