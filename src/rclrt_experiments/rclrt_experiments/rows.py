# SPDX-License-Identifier: Apache-2.0
"""rows.csv: what one chain did in one run; overheads.csv: what its executor took."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from rclrt_cli.errors import BadInput
from rclrt_cli.json_reader import read_text

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
    writer = csv.DictWriter(text, list(runs[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(runs)
    return text.getvalue()


def read_runs(path: Path) -> list[dict[str, str]]:
    """The rows of a runs.csv; none where there is no such file."""
    return list(csv.DictReader(io.StringIO(read_text(path)))) if path.is_file() else []


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def read_rows(path: Path) -> list[Row]:
    """The rows of a rows.csv. Throws BadInput, with file and line, for what is none."""
    return _read(path, Row)


def read_overheads(path: Path) -> list[OverheadRow]:
    """As read_rows(); none where there is no such file."""
    return _read(path, OverheadRow) if path.is_file() else []


def _read(path: Path, kind: Any) -> list[Any]:
    lines = csv.reader(io.StringIO(read_text(path)))
    names = [field.name for field in fields(kind)]
    if next(lines, None) != names:
        raise BadInput(f"{path}:1: the columns are others; expected {','.join(names)}")
    rows = []
    for cells in lines:
        if len(cells) != len(names):
            raise BadInput(f"{path}:{lines.line_num}: expected {len(names)} cells")
        try:
            values = [_READERS[str(f.type)](c) for f, c in zip(fields(kind), cells, strict=True)]
        except ValueError as error:
            raise BadInput(f"{path}:{lines.line_num}: {error}; expected a number") from error
        rows.append(kind(*values))
    return rows


_READERS: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "float | None": lambda cell: float(cell) if cell else None,
}
