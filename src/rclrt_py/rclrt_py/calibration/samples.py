# SPDX-License-Identifier: Apache-2.0
"""Samples of a calibration's runs, in nanoseconds."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rclrt_py.calibration.applications import ALONE_MS, CYCLE_NS, SHORT_MS, TICK_NS
from rclrt_py.executors import kind_of
from rclrt_py.runs.csv_reader import InstanceRow, StallRow
from rclrt_py.stats import nearest_rank

WARM_UP_NS = 500_000_000


@dataclass
class Samples:
    """Samples of one quantity. Those during which the host stalled are kept apart."""

    undisturbed: list[int] = field(default_factory=list)
    disturbed: list[int] = field(default_factory=list)

    def add(self, value: float, disturbed: bool) -> None:
        (self.disturbed if disturbed else self.undisturbed).append(max(0, round(value)))

    def extend(self, others: Samples) -> None:
        self.undisturbed += others.undisturbed
        self.disturbed += others.disturbed

    def to_json(self) -> dict[str, Any] | None:
        """Returns microseconds, as in schemas/overheads.schema.json. None: there are no samples."""
        ordered = sorted(self.undisturbed + self.disturbed)
        if not ordered:
            return None
        result = {
            "n": len(ordered),
            "min": ordered[0] / 1e3,
            "p50": nearest_rank(ordered, 50) / 1e3,
            "p99": nearest_rank(ordered, 99) / 1e3,
            "max": ordered[-1] / 1e3,
        }
        if self.undisturbed:
            result["max_undisturbed"] = max(self.undisturbed) / 1e3
        return {**result, "disturbed": len(self.disturbed)}


LEAST_STALL_NS = 100_000
"""A probe that is later than this could not run; waking up alone takes less."""


class Stalls:
    """Intervals in which the host did not run the CPU."""

    def __init__(self, stalls: Iterable[StallRow], cpu: int) -> None:
        # Time in which the kernel does not run a ready thread is an overhead, not a stall.
        self._stalls = sorted(
            (
                (stall.start, stall.host_end)
                for stall in stalls
                if stall.cpu == cpu and stall.host_end - stall.start >= LEAST_STALL_NS
            ),
            key=lambda stall: stall[1],
        )
        self._ends = [end for _, end in self._stalls]

    def touch(self, start: int, end: int) -> bool:
        """Returns whether a stall overlaps [start, end]."""
        later = bisect.bisect_left(self._ends, start)
        return any(begin <= end for begin, _ in self._stalls[later:])


@dataclass
class Found:
    """Samples from the run of one executor."""

    dispatch: Samples = field(default_factory=Samples)
    lateness: Samples = field(default_factory=Samples)
    scheduler: Samples = field(default_factory=Samples)
    polling: Samples = field(default_factory=Samples)
    handover: Samples = field(default_factory=Samples)
    hop: Samples = field(default_factory=Samples)
    background: Samples = field(default_factory=Samples)

    def to_json(self) -> dict[str, Any]:
        named = {
            "dispatch_us": self.dispatch,
            "timer_lateness_us": self.lateness,
            "scheduler_us": self.scheduler,
            "polling_us": self.polling,
            "handover_us": self.handover,
        }
        stated = {name: samples.to_json() for name, samples in named.items()}
        return {name: value for name, value in stated.items() if value is not None}


def find(rows: Iterable[InstanceRow], stalls: Stalls, executor: str) -> Found:
    """Returns the overheads that one run shows. `rows` are the instances of a run of the
    application that applications.one_cpu() makes for calibration."""
    found = Found()
    kind = kind_of(executor)
    followers: dict[str, InstanceRow] = {}
    ticks: list[InstanceRow] = []
    for row in rows:
        if row.release < WARM_UP_NS or row.outcome != "ran":
            continue
        disturbed = stalls.touch(row.release, row.end)
        if row.callback == "tick":
            ticks.append(row)
        elif row.callback == "follow":
            followers[row.tokens] = row
        elif row.callback == "alone":
            found.background.add(_lost(row, ALONE_MS) / ALONE_MS, disturbed)
        elif row.callback == "victim" and not kind.one_at_a_time:
            # One tick and its follower preempted it.
            found.dispatch.add(_lost(row, SHORT_MS) / 2, disturbed)
        elif row.callback == "urgent" and kind.has_scheduler_thread:
            found.scheduler.add(_lost(row, SHORT_MS), disturbed)
    for tick in ticks:
        follow = followers.get(tick.tokens)
        if follow is None:
            continue
        disturbed = stalls.touch(tick.release, follow.end)
        found.hop.add(follow.ready - tick.start, disturbed)
        if tick.release % CYCLE_NS < TICK_NS:  # the CPU was idle
            found.lateness.add(tick.start - tick.release, disturbed)
            # A more urgent follower ends before its publisher returns.
            found.dispatch.add((max(tick.end, follow.end) - tick.start) / 2, disturbed)
            if kind.polls:
                found.polling.add(follow.start - tick.end, disturbed)
    return found


def find_handovers(rows: Iterable[InstanceRow], stalls: Sequence[Stalls]) -> Samples:
    """Returns the times until both callbacks that a message releases have started, in a run of
    applications.two_cpus(). One of the two starts on another CPU than the publisher. `stalls`: of
    both CPUs."""
    pairs: dict[str, list[InstanceRow]] = {}
    for row in rows:
        if row.release >= WARM_UP_NS and row.outcome == "ran" and row.callback != "tick":
            number = row.tokens.rpartition(":")[2]  # of the same release of tick in both chains
            pairs.setdefault(number, []).append(row)
    samples = Samples()
    for pair in pairs.values():
        if len(pair) == 2:
            ready, start = min(row.ready for row in pair), max(row.start for row in pair)
            samples.add(start - ready, any(each.touch(ready, start) for each in stalls))
    return samples


def find_hops(rows: Iterable[InstanceRow], stalls: Stalls) -> Samples:
    """Returns the times from publication to ready in a run of applications.two_processes()."""
    samples = Samples()
    sent: dict[str, int] = {}
    taken: list[InstanceRow] = []
    for row in rows:
        if row.release >= WARM_UP_NS and row.callback == "tick":
            sent[row.tokens] = row.start
        elif row.callback == "follow":
            taken.append(row)
    for row in taken:
        if (start := sent.get(row.tokens)) is not None:
            samples.add(row.ready - start, stalls.touch(start, row.ready))
    return samples


def _lost(row: InstanceRow, work_ms: float) -> float:
    """Returns how much longer than its own work the instance took."""
    return row.end - row.start - work_ms * 1e6
