# SPDX-License-Identifier: Apache-2.0
"""The Gantt chart's data: for each window, what ran where, and what every chain did."""

from __future__ import annotations

from typing import Any

from rclrt_cli.application import ApplicationInfo
from rclrt_cli.comparison import Comparison
from rclrt_cli.csv_reader import InstanceRow
from rclrt_cli.report.windows import Window, choose, window_length
from rclrt_cli.run_data import Run
from rclrt_cli.table import by_urgency

MAX_SLICES = 800
"""Slices drawn in one panel; the note says when there were more."""
UNEXPLAINED_NS = 100_000
"""Difference of wall and CPU time that is not called a preemption."""

Interval = tuple[int, int]


def gantt_data(comparison: Comparison, application: ApplicationInfo) -> dict[str, Any]:
    length, note = window_length(application, comparison)
    choices = choose(comparison, length)
    panels = _Collector(comparison, [window for choice in choices for window in choice.windows])
    return {
        "note": note,
        "callbacks": [callback.id for callback in comparison.executors[0].callbacks],
        "choices": [
            {
                "label": choice.label,
                "length": choice.windows[0].length,
                "panels": [panels.data(window) for window in choice.windows],
            }
            for choice in choices
        ],
    }


class _Collector:
    """Reads every needed run once and sorts its rows into the windows."""

    def __init__(self, comparison: Comparison, windows: list[Window]) -> None:
        self._executors = [results.executor for results in comparison.executors]
        self._chains = [chain.id for chain in by_urgency(comparison)]
        self._deadlines = {
            chain.id: round(chain.deadline_ms * 1e6) for chain in comparison.executors[0].chains
        }
        self._callbacks = [callback.id for callback in comparison.executors[0].callbacks]
        self._instances: dict[Window, list[InstanceRow]] = {window: [] for window in windows}
        self._responses: dict[Window, list[list[Any]]] = {window: [] for window in windows}
        self._cut: set[Window] = set()
        for executor in self._executors:
            for run in comparison.runs[executor]:
                number = run.directory.name.removeprefix("round-")
                here = [
                    window
                    for window in dict.fromkeys(windows)
                    if window.executor == executor
                    and (comparison.is_single_run or str(window.round) == number)
                ]
                if here:
                    self._read(run, here)

    def _read(self, run: Run, windows: list[Window]) -> None:
        for row in run.chain_rows():
            deadline = row.release + self._deadlines[row.chain]
            last = max(row.completion or deadline, deadline)
            for window in windows:
                if row.release < window.end and last >= window.start:
                    completion = None if row.completion is None else row.completion - window.start
                    self._responses[window].append(
                        [
                            self._chains.index(row.chain),
                            row.instance,
                            row.release - window.start,
                            completion,
                            deadline - window.start,
                            row.status,
                            row.host_stall,
                        ]
                    )
        for instance in run.instance_rows():
            for window in windows:
                if instance.start < window.end and instance.end > window.start:
                    if len(self._instances[window]) < MAX_SLICES:
                        self._instances[window].append(instance)
                    else:
                        self._cut.add(window)

    def data(self, window: Window) -> dict[str, Any]:
        rows = self._instances[window]
        priorities: dict[str, int] = {}
        for row in rows:
            priorities[row.thread] = max(row.priority, priorities.get(row.thread, row.priority))
        tracks = sorted(priorities, key=lambda name: (-priorities[name], name))
        return {
            "executor": self._executors.index(window.executor),
            "round": window.round,
            "start": window.start,
            "chain": self._chains.index(window.chain) if window.chain else None,
            "instance": window.instance,
            "cut": window in self._cut,
            "tracks": tracks,
            "responses": self._responses[window],
            "slices": [self._slice(row, rows, tracks, window.start) for row in rows],
        }

    def _slice(
        self, row: InstanceRow, rows: list[InstanceRow], tracks: list[str], origin: int
    ) -> dict[str, Any]:
        return {
            "callback": self._callbacks.index(row.callback),
            "track": tracks.index(row.thread),
            "chain": self._chain(row.tokens),
            "priority": row.priority,
            "release": row.release - origin,
            "ready": row.ready - origin,
            "start": row.start - origin,
            "end": row.end - origin,
            "cpu": row.cpu,
            "preemptions": row.preemptions,
            "outcome": row.outcome,
            "tokens": row.tokens,
            "paused": [(first - origin, last - origin) for first, last in paused(row, rows)],
        }

    def _chain(self, tokens: str) -> int | None:
        """The most urgent chain whose token the instance carried."""
        carried = [token.rpartition(":")[0] for token in tokens.split(";") if token]
        known = [self._chains.index(chain) for chain in carried if chain in self._chains]
        return min(known, default=None)


def paused(row: InstanceRow, rows: list[InstanceRow]) -> list[Interval]:
    """When a slice stood still because a more urgent one ran.

    Known only by inference: the slice used less CPU time than it lasted, and more urgent slices
    that overlap it account for no more than the difference. (On several cores they may have run
    beside it.)
    """
    gap = row.end - row.start - row.cpu
    if gap <= UNEXPLAINED_NS // 2:
        return []
    overlaps = sorted(
        (max(other.start, row.start), min(other.end, row.end))
        for other in rows
        if other.priority > row.priority and other.start < row.end and other.end > row.start
    )
    joined: list[Interval] = []
    for start, end in overlaps:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    stood = sum(end - start for start, end in joined)
    return joined if stood <= gap + UNEXPLAINED_NS else []
