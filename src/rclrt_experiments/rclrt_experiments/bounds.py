# SPDX-License-Identifier: Apache-2.0
"""Compares the analysis's verdict for each chain with the observed and the simulated results."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from rclrt_py.native import analysis
from rclrt_py.stats import nearest_rank

from rclrt_experiments.figures import LABELS
from rclrt_experiments.metrics import is_late
from rclrt_experiments.rows import Row
from rclrt_experiments.runs import QUIET, Key, key_of_row

Cells = tuple[list[str], list[list[str]]]
"""Heads and rows of a table."""


def name_of(executor: str) -> str:
    return LABELS.get(executor, executor)


def is_broken(row: Row, stalls: Mapping[Key, float]) -> bool:
    """Returns whether the result `row` contradicts its proof: the chain missed a proved deadline,
    or its worst response time was longer than its proved bound plus the time for which the host had
    stopped CPUs in that run (`stalls`, in milliseconds). `row` must not count misses that the host
    caused."""
    broken: bool = analysis().contradicts_proof(
        row.verdict,
        bound_ns=_ns(row.bound_ms),
        missed=row.missed,
        worst_ns=_ns(row.worst_ms),
        stalled_ns=round(stalls.get(key_of_row(row), 0.0) * 1e6),
    )
    return broken


def _ns(time_ms: float | None) -> int | None:
    return None if time_ms is None else round(time_ms * 1e6)


@dataclass(frozen=True)
class Proofs:
    """The results of chains with a proved deadline."""

    rows: Sequence[Row]
    """Rows without the misses that the host caused."""
    host: Container[Key] = ()
    """Runs in which the host took too much time."""
    stalls: Mapping[Key, float] = field(default_factory=dict)
    """Milliseconds for which the host stopped CPUs, by run."""

    @property
    def counting(self) -> list[Row]:
        """Returns the proved rows of runs in which the host did not take too much time."""
        proved = (row for row in self.rows if row.verdict == "proved")
        return [row for row in proved if key_of_row(row) not in self.host]

    @property
    def broken(self) -> list[Row]:
        """The rows that contradict their proof. There are none if the analysis, the executors and
        the stated overheads are right."""
        return [row for row in self.counting if is_broken(row, self.stalls)]

    def sentence(self) -> str:
        of = f"of {len(self.counting)} chain-runs with a proved deadline"
        quiet = f", in runs in which the host took at most {100 * QUIET:g} % of the time,"
        where = quiet if self.host else ""
        if not (broken := self.broken):
            return f"None {of}{where} missed it or took longer than its bound."
        first = broken[0]
        return (
            f"{len(broken)} {of}{where} missed it or took longer than its bound, the first: "
            f"{first.experiment}, '{first.varied}', trial {first.trial}, {first.executor}, "
            f"{first.chain}: {first.missed} missed, bound {first.bound_ms} ms, worst "
            f"{first.worst_ms} ms of {first.period_ms:g} ms."
        )

    def table(self) -> Cells:
        """Returns the counts by experiment and executor."""
        heads = ["experiment", "executor", "chain-runs", "proved", "conditional",
                 "bound above the deadline", "no bound",
                 "above the bound, for whatever reason", "proved, where the host did not disturb",
                 "of these missed or above"]  # fmt: skip
        body = []
        for (experiment, executor), own in _groups(self.rows):
            proofs = Proofs(own, self.host, self.stalls)
            proved, conditional = (
                sum(row.verdict == verdict for row in own) for verdict in ("proved", "conditional")
            )
            above = sum(
                row.bound_ms is not None and row.worst_ms is not None
                and row.worst_ms > row.bound_ms
                for row in own
            )  # fmt: skip
            unbounded = sum(row.bound_ms is None for row in own)
            body.append([
                experiment, name_of(executor), str(len(own)), f"{proved} ({proved / len(own):.0%})",
                str(conditional), str(len(own) - proved - conditional - unbounded),
                str(unbounded), str(above), str(len(proofs.counting)), str(len(proofs.broken)),
            ])  # fmt: skip
        return heads, body


TERMS = (
    "A chain-run is one chain of one application in one run. Proved: its bound is within the "
    "deadline. Conditional: its bound is within the deadline under an assumption that the analysis "
    "names. An example are PC and TD: their scheduler thread is on another CPU, and while it hands "
    "over an instance, a less urgent one may start, which the bound leaves out. No bound: none was "
    "found, for example because the delays of a chain over several executors add up beyond its "
    "period."
)


def prediction_table(rows: Sequence[Row], simulated: Sequence[Row]) -> Cells:
    """Compares runs with simulations of the same applications, by experiment and executor."""
    heads = ["experiment", "executor", "chain-runs", "simulated to miss: missed",
             "simulated not to: missed", "worst, run / simulated: median",
             "5th to 95th percentile"]  # fmt: skip
    said = {(key_of_row(row), row.chain): row for row in simulated}
    body = []
    for (experiment, executor), own in _groups(rows):
        both = [
            (row, said[key_of_row(row), row.chain])
            for row in own
            if (key_of_row(row), row.chain) in said
        ]
        ratios = sorted(
            row.worst_ms / other.worst_ms
            for row, other in both
            if row.worst_ms is not None and other.worst_ms
        )
        cells = [experiment, name_of(executor), str(len(both))]
        for wanted in (True, False):
            found = [is_late(row) for row, other in both if is_late(other) == wanted]
            cells.append(f"{sum(found)} of {len(found)}")
        if ratios:
            low, high = (nearest_rank(ratios, percent) for percent in (5, 95))
            cells += [f"{median(ratios):.2f}", f"{low:.2f} to {high:.2f}"]
        else:
            cells += ["-", "-"]
        body.append(cells)
    return heads, body


def _groups(rows: Sequence[Row]) -> Iterator[tuple[tuple[str, str], Sequence[Row]]]:
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.experiment, row.executor), []).append(row)
    yield from groups.items()
