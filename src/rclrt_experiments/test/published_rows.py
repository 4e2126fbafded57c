# SPDX-License-Identifier: Apache-2.0
"""The thesis's published results as rows of an experiment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rclrt_experiments.claims import CLAIMS
from rclrt_experiments.published import (
    LENGTHS,
    LEVELS,
    OURS,
    PC,
    STANDARD,
    SYNC_LENGTHS,
    TABLE_7_4,
    TABLE_7_6,
    TABLE_7_9,
    TD,
    Claim,
)
from rclrt_experiments.rows import Row

ROW = Row("utilisation", TD, "10 %", 1, 1, "chain0", 100.0, 0.1, 10, 10.0, 20.0, 50.0, 0.5, 0.4, 0,
          None, "unknown")  # fmt: skip
CHAINS = 5


def claim_of(text: str) -> Claim:
    (found,) = (claim for claim in CLAIMS if text in claim.text)
    return found


def chain_runs(row: Row, trials: int, late: int, chains: Sequence[str] = ()) -> Iterator[Row]:
    """Yields rows like this one. `late` of them missed, spread over the trials."""
    names = chains or [f"chain{n}" for n in range(CHAINS)]
    count = trials * len(names)
    for number in range(count):
        own = replace(row, trial=number // len(names) + 1, chain=names[number % len(names)])
        is_late = number * late // count < (number + 1) * late // count
        yield replace(own, missed=1, normalised_worst=1.5) if is_late else own


def as_published() -> list[Row]:
    """Returns the thesis's results as rows, with other values where it has none."""
    rows: list[Row] = []
    ours = [min(pair) for pair in zip(TABLE_7_4[PC], TABLE_7_4[TD], strict=True)]
    for name, counts in {**TABLE_7_4, OURS: ours}.items():
        jitter = 0.6 if name == STANDARD else 0.2
        for label, count in zip(LEVELS, counts, strict=True):
            row = replace(ROW, executor=name, varied=label, jitter=jitter)
            rows += chain_runs(row, 50, count)
    for name, medians in {**TABLE_7_6, OURS: TABLE_7_6[TD]}.items():
        jitters, lates = (0.2, 0.18, 0.16, 0.14, 0.12), (30, 20, 10, 0, 0)
        if name == STANDARD:
            jitters, lates = (0.38, 0.42, 0.41, 0.4, 0.4), (60, 70, 80, 90, 85)
        for number, (label, middle) in enumerate(zip(LENGTHS, medians, strict=True)):
            row = replace(ROW, experiment="chain-length", executor=name, varied=label,
                          normalised_worst=middle, jitter=jitters[number])  # fmt: skip
            rows += chain_runs(row, 50, lates[number])
    for label in LENGTHS:
        for name, urgent, other, late in ((STANDARD, 0.9, 0.4, 24), (PC, 0.2, 0.6, 0),
                                          (TD, 0.2, 0.6, 0)):  # fmt: skip
            row = replace(ROW, experiment="priority-chain", executor=name, varied=label)
            of_urgent = replace(row, normalised_worst=urgent, jitter=urgent)
            of_other = replace(row, normalised_worst=other, jitter=other)
            rows += chain_runs(of_urgent, 50, late, ["chain0"])
            rows += chain_runs(of_other, 50, 5, ["chain2"])
    for name, medians in TABLE_7_9.items():
        for label, middle in zip(SYNC_LENGTHS, medians, strict=True):
            row = replace(ROW, experiment="synthesis", executor=name, varied=label,
                          normalised_worst=middle)  # fmt: skip
            rows += chain_runs(row, 20, 0)
    return rows


def missing_at(lengths: Sequence[str], trials: int, late: int) -> list[Row]:
    """Returns rows in which, under PC and TD, a chain of the first `late` trials misses at each of
    these lengths."""
    return [
        replace(own, missed=1, normalised_worst=1.5)
        if own.varied in lengths and own.trial <= late and own.chain == "chain0"
        else own
        for name in (PC, TD)
        for label in LENGTHS
        for own in chain_runs(
            replace(ROW, experiment="chain-length", executor=name, varied=label), trials, 0
        )
    ]
