// SPDX-License-Identifier: Apache-2.0
#include "rclrt/text/option.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "rclrt/text/nearest_word.hpp"

namespace rclrt::text {

namespace {

using std::chrono::nanoseconds;

constexpr double kExactWhole = 1e15;  // whole numbers up to here are written as such

/// Returns "fifo, rr or other".
std::string list_of(const std::vector<std::string>& words) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    list += i == 0 ? "" : (i + 1 == words.size() ? " or " : ", ");
    list += words[i];
  }
  return list;
}

const char* name_of(nanoseconds unit) {
  return unit == std::chrono::seconds(1)        ? "seconds"
         : unit == std::chrono::milliseconds(1) ? "milliseconds"
         : unit == std::chrono::microseconds(1) ? "microseconds"
                                                : "nanoseconds";
}

double count_of(nanoseconds time, nanoseconds unit) {
  return static_cast<double>(time.count()) / static_cast<double>(unit.count());
}

std::optional<nanoseconds> parse_duration(std::string_view given, nanoseconds unit,
                                          Range<double> range) {
  const auto value = parse_number<double>(given, range);
  if (!value) {
    return std::nullopt;
  }
  const auto time = nanoseconds(std::llround(*value * static_cast<double>(unit.count())));
  return *value > 0 ? std::max(time, nanoseconds(1)) : time;
}

Option duration_option(std::string name, std::string value, nanoseconds unit, Range<double> range,
                       std::string help) {
  Option option{std::move(name), std::move(value), std::move(help), {}};
  detail::describe(option, std::string("a number of ") + name_of(unit),
                   {detail::number_text(range.least), detail::number_text(range.most)});
  return option;
}

}  // namespace

namespace detail {

std::string number_text(double number) {
  std::array<char, 32> buffer{};
  if (number == kAboveZero) {
    return "above 0";
  }
  if (number == std::trunc(number) && std::abs(number) < kExactWhole) {
    std::snprintf(buffer.data(), buffer.size(), "%.0f", number);
    return buffer.data();
  }
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr};
}

void describe(Option& option, std::string_view what, const Bounds& bounds) {
  const auto& [least, most] = bounds;
  const bool open = least == number_text(kAboveZero);
  option.expected = what;
  if (!least.empty()) {
    option.expected += (open ? " " : " from ") + least;
    option.expected +=
        most.empty() ? (open ? "" : " on") : ((open ? " and up to " : " to ") + most);
    option.range = ", " + (open ? least : (most.empty() ? "from " : "") + least);
    option.range += most.empty() ? (open ? "" : " on") : ((open ? " and up to " : " to ") + most);
  } else if (!most.empty()) {
    option.expected += " up to " + most;
    option.range = ", up to " + most;
  }
}

void describe(Option& option, std::vector<std::string> words) {
  option.expected = list_of(words);
  option.range = ": " + option.expected;
  option.words = std::move(words);
}

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    if (std::ranges::find(parts, part) != parts.end()) {
      throw std::invalid_argument("'" + std::string(part) +
                                  "' is listed more than once; list each once");
    }
    parts.push_back(part);
    begin = end + 1;
  }
  return parts;
}

std::vector<std::size_t> indices_of(std::string_view list, const std::vector<std::string>& words) {
  std::vector<std::size_t> indices;
  for (const std::string_view part : split_list(list)) {
    const auto found = std::ranges::find(words, part);
    if (found == words.end()) {
      const std::vector<std::string_view> known(words.begin(), words.end());
      const std::string_view guess = nearest_word(part, known);
      throw std::invalid_argument("'" + std::string(part) + "' is not known; " +
                                  (guess.empty() ? "expected " + list_of(words)
                                                 : "did you mean " + std::string(guess) + "?"));
    }
    indices.push_back(static_cast<std::size_t>(found - words.begin()));
  }
  return indices;
}

}  // namespace detail

Option flag(std::string name, bool& to, std::string help, bool value) {
  Option option{std::move(name), {}, std::move(help), {}};
  option.store = [&to, value](std::string_view) {
    to = value;
    return true;
  };
  return option;
}

Option custom(std::string name, std::string value, std::string expected,
              std::function<bool(std::string_view)> store, std::string help) {
  Option option{std::move(name), std::move(value), std::move(help), std::move(expected)};
  option.store = std::move(store);
  return option;
}

Option text(std::string name, std::string value, std::string& to, std::string help) {
  Option option = custom(
      std::move(name), std::move(value), {},
      [&to](std::string_view given) {
        to = given;
        return true;
      },
      std::move(help));
  option.standard = to;
  return option;
}

Option text(std::string name, std::string value, std::optional<std::string>& to, std::string help) {
  return custom(
      std::move(name), std::move(value), {},
      [&to](std::string_view given) {
        to = given;
        return true;
      },
      std::move(help));
}

Option path(std::string name, std::string value, std::filesystem::path& to, std::string help) {
  Option option = custom(
      std::move(name), std::move(value), {},
      [&to](std::string_view given) {
        to = given;
        return true;
      },
      std::move(help));
  option.standard = to.string();
  return option;
}

Option duration(std::string name, std::string value, nanoseconds& to, nanoseconds unit,
                Range<double> range, std::string help) {
  Option option = duration_option(std::move(name), std::move(value), unit, range, std::move(help));
  const double standard = count_of(to, unit);
  if (standard >= range.least && standard <= range.most) {
    option.standard = detail::number_text(standard);
  }
  option.store = [&to, unit, range](std::string_view given) {
    const auto time = parse_duration(given, unit, range);
    to = time.value_or(to);
    return time.has_value();
  };
  return option;
}

Option duration(std::string name, std::string value, std::optional<nanoseconds>& to,
                nanoseconds unit, Range<double> range, std::string help) {
  Option option = duration_option(std::move(name), std::move(value), unit, range, std::move(help));
  option.store = [&to, unit, range](std::string_view given) {
    to = parse_duration(given, unit, range);
    return to.has_value();
  };
  return option;
}

Option numbers(std::string name, std::string value, std::vector<int>& to, Range<int> range,
               std::string help) {
  Option option = detail::number_option(std::move(name), std::move(value), range, std::move(help));
  option.expected += ", or several with commas between them";
  option.store = [&to, range](std::string_view given) {
    std::vector<int> stated;
    for (const std::string_view each : detail::split_list(given)) {
      const auto parsed = parse_number<int>(each, range);
      if (!parsed) {
        return false;
      }
      stated.push_back(*parsed);
    }
    to = std::move(stated);
    return true;
  };
  return option;
}

Option words(std::string name, std::string value, std::vector<std::string>& to,
             std::vector<std::string> known, std::string help) {
  Option option{std::move(name), std::move(value), std::move(help), {}};
  detail::describe(option, known);
  option.store = [&to, known = std::move(known)](std::string_view given) {
    to.clear();
    for (const std::size_t index : detail::indices_of(given, known)) {
      to.push_back(known[index]);
    }
    return true;
  };
  return option;
}

Option required(Option option, std::string expected) {
  option.required = std::move(expected);
  option.standard.clear();
  return option;
}

Option operand(std::string name, std::filesystem::path& to, std::string expected) {
  return required(path(std::move(name), {}, to, {}), std::move(expected));
}

Option operands(std::string name, std::vector<std::string>& to, std::string help) {
  Option option = custom(
      std::move(name), {}, {},
      [&to](std::string_view given) {
        to.emplace_back(given);
        return true;
      },
      std::move(help));
  option.repeats = true;
  return option;
}

}  // namespace rclrt::text
