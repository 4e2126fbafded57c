# SPDX-License-Identifier: Apache-2.0
"""The data of the Gantt chart: for each window, the slices and the instances of every chain."""

from __future__ import annotations

from typing import Any

from rclrt_py.comparisons.comparison import Comparison
from rclrt_py.report.comparison_table import in_report_order
from rclrt_py.report.lanes import Interval, pack, paused
from rclrt_py.report.windows import Window, choose, round_number, window_length
from rclrt_py.runs.application import ApplicationInfo
from rclrt_py.runs.cpu_parts import around, have_times, migrations
from rclrt_py.runs.csv_reader import InstanceRow
from rclrt_py.runs.run_data import Run

MAX_SLICES = 800
"""Limit on the slices that are drawn in one panel. A note reports when there were more."""
MOST_CPUS = 64
"""Limit on the rows of CPUs in one panel."""
MAX_PARTS = 1600
"""Limit on the parts of interrupted slices in one panel."""


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
        self._chains = [chain.id for chain in in_report_order(comparison)]
        self._deadlines = {
            chain.id: round(chain.deadline_ms * 1e6) for chain in comparison.executors[0].chains
        }
        self._callbacks = [callback.id for callback in comparison.executors[0].callbacks]
        self._instances: dict[Window, list[InstanceRow]] = {window: [] for window in windows}
        self._responses: dict[Window, list[list[Any]]] = {window: [] for window in windows}
        self._migrations: dict[Window, list[int]] = {window: [] for window in windows}
        self._room = dict.fromkeys(windows, MAX_PARTS)
        self._cut: set[Window] = set()
        self._cpus: dict[tuple[str, int], set[int]] = {}  # by executor and round
        for executor in self._executors:
            for run in comparison.runs[executor]:
                number = round_number(comparison, run.directory.name)
                here = [
                    window
                    for window in dict.fromkeys(windows)
                    if window.executor == executor and window.round == number
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
        cpus = self._cpus.setdefault((windows[0].executor, windows[0].round), set())
        for instance in run.instance_rows():
            cpus.update(part.cpu for part in instance.cpus)
            for window in windows:
                if instance.start < window.end and instance.end > window.start:
                    if len(self._instances[window]) < MAX_SLICES:
                        self._add(window, instance)
                    else:
                        self._cut.add(window)

    def _add(self, window: Window, instance: InstanceRow) -> None:
        """Adds an instance with those of its parts that are in the window, as far as they fit."""
        self._migrations[window].append(migrations(instance.cpus))
        parts = around(instance.cpus, window.start, window.end)
        if len(parts) > self._room[window]:
            parts = parts[: self._room[window]]
            self._cut.add(window)
        self._room[window] -= len(parts) if have_times(parts) else 0
        self._instances[window].append(instance._replace(cpus=parts))

    def data(self, window: Window) -> dict[str, Any]:
        rows = self._instances[window]
        pauses = [paused(row, rows) for row in rows]
        tracks, lanes = pack(rows, pauses)
        moves = self._migrations[window]
        slices = [
            {**self._slice(row, lane, stood, window), "migrations": moved}
            for row, lane, stood, moved in zip(rows, lanes, pauses, moves, strict=True)
        ]
        # The slice that began first is drawn first: slices within it lie above its pause.
        slices.sort(key=lambda one: int(one["start"]))
        return {
            "executor": self._executors.index(window.executor),
            "round": window.round,
            "start": window.start,
            "chain": self._chains.index(window.chain) if window.chain else None,
            "instance": window.instance,
            "cut": window in self._cut,
            "tracks": tracks,
            "cpus": sorted(self._cpus.get((window.executor, window.round), ()))[:MOST_CPUS],
            "responses": self._responses[window],
            "slices": slices,
        }

    def _slice(
        self, row: InstanceRow, lane: int, pauses: list[Interval], window: Window
    ) -> dict[str, Any]:
        origin = window.start
        return {
            "callback": self._callbacks.index(row.callback),
            "track": lane,
            "thread": row.thread,
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
            "paused": [(first - origin, last - origin) for first, last in pauses],
            **_on_cpus(row, window),
        }

    def _chain(self, tokens: str) -> int | None:
        """Returns the most urgent of the chains that have a token on the instance."""
        carried = [token.rpartition(":")[0] for token in tokens.split(";") if token]
        known = [self._chains.index(chain) for chain in carried if chain in self._chains]
        return min(known, default=None)


def _on_cpus(row: InstanceRow, window: Window) -> dict[str, Any]:
    """Returns the CPUs of a slice. Either "parts", which lie in the window: CPU, start, end, and,
    if the slice ran on another CPU before, that one; or "cpus": the CPU at its begin and, if it is
    another one, that at its end; or nothing, if no CPU is known."""
    if not have_times(row.cpus):
        return {"cpus": [part.cpu for part in row.cpus]} if row.cpus else {}
    found = []
    before = row.cpus[0].cpu
    for cpu, start, end in row.cpus:
        if start < window.end and end > window.start:
            moved = [before] if before != cpu else []
            found.append([cpu, start - window.start, end - window.start, *moved])
        before = cpu
    return {"parts": found}
