# SPDX-License-Identifier: Apache-2.0
"""Compares every executor on every bundled application, and writes
docs/results/executors-on-examples.md.

tools/env python3 bench/publish_compare.py            measures, and writes
tools/env python3 bench/publish_compare.py --print    writes nothing
Optional arguments: ROUNDS, and SECONDS of each round. Needs an otherwise idle machine.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from rclrt_cli.main import main as rclrt
from rclrt_py.comparisons.comparison import Comparison, merge_directory
from rclrt_py.executors import EXECUTORS, kind_of
from rclrt_py.runs.application import on_several_cpus
from rclrt_py.runs.results import ChainResult
from rclrt_py.terminal.table import markdown_lines
from results_page import HERE, write_results
from robots import arguments_of

ROUNDS, SECONDS = 2, 3
EXAMPLES, PAGE = HERE.parent / "examples", "executors-on-examples.md"
VARIANTS = {
    "wait_set": (":threads=2", ":static", ":order=arbitrary:seed=1"),
    "events": (":timers_thread",),
    "static_order": (":let",),
}


def contenders(app: Path) -> list[str]:
    """Each kind, followed by its variants with options; kinds by deadline run on one CPU only."""
    return [
        name + option
        for name in EXECUTORS
        if not (kind_of(name).by_deadline and on_several_cpus(app))
        for option in ("", *VARIANTS.get(name, ()))
    ]


def compared(app: Path, rounds: int, seconds: int, out: Path) -> Comparison:
    names = contenders(app)
    command = ["compare", str(app), "--executors", ",".join(names), "--rounds", str(rounds)]
    code = rclrt([*command, "--seconds", str(rounds * seconds), "--out", str(out)])
    if code != 0:
        sys.exit(f"error: {app}: rclrt compare ended with exit code {code}")
    return merge_directory(out, names, rounds, rounds * seconds)


def cell(chain: ChainResult) -> str:
    if chain.response is None:
        return f"{chain.missed} of {chain.released}"
    return (
        f"{chain.missed} of {chain.released} · {chain.response.p50:.1f} · {chain.response.p99:.1f}"
    )


def table(comparison: Comparison) -> Iterator[str]:
    chains = comparison.executors[0].chains
    titles = (f"`{chain.id}`, {chain.deadline_ms:g} ms" for chain in chains)
    rows = (
        [f"`{results.executor}`", *map(cell, results.chains)] for results in comparison.executors
    )
    return markdown_lines(["", *titles], rows)


def main(arguments: list[str]) -> int:
    prints, rounds, seconds = arguments_of(arguments, ROUNDS, SECONDS)
    parts: list[str] = []
    for app in sorted(EXAMPLES.glob("*/app.yaml")):
        with tempfile.TemporaryDirectory() as folder:
            comparison = compared(app, rounds, seconds, Path(folder, "out"))
        context = comparison.context
        if not parts:
            day = datetime.now(UTC).strftime("%Y-%m-%d")
            scheduling = "real time" if context["realtime"] else "normal scheduling"
            parts += [
                f"Measured {day}, {rounds} rounds of {seconds} s each, interleaved, {scheduling}, "
                f"Linux {context['kernel'].split()[0]}, {context['cpus']} CPUs. For each "
                "chain, with its deadline: missed of released · median · 99th percentile of the "
                "response in ms.",
            ]
        stolen = sum(results.context["steal_ms"] for results in comparison.executors)
        host = f"(the hypervisor took {stolen:.0f} ms of CPU time)"
        parts += ["", f"`examples/{app.parent.name}` {host}:", ""]
        parts += table(comparison)
    text = "\n".join(parts)
    print(text)
    if not prints:
        write_results(PAGE, "the executors on the bundled applications", Path(__file__).name, text)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    sys.exit(main(sys.argv[1:]))
