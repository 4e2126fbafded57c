# SPDX-License-Identifier: Apache-2.0
"""Evidence that a run recorded for an interval: the CPU's work, and broken assumptions."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from rclrt_py.executors import kind_of
from rclrt_py.native import analysis
from rclrt_py.runs.csv_reader import InstanceRow, StallRow

from rclrt_cli.bounds.machine import Overheads

if TYPE_CHECKING:
    from rclrt_model import Application

PROBE_PERIOD_NS = 1_000_000
RT_PERIOD_NS = 1_000_000_000
"""Default period of the kernel's bandwidth limit."""


@dataclass(frozen=True)
class Allowance:
    """Times that the bounds of an executor allow for, in nanoseconds."""

    wcet: dict[str, int]
    """WCET of each callback."""
    each: int = 0
    """Overhead of dispatching one instance."""
    once: int = 0
    """Overhead that counts once per interval: the lateness of a timer, and background work."""
    background: float = 0.0
    """Share of the time that background work takes."""
    held_back: int = 0
    """How long the kernel holds back real-time threads at a time. 0 if the load is below the
    limit."""
    hop: int = 0
    """Time of a message from one executor to another."""
    executors: dict[str, int] = field(default_factory=dict)
    """Executor of each callback that one message releases. Syncs are not included."""

    @classmethod
    def of(cls, application: Application, machine: Overheads) -> Allowance:
        native = machine.machine()
        load = analysis().mean_load(application, native) if native.is_limited else 0.0
        return cls(
            wcet={callback.id: callback.wcet_ns for callback in application.callbacks},
            each=machine.dispatch_ns + machine.scheduler_ns + machine.polling_ns,
            once=machine.timer_lateness_ns + machine.background_ns,
            background=machine.background_ns / 1e6,
            # If only some seconds may reach the limit, a long wait may also come from another
            # thread. Then nothing is excused, and the bounds are conditional.
            held_back=round((1 - machine.rt_share) * RT_PERIOD_NS)
            if native.is_limited and load > machine.rt_share
            else 0,
            hop=machine.hop_ns,
            executors={
                callback.id: application.executor_of(index)
                for index, callback in enumerate(application.callbacks)
                if callback.kind != "sync"
            },
        )

    def wcet_of(self, row: InstanceRow) -> int:
        """Returns 0 for a callback that the application does not state: a robot may have more."""
        return self.wcet.get(row.callback, 0)

    def is_limit(self, stall: StallRow) -> bool:
        """Returns whether only the kernel's limit can explain how long the probe waited."""
        return 0 < self.held_back / 2 <= stall.waited

    def excused(self, stall: StallRow) -> StallRow:
        """Returns the part of the stall that the host or the kernel's bandwidth limit caused.

        If the probe was woken and had to wait, a more urgent thread had the CPU. The exception is a
        wait so long that only the limit explains it.
        """
        if self.is_limit(stall):
            return stall
        return replace(stall, end=stall.host_end)


@dataclass(frozen=True)
class Event:
    """A moment at which a measurement contradicts an assumption of the bounds."""

    time: int
    excess: int
    """Size of the violation, in nanoseconds."""
    what: str

    def __str__(self) -> str:
        return f"{self.what}, at {self.time / 1e9:.6f} s"


def waits(stalls: Iterable[StallRow], allowed: Allowance, start: int, end: int) -> list[Event]:
    """Returns when, in [start, end], the probe had to wait and the host was not the cause."""
    return [
        Event(
            stall.start,
            stall.waited,
            f"something more urgent than SCHED_FIFO 98, or the kernel itself, had CPU {stall.cpu} "
            f"for {_ms(stall.waited)}",
        )
        for stall in stalls
        if stall.start < end
        and stall.end > start
        and stall.waited > allowed.each
        and allowed.excused(stall) != stall
    ]


