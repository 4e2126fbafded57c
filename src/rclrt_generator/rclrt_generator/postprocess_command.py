# SPDX-License-Identifier: Apache-2.0
"""`rclrt postprocess`: makes a row for each chain, from logs or results, to be appended to
others."""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rclrt_py.errors import EXIT_OK, BadInput
from rclrt_py.files.atomic import write_output
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.native import read_lines
from rclrt_py.runs.run_data import RESULTS

from rclrt_generator.chain_log import durations_of_runs, read_chain_log

HELP = "a row of response times for each chain, from the logs of generated programs or from results"
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source",
        metavar="SOURCE",
        type=Path,
        help="a log (of syslog, or what CHAIN_LOG named), or a directory with results.json",
    )
    parser.add_argument(
        "--chains", metavar="FILE", type=Path, required=True, help="chains.json of the application"
    )
    parser.add_argument("--no-header", action="store_true", help="only the rows, to append them")
    parser.add_argument(
        "-o", "--out", metavar="FILE", type=Path, help="write them there; default: print them"
    )


def run(arguments: argparse.Namespace) -> int:
    rows = list(JsonValue.load(arguments.chains).items())
    if not rows:
        raise BadInput(f"{arguments.chains}: has no chain")
    if arguments.source.is_dir():
        times = _of_results(arguments.source, rows)
    else:
        times = _of_log(arguments.source, rows)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if not arguments.no_header:
        writer.writerow(COLUMNS)
    for row, found in zip(rows, times, strict=True):
        writer.writerow(_row(row, found, len(rows)))
        if found is None:
            print(
                f"rclrt: chain {row.get('ID').count()} has no events in {arguments.source}",
                file=sys.stderr,
            )
    if arguments.out is not None:
        write_output(arguments.out, text.getvalue())
    else:
        print(text.getvalue(), end="")
    return EXIT_OK


def _row(row: JsonValue, times: Times | None, count: int) -> list[object]:
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


def _of_log(path: Path, rows: Sequence[JsonValue]) -> list[Times | None]:
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


def _of_results(directory: Path, rows: Sequence[JsonValue]) -> list[Times | None]:
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
