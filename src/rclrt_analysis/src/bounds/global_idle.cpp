// SPDX-License-Identifier: Apache-2.0
// The least time in which the work that may delay a path leaves a CPU idle.
#include <algorithm>

#include "bounds/global_window.hpp"

namespace rclrt::analysis::detail {

/// Returns the least time y after `low` in which share() is less than the work of all CPUs, where
/// it is not at `low`, but at `high`. Divides the times between in turn in the middle, and where a
/// line between both ends has it.
Ticks GlobalWindow::first_idle_between(Ticks low, Ticks high) {
  const auto left_at = [this](Ticks y) { return product(y, own_executor_.cpus) - share(y); };
  Ticks lacking = low + 1 < high ? -left_at(low) : 0;
  Ticks left = low + 1 < high ? left_at(high) : 0;
  for (bool halves = false; low + 1 < high; halves = !halves) {
    const bool has_line = !halves && lacking >= 0 && left > 0;
    const double place =
        has_line ? static_cast<double>(lacking) / static_cast<double>(lacking + left) : 0.5;
    const auto step = static_cast<Ticks>(place * static_cast<double>(high - low));
    const Ticks y = low + std::clamp<Ticks>(has_line ? step + 1 : step, 1, high - low - 1);
    const Ticks there = left_at(y);
    (there > 0 ? high : low) = y;
    (there > 0 ? left : lacking) = there > 0 ? there : -there;
  }
  return high;
}

/// Returns the least time y in which the work that units may do is less than that of all CPUs.
/// `begun`: the work of those that have some from before the window's start; the others do `rest`.
///
/// The work is a concave function of y, so it is nowhere above its tangent. From a y that satisfies
/// this, the tangent there leads to a smaller one that does, too (Newton's method), after a few
/// steps to the least one. The tangent at any other y leads to one that does. `near`: such a y that
/// is near to the result; 0: unknown.
Ticks GlobalWindow::first_idle(Ticks Unit::* work, Ticks near) {
  const Ticks cpus = own_executor_.cpus;
  const auto next_of = [cpus](const Line& line) {
    const bool has_value = line.constant < kHorizon && line.slope < cpus;
    return has_value ? line.constant / (cpus - line.slope) + 1 : kHorizon;
  };
  for (Ticks y = near > 0 ? next_of(tangent(near, work)) : kHorizon;;) {
    const Line here = tangent(y, work);
    const Ticks next = next_of(here);
    if (next < y) {
      y = next;
      continue;
    }
    if (next >= kHorizon) {
      return kHorizon;  // the sum of the work has no value
    }
    if (y == 1 || !here.bends) {
      return y;
    }
    const Line before = tangent(y - 1, work);
    if (sum(before.constant, product(before.slope, y - 1)) >= product(cpus, y - 1)) {
      return y;
    }
    --y;
  }
}

/// Returns the work that units may do in times about y, as a line that touches it at y.
GlobalWindow::Line GlobalWindow::tangent(Ticks y, Ticks Unit::* work) {
  Line result;
  std::ranges::fill(turn_lines_, Line{});
  std::ranges::fill(place_lines_, Line{});
  const auto at = [&](std::optional<std::size_t> place) -> Line& {
    return place ? place_lines_[*place] : result;
  };
  for (const Unit& unit : units_) {
    const Ticks most = unit.at_start ? unit.*work : unit.rest;
    Line& line = unit.turn ? turn_lines_[*unit.turn] : at(unit.place);
    line.add({.constant = most}, y, unit.parallel);
  }
  for (std::size_t i = 0; i < turn_lines_.size(); ++i) {
    at(place_of_turn_[i]).add(turn_lines_[i], y, 1);
  }
  for (std::size_t i = 0; i < place_lines_.size(); ++i) {
    result.add(place_lines_[i], y, place_cpus_[i]);
  }
  return result;
}

/// Returns the work that units may do in a time y in which all CPUs run them.
Ticks GlobalWindow::share(Ticks y) {
  Ticks result = 0;
  const bool is_busy = start_ == WindowStart::kBusy;
  std::ranges::fill(turns_, y);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    places_[i] = product(y, place_cpus_[i]);
  }
  for (Unit& unit : units_) {
    const Ticks work = is_busy && unit.at_start ? unit.begun : unit.rest;
    unit.in_turn = std::min(work, product(y, unit.parallel));
    if (unit.turn) {
      unit.in_turn = std::min(unit.in_turn, turns_[*unit.turn]);
      turns_[*unit.turn] -= unit.in_turn;
    }
    unit.shared = unit.in_turn;
    if (const auto place = unit.turn ? place_of_turn_[*unit.turn] : unit.place) {
      unit.shared = std::min(unit.shared, places_[*place]);
      places_[*place] -= unit.shared;
    }
    result = sum(result, unit.shared);
  }
  return is_busy ? sum(result, most_carried_in(y)) : result;
}

}  // namespace rclrt::analysis::detail
