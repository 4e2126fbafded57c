# SPDX-License-Identifier: Apache-2.0
"""When a slice paused, and the lane in which it is drawn."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st
from rclrt_py.report.lanes import pack, paused, running
from rclrt_py.runs.cpu_parts import parse_cpus
from rclrt_py.runs.csv_reader import InstanceRow

MS = 1_000_000
instants = st.tuples(st.integers(0, 50), st.integers(1, 20))


def slice_of(
    priority: int, start: int, end: int, cpu: int, thread: str = "main", cpus: str = ""
) -> InstanceRow:
    parts = parse_cpus(cpus)
    assert parts is not None
    return InstanceRow(0, "c", priority, thread, start, start, start, end, cpu, 0, "ran", "", parts)


def test_a_slice_is_paused_while_a_more_urgent_one_runs() -> None:
    low = slice_of(1, 0, 10 * MS, 6 * MS)  # 10 ms long, 6 ms of CPU: it paused for 4 ms
    first, second = slice_of(2, 2 * MS, 4 * MS, 2 * MS), slice_of(3, 4 * MS, 6 * MS, 2 * MS)
    assert paused(low, [low, second, first]) == [(2 * MS, 6 * MS)]
    assert paused(first, [low, second, first]) == []


def test_a_slice_that_used_the_cpu_all_the_time_was_not_paused() -> None:
    # On two cores the other one ran beside it.
    low = slice_of(1, 0, 10 * MS, 10 * MS)
    assert paused(low, [low, slice_of(2, 2 * MS, 4 * MS, 2 * MS)]) == []


def test_when_overlaps_exceed_the_time_it_stood_still_nothing_is_claimed() -> None:
    low = slice_of(1, 0, 10 * MS, 9 * MS)
    assert paused(low, [low, slice_of(2, 2 * MS, 8 * MS, 6 * MS)]) == []


def test_a_slice_of_the_same_level_that_ran_within_another_one_paused_it() -> None:
    # With a thread per instance, the publisher's thread continues when the subscriber's has ended.
    outer, inner = slice_of(1, 0, 10 * MS, 2 * MS), slice_of(1, MS, 9 * MS, 8 * MS)
    assert paused(outer, [outer, inner]) == [(MS, 9 * MS)]
    assert paused(inner, [outer, inner]) == []


def test_the_pauses_of_a_slice_with_known_parts_are_between_them() -> None:
    # It was picked up at 8 and has the CPU again when the other one ends, or on another CPU.
    low = slice_of(1, 10, 100, 55, cpus="0:8-20;1:30-60;0:70-90")
    others = [low, slice_of(2, 40, 50, 10, cpus="0")]
    assert paused(low, others) == [(20, 30), (60, 70), (90, 100)]
    assert running(low, paused(low, others)) == [(10, 20), (30, 60), (70, 90)]
    assert paused(slice_of(1, 10, 20, 10, cpus="0:12-15"), []) == [(10, 12), (15, 20)]


def test_a_slice_on_another_cpu_paused_nothing() -> None:
    low = slice_of(1, 0, 10 * MS, 6 * MS, cpus="0")
    here = slice_of(2, 2 * MS, 4 * MS, 2 * MS, cpus="0")
    there = slice_of(3, 4 * MS, 6 * MS, 2 * MS, cpus="1")
    moved = slice_of(3, 7 * MS, 8 * MS, 1 * MS, cpus="1;0")
    assert paused(low, [low, here, there]) == [(2 * MS, 4 * MS)]
    assert paused(low, [low, here, moved]) == [(2 * MS, 4 * MS), (7 * MS, 8 * MS)]


def test_a_slice_without_its_pauses_is_what_ran() -> None:
    row = slice_of(1, 0, 10, 5)
    assert running(row, []) == [(0, 10)]
    assert running(row, [(2, 4), (6, 10)]) == [(0, 2), (4, 6)]


def test_threads_of_one_level_share_a_lane_while_they_do_not_run_at_once() -> None:
    rows = [
        slice_of(1, 0, 10, 4, "main L1 #0"),
        slice_of(1, 2, 8, 6, "main L1 #1"),  # within the first one's pause
        slice_of(2, 0, 5, 5, "main L2 #0"),
    ]
    assert pack(rows, [[(2, 8)], [], []]) == (["main L2", "main L1"], [1, 1, 0])


def test_slices_that_run_at_once_get_lanes_of_their_own() -> None:
    rows = [slice_of(1, 0, 10, 10, "main L1 #0"), slice_of(1, 5, 15, 10, "main L1 #1")]
    assert pack(rows, [[], []]) == (["main L1", "main L1 (2)"], [0, 1])


@given(st.lists(instants, max_size=30))
def test_no_two_slices_of_a_lane_run_at_once(spans: list[tuple[int, int]]) -> None:
    rows = [slice_of(1, start, start + length, length) for start, length in spans]
    names, lanes = pack(rows, [[] for _ in rows])
    assert set(lanes) == set(range(len(names)))
    for a, b in combinations(range(len(rows)), 2):
        if lanes[a] == lanes[b]:
            assert rows[a].end <= rows[b].start or rows[b].end <= rows[a].start
