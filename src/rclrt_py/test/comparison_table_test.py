# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rclrt_py.comparisons.comparison import Comparison, load_single_run
from rclrt_py.report.comparison_table import held_back_text, print_table, table_lines
from rclrt_py.runs.cause_effect import CauseEffectResult
from rclrt_py.runs.cause_effect_way import Way, WayTerm
from rclrt_py.runs.results import Results
from rclrt_py.stats import Summary
from rclrt_py.terminal.table import Paint
from rclrt_py.testing.synthetic_run import write_run


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def plain(comparison: Comparison) -> list[str]:
    return list(table_lines(comparison, Paint(False)))


def rows_of(comparison: Comparison, chain: str) -> list[str]:
    """The lines of one chain's block."""
    lines = plain(comparison)
    start = next(number for number, line in enumerate(lines) if line.startswith(chain + " "))
    return lines[start + 1 : start + 1 + len(comparison.executors)]


def with_first_chain(results: Results, **changes: object) -> Results:
    first, *others = results.chains
    return replace(results, chains=(replace(first, **changes), *others))  # type: ignore[arg-type]


def test_every_line_fits_120_columns(comparison: Comparison) -> None:
    assert max(len(line) for line in plain(comparison)) <= 120


def test_huge_figures_and_names_still_fit(comparison: Comparison) -> None:
    first = comparison.executors[0]
    response = first.chains[0].response
    assert response is not None
    huge = with_first_chain(
        first, response=replace(response, worst=9_876_543.21), released=10_000_000, id="x" * 255
    )
    huge = replace(huge, executor_label="y" * 300)
    lines = plain(replace(comparison, executors=(huge,)))
    assert max(len(line) for line in lines) <= 120


def test_the_most_urgent_chain_comes_first(comparison: Comparison) -> None:
    titles = [line.split()[0] for line in plain(comparison) if "priority" in line]
    assert titles == ["obstacle", "planning", "mapping"]


def test_the_baseline_has_ratio_one_and_the_others_are_divided_by_it(
    comparison: Comparison,
) -> None:
    base, *_, preemptive = rows_of(comparison, "obstacle")
    assert base.startswith("wait set (rclcpp semantics) ")
    assert base.split()[-2:] == ["1.00", "1.00"]
    mine = comparison.executors[-1].chain("obstacle")
    theirs = comparison.executors[0].chain("obstacle")
    assert mine is not None
    assert theirs is not None
    assert mine.response is not None
    assert theirs.response is not None
    expected = [
        f"{mine.response.p99 / theirs.response.p99:.2f}",
        f"{mine.response.jitter / theirs.response.jitter:.2f}",
    ]
    assert preemptive.split()[-2:] == expected


def test_sample_counts_stand_before_every_percentile(comparison: Comparison) -> None:
    for line in rows_of(comparison, "obstacle"):
        counts = re.findall(r" \d+(?![\d.])", line)[:2]
        assert counts[0].strip() == "120"  # 2 rounds of 3 s, every 50 ms


def test_misses_explained_by_the_host_are_in_parentheses(comparison: Comparison) -> None:
    results = with_first_chain(comparison.executors[-1], missed=3, missed_host=2)
    (row,) = rows_of(replace(comparison, executors=(results,)), "obstacle")
    assert " 3 (2) " in row


def test_what_never_completed_is_a_dash(comparison: Comparison) -> None:
    results = with_first_chain(comparison.executors[-1], response=None, completed=0)
    (row,) = rows_of(replace(comparison, executors=(results,)), "obstacle")
    assert row.split()[-6:] == ["-"] * 6


def test_a_single_run_has_no_ratios(tmp_path: Path) -> None:
    lines = plain(load_single_run(write_run(tmp_path / "run", seconds=1.0)))
    assert not any("ratio" in line.lower() for line in lines)


