# SPDX-License-Identifier: Apache-2.0
"""Runs every example, compares it with its bounds, and puts the table into docs/results/bounds.md.

    tools/env python3 bench/publish_bounds.py [--seconds S] [--executor X] [--tries N] [--print]

Calibrates first; --overheads FILE uses an earlier calibration. Results stay in --out DIR if given.
If the host took more than the share QUIET of a measurement's time, the measurement is repeated,
whatever its result, at most --tries times in total. Then the quietest one counts, and the page has
the number of tries. The exit code is 3 when an instance was above a proved bound and the host was
not the cause.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rclrt_cli.main import main as rclrt
from rclrt_py.comparisons.comparison import Comparison, load_single_run
from rclrt_py.errors import EXIT_ABOVE_BOUND, EXIT_OK
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.terminal.table import markdown_lines
from results_page import HERE, write_results

EXAMPLES = sorted((HERE.parent / "examples").glob("*/app.yaml"))
LARGEST_MESSAGE = 100_000
"""The largest in the examples: publishing and taking it is part of the dispatch overhead."""
QUIET = 0.005
"""The share of a measurement's time that the host may take. Only this decides on another try."""

HEADS = (
    "example, chain", "tries", "n", "bound ms", "observed max ms", "share", "verdict", "above",
    "by host", "broken", "unexplained", "stalls", "by the kernel",
)  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """One measurement: the folder of its results, and the exit code of its command."""

    path: Path
    code: int
    stolen: float
    """The share of its time that the host took from the machine's CPUs."""
    tries: int = 1


def arguments_of(command_line: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--executor", default="preemptive")
    parser.add_argument("--overheads", type=Path)
    parser.add_argument("--statistic", default="max_undisturbed")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--tries", type=int, default=5)
    parser.add_argument("--print", action="store_true", help="write no page")
    arguments = parser.parse_args(command_line)
    if arguments.tries < 1:
        parser.error(f"--tries must be at least 1, not {arguments.tries}")
    return arguments


def main(command_line: list[str]) -> int:
    arguments = arguments_of(command_line)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="rclrt-bounds-") as name:
        directory: Path = arguments.out or Path(name)
        directory.mkdir(parents=True, exist_ok=True)
        if arguments.overheads is None:
            calibration = quietest(arguments.tries, lambda n: calibrated(arguments, directory, n))
            if calibration.code != EXIT_OK:
                return calibration.code
        else:
            calibration = Measured(arguments.overheads, EXIT_OK, 0.0)
        runs = []
        for app in EXAMPLES:
            pinned = held_to_one_cpu(app, directory)
            run = quietest(
                arguments.tries,
                partial(ran, arguments, calibration.path, pinned, directory / app.parent.name),
            )
            if run.code not in (EXIT_OK, EXIT_ABOVE_BOUND):
                return run.code
            runs.append((app.parent.name, run))
        made = "\n".join(page(arguments, calibration, runs, load))
    print(made)
    if not arguments.print:
        write_results("bounds.md", "the bounds", Path(__file__).name, made)
    return max(run.code for _, run in runs)


def quietest(tries: int, measure: Callable[[int], Measured]) -> Measured:
    """Measures until the host does not disturb it, at most `tries` times; stops at a failure."""
    best: Measured | None = None
    for n in range(1, tries + 1):
        last = measure(n)
        failed = last.code not in (EXIT_OK, EXIT_ABOVE_BOUND)
        if best is None or failed or last.stolen < best.stolen:
            best = last
        if failed or best.stolen <= QUIET:
            break
    assert best is not None
    return replace(best, tries=n)


def calibrated(arguments: argparse.Namespace, directory: Path, n: int) -> Measured:
    path = directory / f"overheads-{n}.json"
    command = ["calibrate", "--executors", arguments.executor, "-o", str(path)]
    code = rclrt([*command, "--message-bytes", str(LARGEST_MESSAGE)])
    if code != EXIT_OK:
        return Measured(path, code, 0.0)
    made = JsonValue.load(path)
    stolen = made.get("steal_ms").number() / 1e3 / made.get("seconds").number()
    return Measured(path, code, stolen)


