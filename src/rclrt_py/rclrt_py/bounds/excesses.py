# SPDX-License-Identifier: Apache-2.0
"""The observations above their bound, kept in excesses.csv with the evidence of each."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from rclrt_py.bounds.predicted import PredictedChain
from rclrt_py.errors import BadInput
from rclrt_py.native import analysis
from rclrt_py.runs.csv_reader import ChainRow, rows_of
from rclrt_py.runs.run_data import EXCESSES, RESULTS, Run

HOST = "host"
"""A measurement shows that something above every priority of the application took the CPU, and the
bound that allows for that time covers the response."""
ASSUMPTION = "assumption"
"""A measurement contradicts another assumption of the bound."""
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
    """The last time before the release at which nothing was in the way of the instance."""
    lost: int
    """Time since `busy_since` that neither work within its bounds nor overheads account for."""
    stalled: int
    """Time since `busy_since` in which a CPU was measured to stand still."""
    stalled_bound: int | None
    """The bound that allows for `stalled`. None: no bound was found."""
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


def rows_above(run: Run, chains: Iterable[PredictedChain]) -> list[tuple[ChainRow, int]]:
    """Returns the instances of one run that are above the bound of their chain, with that bound."""
    limits = [chain.limit() for chain in chains]
    above: list[tuple[ChainRow, int]] = analysis().above_limits(
        run.chain_rows(), limits, end_of(run)
    )
    return above


def above_bound_at_least(run: Run, chain: PredictedChain | None) -> int:
    """Returns how many instances of a run that streamed are certainly above the bound, by its
    histogram and its counts. 0 for a run that keeps all instances: its rows show them."""
    if run.results.streamed is None or chain is None or chain.bound_ns is None:
        return 0
    result, times = run.results.chain(chain.id), run.chain_times()[chain.id]
    if result is None or times.histogram is None:
        return 0
    return times.histogram.above(chain.bound_ns) + (result.dropped if chain.meets_all else 0)


def end_of(run: Run) -> int:
    """Returns the end of the run, in nanoseconds since its start."""
    return round(run.results.duration_s * 1e9)


def load_excesses(run: Run, chains: Iterable[PredictedChain]) -> list[Excess]:
    """Loads the instances above their bound, with the cause that was found when the run was made.
    If the run has no file of them, they are computed from its instances, without causes."""
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
    """Returns the excesses as CSV. An absent value is an empty cell."""
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
