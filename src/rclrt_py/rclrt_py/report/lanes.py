# SPDX-License-Identifier: Apache-2.0
"""Turns recorded slices into the lanes of a Gantt chart: when a slice paused, and its lane."""

from __future__ import annotations

from collections.abc import Sequence

from rclrt_py.runs.cpu_parts import have_times
from rclrt_py.runs.csv_reader import InstanceRow

UNEXPLAINED_NS = 100_000
"""Tolerance: a difference of wall and CPU time that is not called a preemption."""

Interval = tuple[int, int]


def paused(row: InstanceRow, rows: Sequence[InstanceRow]) -> list[Interval]:
    """Returns the intervals in which the execution `row` was preempted by others of `rows`, in
    nanoseconds since the start of the run; empty if it was not.

    Without the times of the parts of an execution, its preemptions are inferred: an execution that
    used less CPU time than it lasted was preempted by executions of higher priority, or by ones of
    the same priority that began and ended within it. If those together last longer than the missing
    CPU time, they may have run in parallel on other cores, and the result is empty. Executions that
    are known to have run on other cores do not count.
    """
    if have_times(row.cpus):
        return _gaps(row)
    gap = row.end - row.start - row.cpu
    if gap <= UNEXPLAINED_NS // 2:
        return []
    joined = _union(
        [
            (max(other.start, row.start), min(other.end, row.end))
            for other in rows
            if other.start < row.end and other.end > row.start and _displaces(other, row)
        ]
    )
    stood = sum(end - start for start, end in joined)
    return joined if stood <= gap + UNEXPLAINED_NS else []


def _gaps(row: InstanceRow) -> list[Interval]:
    """Returns the intervals in which an execution with known parts did not run."""
    gaps = []
    last = row.start
    for part in row.cpus:
        if last < min(part.start, row.end):
            gaps.append((last, min(part.start, row.end)))
        last = max(last, part.end)
    return [*gaps, (last, row.end)] if last < row.end else gaps


def _displaces(other: InstanceRow, row: InstanceRow) -> bool:
    here, there = ({part.cpu for part in each.cpus} for each in (row, other))
    if len(here) == 1 and len(there) == 1 and here != there:
        return False
    if other.priority == row.priority:
        return row.start < other.start and other.end <= row.end
    return other.priority > row.priority


def _union(intervals: list[Interval]) -> list[Interval]:
    joined: list[Interval] = []
    for start, end in sorted(intervals):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def running(row: InstanceRow, pauses: Sequence[Interval]) -> list[Interval]:
    """Returns the slice without its pauses."""
    edges = [row.start, *(edge for pause in pauses for edge in pause), row.end]
    return [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if end > start]


def pack(
    rows: Sequence[InstanceRow], pauses: Sequence[Sequence[Interval]]
) -> tuple[list[str], list[int]]:
    """Distributes the executions `rows` over lanes of a chart. Returns the names of the lanes, the
    most urgent first, and for each row the index of its lane.

    Threads of one priority share a lane as long as no two of them run at the same time. Without
    this rule, an executor that starts a thread per instance would need dozens of lanes.
    """
    levels: dict[str, int] = {}
    for row in rows:
        level = level_of(row.thread)
        levels[level] = max(row.priority, levels.get(level, row.priority))
    # The intervals of each lane that a later slice could still overlap.
    busy: dict[str, list[list[Interval]]] = {level: [] for level in levels}
    place: dict[int, tuple[str, int]] = {}
    for index in sorted(range(len(rows)), key=lambda index: rows[index].start):
        lanes = busy[level_of(rows[index].thread)]
        mine = running(rows[index], pauses[index])
        number = 0
        for lane in lanes:
            lane[:] = [interval for interval in lane if interval[1] > rows[index].start]
            if not any(_meet(a, b) for a in lane for b in mine):
                break
            number += 1
        else:
            lanes.append([])
        lanes[number].extend(mine)
        place[index] = level_of(rows[index].thread), number
    names: list[str] = []
    first: dict[str, int] = {}
    for level in sorted(levels, key=lambda level: (-levels[level], level)):
        first[level] = len(names)
        names += [f"{level} ({n + 1})" if n else level for n in range(len(busy[level]))]
    lane_of = [first[level] + n for level, n in (place[index] for index in range(len(rows)))]
    return names, lane_of


def level_of(thread: str) -> str:
    """Returns `main L2` for the display track `main L2 #0`."""
    return thread.rpartition(" #")[0] or thread


def _meet(a: Interval, b: Interval) -> bool:
    return a[0] < b[1] and b[0] < a[1]
