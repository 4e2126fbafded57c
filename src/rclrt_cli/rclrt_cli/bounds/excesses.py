# SPDX-License-Identifier: Apache-2.0
"""Which observations are above their bound, kept as excesses.csv with what was measured of each."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from rclrt_py.errors import BadInput
from rclrt_py.runs.csv_reader import ChainRow, rows_of
from rclrt_py.runs.run_data import EXCESSES, RESULTS, Run

from rclrt_cli.bounds.predicted import PredictedChain

HOST = "host"
"""Something above every priority of the application was measured to have taken the CPU, and the
bound with that time taken away covers the response."""
ASSUMPTION = "assumption"
"""Something else that the bound assumes was measured not to be so."""
UNEXPLAINED = "unexplained"
CAUSES = (HOST, ASSUMPTION, UNEXPLAINED)


@dataclass(frozen=True)
class Excess:
    """One instance of a chain that took longer than its bound, or never ended. Nanoseconds."""

    chain: str
    instance: int
    release: int
    response: int | None
    bound: int
    busy_since: int
    """The last time before the release at which nothing was in its way."""
    lost: int
    """Since then, what neither work within its bounds nor overheads account for."""
    stalled: int
    """Since then, what a CPU was measured to stand still."""
    stalled_bound: int | None
    """The bound when that is taken away; None: none was found."""
    cause: str = UNEXPLAINED
    what: str = ""

    @property
    def by_host(self) -> bool:
        return self.cause == HOST

    def __str__(self) -> str:
        response = "never ended" if self.response is None else f"took {self.response / 1e6:.3f} ms"
        return f"instance {self.instance} {response}: {self.what or 'nothing measured explains it'}"


COLUMNS = [
    field.name if field.name in ("chain", "instance", "cause", "what") else f"{field.name}_ns"
    for field in fields(Excess)
]


def rows_above(run: Run, chains: Iterable[PredictedChain]) -> Iterator[tuple[ChainRow, int]]:
    """The instances of one run that are above the bound of their chain, and that bound."""
    by_id = {chain.id: chain for chain in chains}
    end_of_run = round(run.results.duration_s * 1e9)
    for row in run.chain_rows():
        chain = by_id.get(row.chain)
        bound = chain.bound_ns if chain else None
        if chain is None or bound is None:
            continue
        if row.response is not None:
            above = row.response > bound
        elif not chain.meets_all:
            above = False
        else:
            above = row.status in ("dropped", "unmatched") or row.release + bound < end_of_run
        if above:
            yield row, bound


def load_excesses(run: Run, chains: Iterable[PredictedChain]) -> list[Excess]:
    """Those that were judged when the run was made. Without a file nothing is explained."""
    path = run.directory / EXCESSES
    if path.is_file():
        found, known = list(_read(path)), {chain.id for chain in run.results.chains}
        for excess in found:
            if excess.chain not in known:
                raise BadInput(f"{path}: chain '{excess.chain}' is not in {RESULTS} beside it")
        return found
    return [
        Excess(row.chain, row.instance, row.release, row.response, bound, row.release, 0, 0, None)
        for row, bound in rows_above(run, chains)
    ]


def excesses_csv(excesses: Iterable[Excess]) -> str:
    """As a file; what is absent is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(astuple(excess) for excess in excesses)
    return text.getvalue()


def _read(path: Path) -> Iterator[Excess]:
    for cells in rows_of(path, COLUMNS):
        yield Excess(
            chain=cells.text("chain"),
            instance=cells.integer("instance"),
            release=cells.integer("release_ns"),
            response=cells.optional("response_ns"),
            bound=cells.integer("bound_ns"),
            busy_since=cells.integer("busy_since_ns"),
            lost=cells.integer("lost_ns"),
            stalled=cells.integer("stalled_ns"),
            stalled_bound=cells.optional("stalled_bound_ns"),
            cause=cells.one_of("cause", CAUSES),
            what=cells.text("what"),
        )
