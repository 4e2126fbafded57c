# SPDX-License-Identifier: Apache-2.0
"""Runs every example beside its bounds, and puts the table into bench/README.md.

    tools/env python3 bench/publish_bounds.py [--seconds S] [--executor X] [--print]

Calibrates first; --overheads FILE takes an earlier calibration. Results stay in --out DIR if given.
The exit code is 3 when something was observed above a proved bound and not because of the host.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rclrt_cli.comparison import Comparison, load_single_run
from rclrt_cli.errors import EXIT_ABOVE_BOUND, EXIT_OK
from rclrt_cli.json_reader import JsonValue
from rclrt_cli.main import main as rclrt
from readme_section import HERE, write_section

EXAMPLES = sorted((HERE.parent / "examples").glob("*/app.yaml"))
LARGEST_MESSAGE = 100_000
"""Of the examples: publishing and taking it is part of the dispatch overhead."""


def arguments_of(command_line: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--executor", default="preemptive")
    parser.add_argument("--overheads", type=Path)
    parser.add_argument("--statistic", default="max_undisturbed")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--print", action="store_true", help="write nothing into the README")
    return parser.parse_args(command_line)


def main(command_line: list[str]) -> int:
    arguments = arguments_of(command_line)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="rclrt-bounds-") as name:
        directory: Path = arguments.out or Path(name)
        directory.mkdir(parents=True, exist_ok=True)
        overheads: Path = arguments.overheads or directory / "overheads.json"
        if arguments.overheads is None:
            calibrate = ["calibrate", "--executors", arguments.executor, "-o", str(overheads)]
            code = rclrt([*calibrate, "--message-bytes", str(LARGEST_MESSAGE)])
            if code != EXIT_OK:
                return code
        worst, found = EXIT_OK, []
        for app in EXAMPLES:
            out = directory / app.parent.name
            pinned = held_to_one_cpu(app, directory)
            code = rclrt(
                [
                    *("run", str(pinned), "--executor", arguments.executor, "--out", str(out)),
                    *("--seconds", str(arguments.seconds), "--overheads", str(overheads)),
                    *("--overhead-percentile", arguments.statistic),
                ]
            )
            if code not in (EXIT_OK, EXIT_ABOVE_BOUND):
                return code
            worst = max(worst, code)
            found.append((app.parent.name, load_single_run(out)))
        made = "\n".join(page(arguments, overheads, found, load))
    print(made)
    if not arguments.print:
        write_section("the bounds", Path(__file__).name, made)
    return worst


def held_to_one_cpu(app: Path, directory: Path) -> Path:
    """An application that may use every CPU as one that has the CPU of the other examples."""
    text = app.read_text(encoding="utf-8")
    if "\nexecutors:" in text:
        return app
    pinned = directory / f"{app.parent.name}.yaml"
    pinned.write_text(f"{text}\nexecutors:\n  - {{name: main, cpus: [1]}}\n", encoding="utf-8")
    return pinned


def page(
    arguments: argparse.Namespace,
    overheads: Path,
    found: list[tuple[str, Comparison]],
    load: float,
) -> Iterator[str]:
    machine = JsonValue.load(overheads)
    own = machine.get("executors").get(arguments.executor)
    started = found[0][1].executors[0].started_utc[:10]
    stated = machine.get("machine").object()
    yield (
        f"Measured {started}: {stated.get('cpu_model', 'unknown CPU')}, Linux "
        f"{stated.get('kernel', 'unknown')}; `{arguments.executor}`, {arguments.seconds:g} s each; "
        f"load {load:.1f} before."
    )
    yield ""
    yield "| overheads, µs | n | p50 | p99 | max | max undisturbed |"
    yield "| --- | --: | --: | --: | --: | --: |"
    times = [(name, own.get(name)) for name in own.object()]
    hops = machine.get("hop_us")
    times += [(f"hop {name}", hops.get(name)) for name in hops.object()]
    times.append(("background_us, each ms", machine.get("background_us")))
    for name, value in times:
        figures = (
            f"{value.get(key).value:g}" if value.has(key) else "-"
            for key in ("n", "p50", "p99", "max", "max_undisturbed")
        )
        yield f"| {name.replace('_us', '').replace('_', ' ')} | {' | '.join(figures)} |"
    yield ""
    yield (
        f"The bounds use `{arguments.statistic}`. autoware_reference, which may use every CPU, was "
        "held to one (`cpus: [1]`)."
    )
    if machine.has("rt_bandwidth"):
        share = machine.get("rt_bandwidth").get("share").number()
        yield f"The kernel leaves real-time threads {100 * share:.1f} % of a CPU."
    yield ""
    heads = "example, chain | n | bound ms | observed max ms | share | verdict"
    yield f"| {heads} | above | by host | broken | unexplained | stalls | by the kernel |"
    yield f"| --- | --: | --: | --: | --: | --- |{' --: |' * 6}"
    told = []
    for example, comparison in found:
        (results,) = comparison.executors
        stalls = [stall for run in comparison.runs[results.executor] for stall in run.stalls()]
        by_host = sum(stall.host_end - stall.start for stall in stalls) / 1e6
        waited = sum(stall.end - stall.host_end for stall in stalls) / 1e6
        for chain in results.chains:
            predicted = chain.predicted
            if predicted is None:
                continue
            worst = chain.response.worst if chain.response else None
            bound = predicted.bound_ms
            cells = [
                f"{example}, {chain.id}",
                str(chain.released),
                "-" if bound is None else f"{bound:.3f}",
                "-" if worst is None else f"{worst:.3f}",
                "-" if bound is None or worst is None else f"{worst / bound:.2f}",
                predicted.verdict,
                str(predicted.exceeded),
                str(predicted.exceeded_host),
                str(predicted.exceeded_broken),
                str(predicted.exceeded_own - predicted.exceeded_broken),
                f"{len(stalls)}, {by_host:.1f} ms",
                f"{waited:.1f} ms",
            ]
            yield f"| {' | '.join(cells)} |"
            told += [f"* {example}, {chain.id}: {why}" for why in predicted.exceeded_why]
    yield ""
    yield (
        "**above**: instances above the bound. **by host**: a measured stall of the host, or the "
        "kernel's limit for real-time threads, covers it. "
        "**broken**: another assumption was measured not to hold. **unexplained**: neither. "
        "**by the kernel**: how long it did not run the probe, which was ready: by its "
        "limit, or for something more urgent."
    )
    if told:
        yield ""
        yield from told


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
