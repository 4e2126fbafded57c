# SPDX-License-Identifier: Apache-2.0
"""Measures, and puts tables and pictures into docs/results/executor-latency.md.

    tools/env python3 bench/publish_figures.py            measures first, 4 minutes
    tools/env python3 bench/publish_figures.py --again    from bench/executors.json

Further options are those of `rclrt bench executors`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from rclrt_cli.main import main
from rclrt_py.bench.plots import BURNER, GROWTH, write_plots
from rclrt_py.bench.rows import Benchmark
from rclrt_py.bench.tables import all_tables, conditions
from rclrt_py.bench.targets import targets
from results_page import FIGURES, HERE, write_results

ROWS = HERE / "executors.json"


def section(benchmark: Benchmark, measured_on: str) -> Iterator[str]:
    yield f"Measured {measured_on}: {conditions(benchmark)}."
    yield ""
    yield from targets(benchmark).markdown()
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


def publish(arguments: list[str]) -> int:
    FIGURES.mkdir(exist_ok=True)
    if arguments != ["--again"]:
        code = main(["bench", "executors", "--json", str(ROWS), *arguments])
        if code != 0:
            return code
    benchmark = Benchmark.load(ROWS)
    write_plots(benchmark, FIGURES)
    day = datetime.fromtimestamp(ROWS.stat().st_mtime, UTC).strftime("%Y-%m-%d")
    made = "\n".join(section(benchmark, day))
    write_results("executor-latency.md", "the executors", Path(__file__).name, made)
    return 0


if __name__ == "__main__":
    sys.exit(publish(sys.argv[1:]))
