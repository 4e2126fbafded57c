# SPDX-License-Identifier: Apache-2.0
"""The thesis's rows of response times, from the log of a generated program or from results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rclrt_py.errors import BadInput
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.native import read_lines
from rclrt_py.runs.run_data import RESULTS

from rclrt_experiments.generator.chain_log import durations_of_runs, read_chain_log

COLUMNS = (
    "ID", "Prio", "Length", "Period_us", "Utilisation", "BCRT_us", "WCRT_us", "ACRT_us",
    "Chain_count", "Avg_len", "Random_seed", "Merge_p", "Sync_p", "Variance", "PPE", "Executors",
)  # fmt: skip
NO_EVENTS = "none"


@dataclass(frozen=True)
class Times:
    """Response times of a chain in microseconds."""

    best: float
    worst: float
    mean: float

    @classmethod
    def of(cls, durations: Sequence[int]) -> Times | None:
        if not durations:
            return None
        return cls(min(durations), max(durations), sum(durations) / len(durations))


def times_of(source: Path, chains: Sequence[JsonValue]) -> list[Times | None]:
    """Returns the best, worst and mean time of each chain of chains.json. `source` is a log file,
    or a directory of results. None: the source has no times of that chain."""
    return (_times_of_results if source.is_dir() else _times_of_log)(source, chains)


def row_of(row: JsonValue, times: Times | None, count: int) -> list[object]:
    measured: list[object] = [NO_EVENTS] * 3
    if times is not None:
        measured = [f"{time:.9g}" for time in (times.best, times.worst, times.mean)]
    return [
        row.get("ID").count(),
        row.get("Prio").integer(),
        len(row.get("Path").texts()),
        row.get("Period_us").count(),
        f"{row.get('Utilisation').number():.9g}",
        *measured,
        count,
        f"{row.get('Avg_len').number():.9g}",
        row.get("Random_seed").integer(),
        f"{row.get('Merge_p').number():.9g}",
        f"{row.get('Sync_p').number():.9g}",
        f"{row.get('Variance').number():.9g}",
        int(row.get("PPE").boolean()),
        row.get("Executors").count(),
    ]


def _times_of_log(path: Path, rows: Sequence[JsonValue]) -> list[Times | None]:
    log = read_chain_log(read_lines(path), str(path))
    times = []
    for row in rows:
        chain = row.get("ID").count()
        durations = log.durations.get(chain, [])
        if log.runs and not durations:
            numbers = [_number(item) for item in row.get("Path").items()]
            durations = durations_of_runs(log.runs, chain, numbers)
        times.append(Times.of(durations))
    return times


def _number(item: JsonValue) -> int:
    """Returns the number of a callback: `c7` and `s7` are 7 in the log."""
    if not re.fullmatch(r"[cs][0-9]{1,9}", item.text()):
        item.fail("a callback, such as c7 or s7")
    return int(item.text()[1:])


def _times_of_results(directory: Path, rows: Sequence[JsonValue]) -> list[Times | None]:
    found = {
        chain.get("id").text(): chain
        for chain in JsonValue.load(directory / RESULTS).get("chains").items()
    }
    times: list[Times | None] = []
    for row in rows:
        name = f"chain{row.get('ID').count()}"
        if name not in found:
            raise BadInput(
                f"{directory / RESULTS}: has no {name}; expected results of this application"
            )
        response = found[name].get("response_ms")
        times.append(
            None
            if found[name].get("completed").count() == 0
            else Times(*(response.get(key).number() * 1000 for key in ("best", "worst", "mean")))
        )
    return times
