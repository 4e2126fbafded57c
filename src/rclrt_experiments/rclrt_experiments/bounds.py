# SPDX-License-Identifier: Apache-2.0
"""What the analysis said of each chain, beside what was observed and what was simulated."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from statistics import median

from rclrt_cli.stats import nearest_rank

from rclrt_experiments.figures import LABELS
from rclrt_experiments.metrics import is_late
from rclrt_experiments.rows import Row
from rclrt_experiments.runs import Key, key_of_row

Cells = tuple[list[str], list[list[str]]]
"""Heads and rows of a table."""


def name_of(executor: str) -> str:
    return LABELS.get(executor, executor)


def proved_and_missed(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.verdict == "proved" and row.missed > 0]


def proof_sentence(rows: Sequence[Row], host: Container[Key]) -> str:
    """How many proved chains missed. `rows` are without the misses of the host, `host` the runs of
    which it took too much time."""
    quiet = [row for row in rows if key_of_row(row) not in host]
    proved = [row for row in quiet if row.verdict == "proved"]
    late = proved_and_missed(quiet)
    of = f"of {len(proved)} chain-runs with a proved deadline"
    if not late:
        return f"None {of} missed it."
    first = late[0]
    return (
        f"{len(late)} {of} missed it, the first: {first.experiment}, '{first.varied}', trial "
        f"{first.trial}, {first.executor}, {first.chain}: {first.missed} instances, bound "
        f"{first.bound_ms} ms, worst {first.worst_ms} ms of {first.period_ms:g} ms."
    )


def bounds_table(rows: Sequence[Row], host: Container[Key] = ()) -> Cells:
    """By experiment and executor. `rows` are without the misses of the host, `host` the runs of
    which it took too much time."""
    heads = ["experiment", "executor", "chain-runs", "proved", "conditional", "other",
             "proved and missed", "above the bound"]  # fmt: skip
    if host:
        heads += ["proved, in runs that the host left alone", "of these missed"]
    body = []
    for (experiment, executor), own in _groups(rows):
        proved = [row for row in own if row.verdict == "proved"]
        conditional = sum(row.verdict == "conditional" for row in own)
        above = [
            row
            for row in own
            if row.bound_ms is not None and row.worst_ms is not None and row.worst_ms > row.bound_ms
        ]
        cells = [
            experiment, name_of(executor), str(len(own)),
            f"{len(proved)} ({len(proved) / len(own):.0%})", str(conditional),
            str(len(own) - len(proved) - conditional), str(len(proved_and_missed(own))),
            str(len(above)),
        ]  # fmt: skip
        if host:
            alone = [row for row in proved if key_of_row(row) not in host]
            cells += [str(len(alone)), str(len(proved_and_missed(alone)))]
        body.append(cells)
    return heads, body


def prediction_table(rows: Sequence[Row], simulated: Sequence[Row]) -> Cells:
    """By experiment and executor: what a simulation of the same applications said of each chain."""
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