def test_that_it_was_not_real_time_is_said_with_the_reason(comparison: Comparison) -> None:
    results = comparison.executors[-1]
    context = {**results.context, "realtime": False, "realtime_reason": "SCHED_FIFO denied " * 12}
    lines = plain(replace(comparison, executors=(replace(results, context=context),)))
    assert any(line.startswith("Not real-time: SCHED_FIFO denied") for line in lines)
    assert max(len(line) for line in lines) <= 120


def test_dropped_records_are_said(comparison: Comparison) -> None:
    results = comparison.executors[-1]
    context = {**results.context, "records_dropped": 7}
    lines = plain(replace(comparison, executors=(replace(results, context=context),)))
    assert "7 records were dropped: the figures are incomplete." in lines


@pytest.mark.parametrize(
    ("stream", "environment", "coloured"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),  # no-color.org: only when not empty
        (io.StringIO(), {}, False),
    ],
)
def test_colour_is_for_terminals_without_no_color(
    comparison: Comparison, stream: io.StringIO, environment: dict[str, str], coloured: bool
) -> None:
    print_table(comparison, stream, environment)
    assert ("\x1b[" in stream.getvalue()) == coloured


def test_what_the_kernel_held_back_is_said_with_its_cause() -> None:
    assert held_back_text({}) == ""
    held_back = {"count": 3, "total_ms": 51.75, "worst_ms": 50.25, "limit": "95 %"}
    assert held_back_text({"held_back": held_back}) == (
        "The kernel held real-time threads back 3 times, 51.8 ms in all: they may have 95 %."
    )


def test_chains_that_sample_have_lines_of_their_own(comparison: Comparison) -> None:
    times = Summary(1.0, 2.0, 2.5, 3.0, 31.25)
    sampled = CauseEffectResult(
        "eye", ("see" * 60, "act"), None, 30.0, 9, 8, 12, 1, 0, 2, None, times
    )
    executors = tuple(
        replace(results, cause_effect_chains=(sampled,)) for results in comparison.executors
    )
    lines = plain(replace(comparison, executors=executors))
    assert not any("longest wait" in line for line in lines)
    start = next(number for number, line in enumerate(lines) if line.startswith("eye "))
    assert lines[start + 1].split()[-9:] == "reaction 8 of 9 12 - - - - - 0".split()[-9:]
    assert lines[start + 2].split() == "data age 8 of 9 12 1.000 2.500 3.000 31.250 30 2".split()
    assert max(map(len, lines)) <= 120


def sampled_way(wait_ms: float, bound_ms: float | None) -> Way:
    """Returns the way of a data age with this wait."""
    return Way(
        end_ms=100.0,
        time_ms=wait_ms + 8,
        terms=(
            WayTerm("response", "eye_1", "see", 4, 6.0, 7.5),
            WayTerm("sampling", "eye_2", "act", 5, wait_ms, bound_ms),
            WayTerm("response", "eye_2", "act", 5, 2.0),
        ),
    )


def test_the_longest_wait_of_a_chain_that_samples_is_one_line(comparison: Comparison) -> None:
    ages = Summary(1.0, 2.0, 2.5, 3.0, 31.25)
    first, *others = comparison.executors
    chain = CauseEffectResult("eye", ("eye_1", "eye_2"), None, 30, 9, 8, 12, 1, 0, 2, None, ages)
    slow = replace(chain, worst_age=sampled_way(20.25, 25.0), worst_reaction=sampled_way(12, 25.0))
    fast = replace(chain, worst_age=sampled_way(10, None))
    executors = tuple(
        replace(results, cause_effect_chains=(own,))
        for results, own in ((first, slow), *((other, fast) for other in others))
    )
    (line,) = [line for line in plain(replace(comparison, executors=executors)) if "wait:" in line]
    assert line.startswith(
        "  longest wait: 20.250 ms (25 in the bound) until act runs and reads the value; worst "
        f"data age, {first.executor_label[:10]}"
    )
    assert len(line) <= 120
    alone = replace(executors[0], cause_effect_chains=(fast,))
    (line,) = [line for line in plain(replace(comparison, executors=(alone,))) if "wait:" in line]
    assert line == "  longest wait: 10.000 ms until act runs and reads the value; worst data age"