class Ways:
    """The callback instances of each instance of a chain."""

    def __init__(self, instances: Iterable[InstanceRow]) -> None:
        self._of: dict[str, dict[str, InstanceRow]] = {}
        for row in instances:
            for token in row.tokens.split(";") if row.tokens else ():
                way = self._of.setdefault(token, {})
                known = way.get(row.callback)
                # A synchroniser may take a message and run for it later. The earlier of the two
                # rows counts.
                if known is None or row.ready < known.ready:
                    way[row.callback] = row

    def late_messages(
        self, chain: str, instance: int, callbacks: Iterable[str], allowed: Allowance
    ) -> list[Event]:
        """Returns the messages of one instance between executors that took longer than allowed
        for."""
        way = self._of.get(f"{chain}:{instance}", {})
        found = []
        for before, after in pairwise(callbacks):
            sent, taken = way.get(before), way.get(after)
            apart = allowed.executors.get(before) != allowed.executors.get(after, -1)
            if sent is None or taken is None or not apart or after not in allowed.executors:
                continue
            took = taken.ready - sent.end
            if took > allowed.hop:
                found.append(
                    Event(
                        sent.end,
                        took - allowed.hop,
                        f"the message from {before} to {after} took {_ms(took)}, and "
                        f"{_ms(allowed.hop)} are allowed for",
                    )
                )
        return found


class BusyTimes:
    """Intervals in which an executor had work at or above a level."""

    def __init__(self, instances: Iterable[InstanceRow], executor: str, level: int) -> None:
        spans = sorted(
            (row.ready, row.end)
            for row in instances
            if not kind_of(executor).has_levels or row.priority >= level
        )
        self._busy = list(_joined(spans))

    def around(self, time: int) -> tuple[int, int]:
        """Returns the busy interval that contains `time`, or `time` alone if there is none."""
        return next(
            ((start, end) for start, end in self._busy if start <= time <= end), (time, time)
        )


