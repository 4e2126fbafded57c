# SPDX-License-Identifier: Apache-2.0
"""Compares two builds of the executors' benchmark, and puts the table into executor-latency.md.

    tools/env python3 bench/publish_before_after.py --before old.*.json --after new.*.json

The files are results of `rclrt bench executors --quick --quiet --json FILE`, of the two builds in
turn. Each row has the median of its runs, and the least and the most of them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from rclrt_py.bench.rows import Benchmark, Row
from results_page import write_results

EXECUTOR = "preemptive"


def runs(benchmarks: Sequence[Benchmark], row: Row) -> list[Row]:
    """Returns the row of the same case in each run."""
    key = (row.case, row.entity, row.executor, row.cpus, row.entities, row.levels)
    return [
        each
        for benchmark in benchmarks
        for each in benchmark.rows
        if (each.case, each.entity, each.executor, each.cpus, each.entities, each.levels) == key
    ]


def values(rows: Sequence[Row]) -> list[float]:
    """Returns messages per second, or otherwise the median latency in microseconds, of each run."""
    found = [row.p50 if row.per_second is None else row.per_second for row in rows]
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else []


def shown(numbers: Sequence[float], digits: int) -> str:
    """Returns the median, and the range."""
    least, most = min(numbers), max(numbers)
    return f"{median(numbers):.{digits}f} ({least:.{digits}f} to {most:.{digits}f})"


def table(before: Sequence[Benchmark], after: Sequence[Benchmark]) -> Iterator[str]:
    yield "| case | entity | CPUs | before | after | after / before | floor, after |"
    yield "| --- | --- | --: | --: | --: | --: | --: |"
    for row in before[0].rows:
        if row.executor != EXECUTOR:
            continue
        old, new = values(runs(before, row)), values(runs(after, row))
        if not old or not new:
            continue
        unit = "µs" if row.per_second is None else "messages/s"
        digits = 1 if row.per_second is None else 0
        floors = [each.floor for each in runs(after, row) if each.floor is not None]
        floor = f"{median(floors):.1f}" if floors else "-"
        entity = row.entity if row.entities == 1 else f"{row.entities} of {row.entity}"
        yield (
            f"| {row.case} | {entity} | {row.cpus} | {shown(old, digits)} {unit} |"
            f" {shown(new, digits)} {unit} | {median(new) / median(old):.2f} | {floor} |"
        )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--before", type=Path, nargs="+", required=True)
    parser.add_argument("--after", type=Path, nargs="+", required=True)
    stated = parser.parse_args(arguments)
    before = [Benchmark.load(path) for path in stated.before]
    after = [Benchmark.load(path) for path in stated.after]
    samples = f"{len(before)} and {len(after)} runs in turn"
    first = f"`{EXECUTOR}`, {samples} on {after[0].cpu}, Linux {after[0].kernel}; medians of p50"
    write_results(
        "executor-latency.md",
        "before and after",
        Path(__file__).name,
        "\n".join([first, "(the least to the most of the runs).", "", *table(before, after)]),
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
