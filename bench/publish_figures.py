# SPDX-License-Identifier: Apache-2.0
"""Measures, and puts tables and pictures into docs/results/executor-latency.md.

    tools/env python3 bench/publish_figures.py --quiet              measures first, 20 minutes
    tools/env python3 bench/publish_figures.py --quiet --only every measures the medians, 4 minutes
    tools/env python3 bench/publish_figures.py --again              from the files of before

It measures twice. The five executors that the targets compare are measured until each row has the
samples of a 99th percentile (bench/percentiles.json). Every executor is measured for its median
(bench/executors.json). A run of 5 000 samples for every executor would take an hour.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from rclrt_cli.main import main
from rclrt_py.bench.plots import BURNER, GROWTH, write_plots
from rclrt_py.bench.rows import Benchmark
from rclrt_py.bench.tables import all_tables, conditions
from rclrt_py.bench.targets import targets
from results_page import FIGURES, HERE, write_results


@dataclass(frozen=True)
class Measurement:
    """A run of `rclrt bench executors`, and the section of the page that it fills."""

    section: str
    file: str
    options: tuple[str, ...]
    show: Callable[[Benchmark], Iterator[str]]


def percentiles(benchmark: Benchmark) -> Iterator[str]:
    yield from targets(benchmark).markdown()
    for table in all_tables(benchmark):
        yield ""
        yield from table.markdown()


def every(benchmark: Benchmark) -> Iterator[str]:
    write_plots(benchmark, FIGURES)
    growth = targets(benchmark)
    growth = replace(growth, rows=tuple(row for row in growth.rows if row[0].startswith("(g)")))
    yield from growth.markdown()
    yield ""
    yield f"![Lateness beside a burner, by executor](figures/{BURNER})"
    yield ""
    yield f"![Median latency by number of entities](figures/{GROWTH})"
    yield ""
    yield "<details><summary>All tables</summary>"
    for table in all_tables(benchmark):
        yield ""
        yield from table.markdown()
    yield ""
    yield "</details>"


MEASUREMENTS = {
    "percentiles": Measurement(
        "the targets and the percentiles",
        "percentiles.json",
        (
            *("--executors", "wait_set,split,preemptive,edf,events"),
            *("--cases", "timer,dispatch,publish,intra_process,publish_in_callback,burner"),
            *("--seconds", "1000"),
        ),
        percentiles,
    ),
    "every": Measurement("every executor", "executors.json", (), every),
}


def publish(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--again", action="store_true", help="make the page from the files")
    parser.add_argument("--quiet", action="store_true", help="as in `rclrt bench executors`")
    parser.add_argument("--only", choices=list(MEASUREMENTS), help="only this measurement")
    stated = parser.parse_args(arguments)
    FIGURES.mkdir(exist_ok=True)
    for name, each in MEASUREMENTS.items():
        if stated.only not in (None, name):
            continue
        path = HERE / each.file
        if not stated.again:
            quiet = ["--quiet"] if stated.quiet else []
            code = main(["bench", "executors", "--json", str(path), *quiet, *each.options])
            if code != 0:
                return code
        benchmark = Benchmark.load(path)
        day = datetime.fromtimestamp(path.stat().st_mtime, UTC).strftime("%Y-%m-%d")
        made = [f"Measured {day}: {conditions(benchmark)}.", "", *each.show(benchmark)]
        script = Path(__file__).name
        write_results("executor-latency.md", each.section, script, "\n".join(made))
    return 0


if __name__ == "__main__":
    sys.exit(publish(sys.argv[1:]))