class OneCpu:
    """The instances that shared one CPU in [start, end], as seen by a chain of a given level."""

    def __init__(
        self,
        instances: Iterable[InstanceRow],
        stalls: Iterable[StallRow],
        executor: str,
        level: int,
        start: int,
        end: int,
    ) -> None:
        self._start, self._end = start, end
        self._rows = sorted(
            (row for row in instances if row.start < end and row.end > start),
            key=lambda row: (row.start, -row.end),
        )
        self._starts = [row.start for row in self._rows]
        self._stalls = list(_joined(sorted((stall.start, stall.end) for stall in stalls)))
        self._in_the_way = [
            row for row in self._rows if not kind_of(executor).has_levels or row.priority >= level
        ]
        # A less urgent instance can only be in the way if it had started before.
        started = [
            row
            for row in self._rows
            if row not in self._in_the_way and row.start <= start and row.end <= end
        ]
        self._in_the_way += started[:1]

    def lost(self, allowed: Allowance) -> int:
        """Returns the time that neither work within its bounds nor the overheads account for."""
        ran = sum(min(allowed.wcet_of(row), self._ran(row)) for row in self._in_the_way)
        length = self._end - self._start
        overheads = len(self._in_the_way) * allowed.each + allowed.once
        return max(0, round(length - ran - overheads - length * allowed.background))

    def events(self, allowed: Allowance) -> list[Event]:
        """Returns the events that contradict an assumption of the bounds, the longest first."""
        found = [*self._too_long(allowed), *self._idle(allowed), *self._taken(allowed)]
        found += self._overtaken()
        return sorted(found, key=lambda event: -event.excess)

    def _too_long(self, allowed: Allowance) -> Iterator[Event]:
        for row in self._rows:
            wcet = allowed.wcet_of(row)
            if row.cpu > wcet + allowed.each:
                needed = f"{row.callback} needed {_ms(row.cpu)} of CPU time"
                of = f"its wcet_ms is {wcet / 1e6:g} and a dispatch {_ms(allowed.each)}"
                if row.callback not in allowed.wcet:
                    of = "the application does not state it"
                yield Event(row.start, row.cpu - wcet - allowed.each, f"{needed}; {of}")

    def _idle(self, allowed: Allowance) -> Iterator[Event]:
        """Yields the gaps in which nothing ran although an instance was ready."""
        reached = self._start
        most = allowed.each + allowed.once
        for start, end in [
            *_joined(sorted((r.start, r.end) for r in self._rows)),
            (self._end,) * 2,
        ]:
            gap = min(start, self._end) - reached
            gap -= _covered(self._stalls, reached, start)
            if gap > most + allowed.background * gap:
                waited = f"nothing of the application ran for {_ms(gap)} while something was ready"
                yield Event(reached, gap - most, f"{waited}; {_ms(most)} are allowed for")
            reached = max(reached, end)

    def _taken(self, allowed: Allowance) -> Iterator[Event]:
        """Yields the callbacks during which the CPU ran something that is not a callback."""
        for row in self._in_the_way:
            gone, most = self._gone(row, allowed)
            if gone > most:
                taken = f"{row.callback} was without the CPU for {_ms(gone)} that no callback used"
                yield Event(row.start, gone - most, f"{taken}; {_ms(most)} are allowed for")

    def stretched(self, stall: StallRow, allowed: Allowance) -> StallRow:
        """Returns the stall from where it may have begun: up to one probe period before the probe
        saw it.

        The stall is extended only by the time in which the callback that it interrupted was without
        the CPU and no other callback had it.
        """
        before = self._rows[: bisect_right(self._starts, stall.start)]
        row = next((row for row in reversed(before) if row.end > stall.start), None)
        if row is None or stall.end == stall.start:
            return stall
        gone, most = self._gone(row, allowed)
        longest = min(PROBE_PERIOD_NS, stall.start - row.start)
        return replace(stall, start=stall.start - max(0, min(gone - most, longest)))

    def _gone(self, row: InstanceRow, allowed: Allowance) -> tuple[int, int]:
        """Returns how long a callback was without the CPU for no recorded reason, and the allowed
        part.

        Both are 0 for an instance that is not wholly in [start, end].
        """
        if row.start < self._start or row.end > self._end:
            return 0, 0
        inner = [other for other in self._after(row) if other.end <= row.end]
        spans = sorted([*((other.start, other.end) for other in inner), *self._stalls])
        gone = row.end - row.start - row.cpu - _covered(list(_joined(spans)), row.start, row.end)
        background = round(allowed.background * (row.end - row.start))
        return gone, (len(inner) + 1) * allowed.each + background

    def _ran(self, row: InstanceRow) -> int:
        """Returns an upper limit on the CPU time that the instance used in [start, end]."""
        if row.start >= self._start and row.end <= self._end:
            return row.cpu
        start, end = max(row.start, self._start), min(row.end, self._end)
        spans = sorted([*((other.start, other.end) for other in self._after(row)), *self._stalls])
        return min(row.cpu, end - start - _covered(list(_joined(spans)), start, end))

    def _after(self, row: InstanceRow) -> list[InstanceRow]:
        """Returns the instances that began while this one ran."""
        begin, end = bisect_left(self._starts, row.start), bisect_left(self._starts, row.end)
        return [other for other in self._rows[begin:end] if other is not row]

    def _overtaken(self) -> Iterator[Event]:
        """Yields less urgent instances that began and ended although other work was ready."""
        for row in self._rows:
            if row not in self._in_the_way and row.start >= self._start and row.end <= self._end:
                what = f"{row.callback}, less urgent, ran for {_ms(row.cpu)} before what was ready"
                yield Event(row.start, row.cpu, what)


def stalled_time(stalls: Sequence[StallRow], cpus: Sequence[int], start: int, end: int) -> int:
    """Returns how much of [start, end] one of `cpus` was measured to stand still. Empty: any
    CPU."""
    spans = sorted((s.start, s.end) for s in stalls if not cpus or s.cpu in cpus)
    return _covered(list(_joined(spans)), start, end)


def _joined(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Merges ascending spans that overlap."""
    current: tuple[int, int] | None = None
    for start, end in spans:
        if current and start <= current[1]:
            current = current[0], max(current[1], end)
        else:
            if current:
                yield current
            current = start, end
    if current:
        yield current


def _covered(spans: Sequence[tuple[int, int]], start: int, end: int) -> int:
    """Returns how much of [start, end] the disjoint spans cover."""
    return sum(max(0, min(stop, end) - max(begin, start)) for begin, stop in spans)


def _ms(time: int) -> str:
    return f"{time / 1e6:.3f} ms"
