# SPDX-License-Identifier: Apache-2.0
"""Gives the records of a run to the analysis, which finds the cause of each excess."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

from rclrt_py.bounds.excesses import UNEXPLAINED, Excess, end_of, rows_above
from rclrt_py.bounds.machine import OverheadsFile, machine_of
from rclrt_py.bounds.over_hosts import with_places
from rclrt_py.bounds.predicted import PredictedChain
from rclrt_py.native import analysis
from rclrt_py.runs.run_data import Run
from rclrt_py.runs.streamed import Streamed

if TYPE_CHECKING:
    from rclrt_analysis import ObservationContext
    from rclrt_model import Application


PARTLY_KEPT = "what ran meanwhile is kept only in part, so nothing shows the cause"


@dataclass(frozen=True)
class Judge:
    """Judges the runs of one application under one executor."""

    context: ObservationContext
    hosts: Mapping[str, str] = field(default_factory=dict)
    """The host of each callback. Empty: the application has no hosts."""

    @classmethod
    def of(cls, application: Application, executor: str, overheads: OverheadsFile | None) -> Judge:
        machine = machine_of(application, executor, overheads)
        return cls(
            analysis().observation_context(application, executor, machine), hosts_of(application)
        )

    def judge(self, run: Run, chains: Iterable[PredictedChain]) -> list[Excess]:
        """Returns every instance above its bound, in the order of chains.csv."""
        predicted = list(chains)
        above = [row for row, _ in rows_above(run, predicted)]
        if not above:
            return []
        found = analysis().judge_observations(
            above,
            list(run.instance_rows()),
            run.stalls(),
            end_of(run),
            [chain.limit() for chain in predicted],
            self.context,
        )
        names = [each.name for each in fields(Excess)]
        judged = [Excess(**{name: getattr(each, name) for name in names}) for each in found]
        kept = [as_kept(each, run.results.streamed) for each in judged]
        return with_places(kept, run.instance_rows(), predicted, self.hosts)


def hosts_of(application: Application) -> dict[str, str]:
    """Returns the name of the host of each callback. Empty for an application without hosts."""
    result = {}
    for number, callback in enumerate(application.callbacks):
        host = application.host_of(number)
        if host is not None:
            result[callback.id] = application.hosts[host].name
    return result


def as_kept(excess: Excess, streamed: Streamed | None) -> Excess:
    """Returns the excess without a cause if a part of what ran meanwhile is not known: of a run
    that streamed, before its latest instances. A stall of the host that covers all of the lost time
    remains the cause, because an unknown instance can only make that time shorter."""
    if streamed is None or excess.release >= streamed.latest_since_ms * 1e6 or excess.by_host:
        return excess
    return replace(excess, cause=UNEXPLAINED, what=PARTLY_KEPT)
