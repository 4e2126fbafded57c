# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rclrt_py.stats import Summary, nearest_rank, summarise

MS = 1_000_000
times = st.lists(st.integers(0, 10**12), min_size=1, max_size=400)


def test_nearest_rank_of_the_textbook_example_is_a_measured_value() -> None:
    # Values 15, 20, 35, 40, 50: rank = ceil(p / 100 * 5).
    values = [15, 20, 35, 40, 50]
    assert nearest_rank(values, 5) == 15  # ceil(0.25) = 1
    assert nearest_rank(values, 30) == 20  # ceil(1.5) = 2
    assert nearest_rank(values, 40) == 20  # ceil(2.0) = 2
    assert nearest_rank(values, 50) == 35  # ceil(2.5) = 3
    assert nearest_rank(values, 100) == 50


def test_p99_of_one_hundred_values_is_the_99th_and_of_101_the_100th() -> None:
    assert nearest_rank(range(1, 101), 99) == 99
    assert nearest_rank(range(1, 102), 99) == 100  # ceil(99.99) = 100


def test_no_rounding_of_floating_point_moves_a_percentile() -> None:
    # 0.07 * 100 is 7.000000000000001 in binary: its ceil would be rank 8.
    assert math.ceil(0.07 * 100) == 8
    assert nearest_rank(range(1, 101), 7) == 7


@pytest.mark.parametrize("percent", [0, -1, 101])
def test_a_percentage_out_of_range_is_refused(percent: int) -> None:
    with pytest.raises(ValueError, match=r"1\.\.100"):
        nearest_rank([1], percent)


def test_there_is_no_percentile_of_nothing() -> None:
    with pytest.raises(ValueError, match="nothing"):
        nearest_rank([], 50)


def test_summary_of_hand_computed_numbers() -> None:
    # Sorted: 1, 2, 3, 10 ms. Mean 16 / 4 = 4; p50: rank 2 -> 2; p99: rank 4 -> 10.
    summary = summarise([10 * MS, 1 * MS, 3 * MS, 2 * MS])
    assert summary == Summary(best=1.0, mean=4.0, p50=2.0, p99=10.0, worst=10.0)
    assert summary is not None
    assert summary.jitter == 9.0


def test_the_mean_is_rounded_to_whole_nanoseconds_like_the_runners() -> None:
    summary = summarise([1, 2, 2])  # 5 / 3 = 1.67 ns
    assert summary is not None
    assert summary.mean == 2e-6
    summary = summarise([1, 2])  # 1.5 ns: half goes up
    assert summary is not None
    assert summary.mean == 2e-6


def test_nothing_has_no_summary() -> None:
    assert summarise([]) is None


@given(times, st.integers(1, 100))
def test_at_least_p_percent_are_not_above_the_percentile(values: list[int], percent: int) -> None:
    value = nearest_rank(sorted(values), percent)
    share = Fraction(100 * sum(other <= value for other in values), len(values))
    below = Fraction(100 * sum(other < value for other in values), len(values))
    assert value in values
    assert share >= percent
    assert below < percent


@given(times)
def test_a_summary_is_ordered_and_does_not_depend_on_the_order(values: list[int]) -> None:
    summary = summarise(values)
    assert summary == summarise(sorted(values, reverse=True))
    assert summary is not None
    assert summary.best <= summary.p50 <= summary.p99 <= summary.worst
    assert summary.best <= summary.mean <= summary.worst
