# SPDX-License-Identifier: Apache-2.0
"""Which observations are above their bound, and which of those the host explains."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rclrt_cli.bounds.predicted import ONE_QUEUE, PredictedChain
from rclrt_cli.csv_reader import ChainRow, InstanceRow, StallRow
from rclrt_cli.run_data import Run


@dataclass(frozen=True)
class Excess:
    """One instance of a chain that took longer than its bound, or never ended. Nanoseconds."""

    chain: str
    instance: int
    release: int
    response: int | None
    bound: int
    stalled: int
    """How long the CPU stood still from the beginning of the busy time before the release: as the
    probe saw it, or as nothing of the application nor its overheads accounts for it."""
    delay: float
    """The most that these stalls can add to the bound."""

    @property
    def by_host(self) -> bool:
        """Whether the stalls explain it.

        What never ended is the host's if the host stalled at all: a stall fills queues.
        """
        if self.response is None:
            return self.stalled > 0
        return self.stalled > 0 and self.response <= self.bound + self.delay


def delay_of(stalled_ns: int, chain: PredictedChain) -> float:
    """The most that the response of a chain grows when its CPU stands still for a while.

    Timers go on meanwhile. A stall of S makes a busy time longer by x = S + sum over k of
    ceil(x / T_k) C_k, which is at most (S + sum of C_k) / (1 - load): the work of what is released
    during the stall and while this work is done. At a load of 1 it never ends.
    """
    if stalled_ns == 0:
        return 0.0
    if chain.load >= 1:
        return math.inf
    return (stalled_ns + chain.work_ms * 1e6) / (1 - chain.load)


def excesses(run: Run, executor: str, chains: Iterable[PredictedChain]) -> list[Excess]:
    """Of one run, in the order of chains.csv."""
    by_id = {chain.id: chain for chain in chains if chain.bound_ns is not None}
    end_of_run = round(run.results.duration_s * 1e9)
    rows = [row for row in run.chain_rows() if _is_above(row, by_id.get(row.chain), end_of_run)]
    if not rows:
        return []
    instances, stalls = list(run.instance_rows()), run.stalls()
    busy = {
        chain: BusyTimes(instances, executor, by_id[chain].level)
        for chain in {row.chain for row in rows}
    }
    found = []
    for row in rows:
        chain = by_id[row.chain]
        bound = chain.bound_ns or 0
        start = busy[row.chain].start(row.release)
        end = row.release + bound if row.completion is None else row.completion
        seen = stalled_time(stalls, chain.cpus, start, end)
        stalled = max(seen, lost_time(instances, chain, start, end))
        delay = delay_of(stalled, chain)
        found.append(
            Excess(row.chain, row.instance, row.release, row.response, bound, stalled, delay)
        )
    return found


def _is_above(row: ChainRow, chain: PredictedChain | None, end_of_run: int) -> bool:
    if chain is None or chain.bound_ns is None:
        return False
    if row.response is not None:
        return row.response > chain.bound_ns
    return row.status == "dropped" or row.release + chain.bound_ns < end_of_run


def worst_steps(runs: Iterable[Run], chains: Iterable[PredictedChain]) -> dict[str, list[int]]:
    """For each chain, the longest time from a release to the end of each callback on its way.

    In nanoseconds; -1 where none ended.
    """
    places = {
        (chain.id, callback): place
        for chain in chains
        for place, callback in enumerate(chain.callbacks)
    }
    worst: dict[str, list[int]] = {}
    for chain, _ in places:
        worst.setdefault(chain, []).append(-1)
    for run in runs:
        releases = {(row.chain, row.instance): row.release for row in run.chain_rows()}
        for row in run.instance_rows():
            for token in row.tokens.split(";") if row.outcome == "ran" and row.tokens else ():
                name, _, number = token.rpartition(":")
                place = places.get((name, row.callback))
                release = releases.get((name, int(number) if number.isdigit() else -1))
                if place is not None and release is not None:
                    worst[name][place] = max(worst[name][place], row.end - release)
    return worst


class BusyTimes:
    """When an executor had work of a level or above."""

    def __init__(self, instances: Iterable[InstanceRow], executor: str, level: int) -> None:
        spans = sorted(
            (row.ready, row.end)
            for row in instances
            if executor in ONE_QUEUE or row.priority >= level
        )
        self._busy: list[tuple[int, int]] = []
        for start, end in spans:
            if self._busy and start <= self._busy[-1][1]:
                before = self._busy[-1]
                self._busy[-1] = before[0], max(before[1], end)
            else:
                self._busy.append((start, end))

    def start(self, time: int) -> int:
        """The beginning of the busy time that `time` is in; `time` itself outside of any."""
        return next((start for start, end in self._busy if start <= time <= end), time)


def lost_time(instances: Iterable[InstanceRow], chain: PredictedChain, start: int, end: int) -> int:
    """How much of [start, end] neither the application nor its stated overheads account for.

    Known on one CPU only; the probe does not see what is over before it wakes.
    """
    if len(chain.cpus) != 1:
        return 0
    ran, count = 0, 0
    for row in instances:
        overlap = min(row.end, end) - max(row.start, start)
        # What is less urgent can only be in the way until its end; else it was preempted.
        if overlap > 0 and (row.priority >= chain.level or row.end <= end):
            ran += min(row.cpu, overlap)
            count += 1
    allowed = count * chain.each_ms + chain.once_ms + chain.background * (end - start) / 1e6
    return max(0, round(end - start - ran - allowed * 1e6))


def stalled_time(stalls: Sequence[StallRow], cpus: Sequence[int], start: int, end: int) -> int:
    """How much of [start, end] one of the CPUs (none given: any) stood still."""
    parts = sorted(
        (max(stall.start, start), min(stall.end, end))
        for stall in stalls
        if (not cpus or stall.cpu in cpus) and stall.start < end and stall.end > start
    )
    total, reached = 0, start
    for begin, finish in parts:
        total += max(0, finish - max(begin, reached))
        reached = max(reached, finish)
    return total
