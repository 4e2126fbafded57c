# SPDX-License-Identifier: Apache-2.0
"""Finds the cause of an excess: the host, a broken assumption, or nothing measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from rclrt_py.native import analysis
from rclrt_py.runs.csv_reader import ChainRow, InstanceRow, StallRow
from rclrt_py.runs.run_data import Run

from rclrt_cli.bounds.evidence import (
    Allowance,
    BusyTimes,
    Event,
    OneCpu,
    Ways,
    stalled_time,
    waits,
)
from rclrt_cli.bounds.excesses import ASSUMPTION, HOST, UNEXPLAINED, Excess, rows_above
from rclrt_cli.bounds.machine import OverheadsFile
from rclrt_cli.bounds.predicted import PredictedChain, machine_of
from rclrt_cli.bounds.stalled_bounds import StalledBounds

if TYPE_CHECKING:
    from rclrt_model import Application

ANY_CPU = "the application may use every CPU, and the bound is that of one (cpus: [n])"


class WithStalls(Protocol):
    """The bounds for a CPU that stands still for some time; see `StalledBounds`."""

    def bound_ns(self, chain: str, stalled_ns: int) -> int | None: ...
    def may_drop(self, chain: str, stalled_ns: int) -> bool: ...


@dataclass(frozen=True)
class Judge:
    """Judges the runs of one application under one executor. Nothing is excused by default."""

    executor: str
    allowed: Allowance
    bounds: WithStalls
    levels: Mapping[str, int] = field(default_factory=dict)
    """Priorities of the callbacks' threads, where they differ from those of the callbacks."""

    @classmethod
    def of(cls, application: Application, executor: str, overheads: OverheadsFile | None) -> Judge:
        machine = machine_of(application, executor, overheads)
        bounds = StalledBounds(application, executor, machine)
        levels = analysis().thread_levels(application, executor)
        own = dict(zip((each.id for each in application.callbacks), levels, strict=True))
        return cls(executor, Allowance.of(application, machine), bounds, own)

    def judge(self, run: Run, chains: Iterable[PredictedChain]) -> list[Excess]:
        """Returns every instance above its bound, in the order of chains.csv."""
        by_id = {chain.id: chain for chain in chains}
        rows = list(rows_above(run, by_id.values()))
        if not rows:
            return []
        instances = [
            row._replace(priority=self.levels.get(row.callback, row.priority))
            for row in run.instance_rows()
        ]
        stalls = run.stalls()
        busy = {
            name: BusyTimes(instances, self.executor, by_id[name].level)
            for name in {row.chain for row, _ in rows}
        }
        ways = Ways(instances)
        end_of_run = round(run.results.duration_s * 1e9)
        return [
            self._judge(
                row, by_id[row.chain], busy[row.chain].around(row.release), instances, ways, stalls,
                end_of_run,
            )
            for row, _ in rows
        ]  # fmt: skip

    def _judge(
        self,
        row: ChainRow,
        chain: PredictedChain,
        busy: tuple[int, int],
        instances: Sequence[InstanceRow],
        ways: Ways,
        stalls: Sequence[StallRow],
        end_of_run: int,
    ) -> Excess:
        bound = chain.bound_ns or 0
        start, busy_until = busy
        # An instance that never ended was dropped or left over by the end of its busy interval.
        end = max(row.release + bound, busy_until) if row.completion is None else row.completion
        own = [stall for stall in stalls if not chain.cpus or stall.cpu in chain.cpus]
        excused = [self.allowed.excused(stall) for stall in own]
        lost, events = 0, waits(own, self.allowed, start, end)
        if len(chain.cpus) == 1:
            cpu = OneCpu(instances, own, self.executor, chain.level, start, end)
            excused = [cpu.stretched(stall, self.allowed) for stall in excused]
            lost = cpu.lost(self.allowed)
            events += cpu.events(self.allowed)
        events += ways.late_messages(chain.id, row.instance, chain.callbacks, self.allowed)
        if not chain.cpus:
            events.append(Event(start, 0, ANY_CPU))
        stalled = stalled_time(excused, chain.cpus, start, end)
        with_stall = self.bounds.bound_ns(chain.id, stalled) if stalled > 0 else bound
        cause, what = UNEXPLAINED, ""
        if stalled > 0 and lost <= stalled and self._covers(with_stall, row, stalled, end_of_run):
            cause = HOST
            what = f"the CPU stood still for {stalled / 1e6:.3f} ms since {start / 1e9:.6f} s"
            limited = [stall for stall in own if self.allowed.is_limit(stall)]
            if held_back := stalled_time(limited, chain.cpus, start, end):
                what += f"; the kernel's limit took {held_back / 1e6:.3f} ms of it"
        elif events:
            cause, what = ASSUMPTION, str(max(events, key=lambda event: event.excess))
        return Excess(
            row.chain, row.instance, row.release, row.response, bound, start, lost, stalled,
            with_stall, cause, what,
        )  # fmt: skip

    def _covers(self, bound: int | None, row: ChainRow, stalled: int, end_of_run: int) -> bool:
        """Returns whether the instance is within a bound that allows for the stall."""
        if row.status in ("dropped", "unmatched"):
            return self.bounds.may_drop(row.chain, stalled)
        if bound is None:
            return False
        if row.response is None:
            return row.release + bound >= end_of_run
        return row.response <= bound