def ran(
    arguments: argparse.Namespace, overheads: Path, app: Path, directory: Path, n: int
) -> Measured:
    path = directory / str(n)
    code = rclrt(
        [
            *("run", str(app), "--executor", arguments.executor, "--out", str(path)),
            *("--seconds", str(arguments.seconds), "--overheads", str(overheads)),
            *("--overhead-percentile", arguments.statistic),
        ]
    )
    if code not in (EXIT_OK, EXIT_ABOVE_BOUND):
        return Measured(path, code, 0.0)
    (results,) = load_single_run(path).executors
    return Measured(path, code, results.context["steal_ms"] / 1e3 / arguments.seconds)


def times_of(measured: Measured) -> str:
    return "once" if measured.tries == 1 else f"{measured.tries} times"


def held_to_one_cpu(app: Path, directory: Path) -> Path:
    """Returns an application that may use every CPU restricted to the CPU of the other examples."""
    text = app.read_text(encoding="utf-8")
    if "\nexecutors:" in text:
        return app
    pinned = directory / f"{app.parent.name}.yaml"
    pinned.write_text(f"{text}\nexecutors:\n  - {{name: main, cpus: [1]}}\n", encoding="utf-8")
    return pinned


def overhead_table(machine: JsonValue, own: JsonValue) -> Iterator[str]:
    times = [(name, own.get(name)) for name in own.object()]
    hops = machine.get("hop_us")
    times += [(f"hop {name}", hops.get(name)) for name in hops.object()]
    times.append(("background_us, each ms", machine.get("background_us")))
    keys = ("n", "p50", "p99", "max", "max_undisturbed")
    rows = [
        [
            name.replace("_us", "").replace("_", " "),
            *(f"{value.get(key).value:g}" if value.has(key) else "-" for key in keys),
        ]
        for name, value in times
    ]
    yield from markdown_lines(["overheads, µs", *(key.replace("_", " ") for key in keys)], rows)
    yield ""


def example_rows(
    example: str, run: Measured, comparison: Comparison, notes: list[str]
) -> Iterator[list[str]]:
    """Yields one row per chain; adds to `notes` why instances were above their bound."""
    (results,) = comparison.executors
    stalls = [stall for data in comparison.runs[results.executor] for stall in data.stalls()]
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
            str(run.tries),
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
        yield cells
        notes += [f"* {example}, {chain.id}: {why}" for why in predicted.exceeded_why]


def page(
    arguments: argparse.Namespace,
    calibration: Measured,
    runs: list[tuple[str, Measured]],
    load: float,
) -> Iterator[str]:
    machine = JsonValue.load(calibration.path)
    own = machine.get("executors").get(arguments.executor)
    found = [(name, run, load_single_run(run.path)) for name, run in runs]
    started = found[0][2].executors[0].started_utc[:10]
    stated = machine.get("machine").object()
    yield (
        f"Measured {started}: {stated.get('cpu_model', 'unknown CPU')}, Linux "
        f"{stated.get('kernel', 'unknown')}; `{arguments.executor}`, {arguments.seconds:g} s each; "
        f"load {load:.1f} before."
    )
    yield ""
    yield from overhead_table(machine, own)
    yield (
        f"The bounds use `{arguments.statistic}`. autoware_reference, which may use every CPU, was "
        "held to one (`cpus: [1]`)."
    )
    if machine.has("rt_bandwidth"):
        share = machine.get("rt_bandwidth").get("share").number()
        yield f"The kernel leaves real-time threads {100 * share:.1f} % of a CPU."
    yield (
        f"A measurement in which the host took more than {100 * QUIET:g} % of the time was "
        f"repeated, at most {arguments.tries} times in all. The calibration was done "
        f"{times_of(calibration)}; the column **tries** has the number of runs."
    )
    yield ""
    notes: list[str] = []
    rows = [row for each in found for row in example_rows(*each, notes)]
    yield from markdown_lines(HEADS, rows)
    yield ""
    yield (
        "**above**: instances above the bound. **by host**: a measured stall of the host, or the "
        "kernel's limit for real-time threads, covers it. "
        "**broken**: another assumption was measured not to hold. **unexplained**: neither. "
        "**by the kernel**: how long it did not run the probe, which was ready: by its "
        "limit, or for something more urgent. "
        "A run that the host never left alone is the quietest of its tries."
    )
    if notes:
        yield ""
        yield from notes


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
