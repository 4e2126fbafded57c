# SPDX-License-Identifier: Apache-2.0
"""Gives the records of a run to the analysis, which finds the cause of each excess."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from rclrt_py.bounds.excesses import Excess, end_of, rows_above
from rclrt_py.bounds.machine import OverheadsFile, machine_of
from rclrt_py.bounds.predicted import PredictedChain
from rclrt_py.native import analysis
from rclrt_py.runs.run_data import Run

if TYPE_CHECKING:
    from rclrt_analysis import ObservationContext
    from rclrt_model import Application


@dataclass(frozen=True)
class Judge:
    """Judges the runs of one application under one executor."""

    context: ObservationContext

    @classmethod
    def of(cls, application: Application, executor: str, overheads: OverheadsFile | None) -> Judge:
        machine = machine_of(application, executor, overheads)
        return cls(analysis().observation_context(application, executor, machine))

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
        names = [field.name for field in fields(Excess)]
        return [Excess(**{name: getattr(each, name) for name in names}) for each in found]
