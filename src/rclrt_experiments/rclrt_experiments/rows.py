# SPDX-License-Identifier: Apache-2.0
"""rows.csv: what one chain did in one run; overheads.csv: what its executor took."""

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
    """One chain in one run. Times without a completed instance are None."""

    experiment: str
    executor: str
    varied: str
    trial: int
    seed: int
    chain: str
    period_ms: float
    utilisation: float
    n: int
    """Completed instances."""
    best_ms: float | None
    mean_ms: float | None
    worst_ms: float | None
    normalised_worst: float | None
    """Worst response / period, which is the deadline."""
    jitter: float | None
    """(Worst - best) / period."""
    missed: int
    """Instances that had not ended at their deadline."""
    bound_ms: float | None
    verdict: str
    from_start_worst: float | None = None
    """Worst response / period, from the start of the chain's first callback, as the thesis counts.
    None: nothing ended, or the row is of a release that did not keep it."""
    from_start_jitter: float | None = None
    """(Worst - best) / period, counted so."""

    def as_the_thesis_counts(self) -> Row:
        """The same with times from the start of the first callback. A chain missed where one of
        these is longer than the period: what never ended has no time, and is not counted."""
        worst = self.from_start_worst
        missed = 1 if worst is not None and worst > 1 else 0
        return replace(self, normalised_worst=worst, jitter=self.from_start_jitter, missed=missed)


@dataclass(frozen=True)
class OverheadRow:
    """Times of all callbacks of one run, in microseconds."""

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


def to_csv(rows: Iterable[Row] | Iterable[OverheadRow], kind: type[Row] | type[OverheadRow]) -> str:
    """The rows below the names of their columns."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.name for field in fields(kind))
    for row in rows:
        writer.writerow(_cell(value) for value in asdict(row).values())
    return text.getvalue()


def run_of(row: Row, run: Mapping[str, Any]) -> dict[str, str]:
    """When a run was, and what the host took; `row` is one of its rows and says which run."""
    which = {name: getattr(row, name) for name in RUN_KEY}
    return {name: str(value) for name, value in {**which, **run}.items()}


def runs_csv(runs: Sequence[Mapping[str, str]]) -> str:
    """Of what run_of() gives, at least one."""
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
