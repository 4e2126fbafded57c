# SPDX-License-Identifier: Apache-2.0
"""rows.csv: the results of one chain in one run; overheads.csv: the times of its executor;
outputs.csv: its reaction times and data ages."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

Cell = str | int | float | None
RUN_KEY = ("experiment", "executor", "varied", "trial", "seed")


@dataclass(frozen=True)
class Row:
    """One chain in one run. Times are None if no instance completed."""

    experiment: str
    executor: str
    varied: str
    trial: int
    seed: int
    chain: str
    period_ms: float
    utilisation: float
    n: int
    """Number of completed instances."""
    best_ms: float | None
    mean_ms: float | None
    worst_ms: float | None
    normalised_worst: float | None
    """Worst response / period. The period is the deadline."""
    jitter: float | None
    """(Worst - best) / period."""
    missed: int
    """Number of instances that had not ended at their deadline."""
    bound_ms: float | None
    verdict: str
    from_start_worst: float | None = None
    """Worst response / period, from the start of the chain's first callback, as in the thesis. None
    if nothing ended, or if an earlier release without this column wrote the row."""
    from_start_jitter: float | None = None
    """(Worst - best) / period, from the same start."""

    def as_the_thesis_counts(self) -> Row:
        """Returns the row with times as the thesis counts them: from the start of the chain's first
        callback instead of from its release. `missed` is 1 if the longest such time is longer than
        the period, otherwise 0. Instances that never ended have no such time and do not count."""
        worst = self.from_start_worst
        missed = 1 if worst is not None and worst > 1 else 0
        return replace(self, normalised_worst=worst, jitter=self.from_start_jitter, missed=missed)


@dataclass(frozen=True)
class OutputRow:
    """Reaction times and data ages of one chain in one run, sampled or not. Times are None if there
    was no output, and bounds if none was found."""

    experiment: str
    executor: str
    varied: str
    trial: int
    seed: int
    chain: str
    period_ms: float
    segments: int
    n: int
    """Number of outputs."""
    reaction_best_ms: float | None
    reaction_p50_ms: float | None
    reaction_worst_ms: float | None
    age_best_ms: float | None
    age_p50_ms: float | None
    age_worst_ms: float | None
    reaction_bound_ms: float | None
    age_bound_ms: float | None
    verdict: str
    """Whether the limits hold that the rules give the chain."""


@dataclass(frozen=True)
class OverheadRow:
    """Distribution of a time over all callbacks of one run, in microseconds."""

    experiment: str
    executor: str
    varied: str
    trial: int
    seed: int
    measure: str
    n: int
    p2_us: float
    p25_us: float
    p50_us: float
    p75_us: float
    p98_us: float
    worst_us: float


def to_csv(
    rows: Iterable[Row] | Iterable[OverheadRow] | Iterable[OutputRow],
    kind: type[Row] | type[OverheadRow] | type[OutputRow],
) -> str:
    """Returns the rows as CSV, with the names of their columns first."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.name for field in fields(kind))
    for row in rows:
        writer.writerow(_cell(value) for value in asdict(row).values())
    return text.getvalue()


def run_of(row: Row, run: Mapping[str, Any]) -> dict[str, str]:
    """Returns the columns of runs.csv for one run: those of `run`, such as its duration and the CPU
    time that the host took, and those of RUN_KEY, which identify it. `row` is any result of that
    run."""
    which = {name: getattr(row, name) for name in RUN_KEY}
    return {name: str(value) for name, value in {**which, **run}.items()}


def runs_csv(runs: Sequence[Mapping[str, str]]) -> str:
    """Returns the results of run_of(), at least one, as CSV."""
    text = io.StringIO()
    names = dict.fromkeys(name for run in runs for name in run)
    writer = csv.DictWriter(text, list(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows(runs)
    return text.getvalue()


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    return f"{value:.9g}" if isinstance(value, float) else str(value)
