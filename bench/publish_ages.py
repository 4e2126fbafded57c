# SPDX-License-Identifier: Apache-2.0
"""Compares the age of data at the wheel of examples/eye_to_wheel between `rclrt run` and the same
robot as nodes of rclcpp, and writes the table of the page.

tools/env python3 bench/publish_ages.py            measures, prints, and writes
tools/env python3 bench/publish_ages.py --print    writes nothing
Options: --rounds N (default 5), --seconds S of each run (default 60).
Needs rclrt_robot built on an rclcpp (make test-rclcpp), two CPUs, and an otherwise idle machine.

Both sides have the same images and the same offsets of timers. A round runs both, one after the
other, in turn; each command of the one is paired with the command of the same time of the other.
"""

from __future__ import annotations

import argparse
import bisect
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rclrt_py.files.atomic import write_atomically
from results_page import HERE, begin, end, replaced

ROOT = HERE.parent
EXAMPLE = ROOT / "examples" / "eye_to_wheel"
PAGE = ROOT / "docs" / "how-to" / "age-of-data.md"
KINDS = ("preemptive", "wait_set", "events", "events_urgent_timers")
CHAIN = "eye_to_wheel"
PERIOD_NS = 5_000_000
"""The period of the timer that sends the commands."""
FIRST_NS = 1_000_000_000
"""Commands before it are left out: memory and caches are cold."""

Ages = list[tuple[int, int]]
"""The end of each command since the begin of the run, and the age of its data, in ns."""


@dataclass(frozen=True)
class Round:
    """The ages of both sides, in ms."""

    run: list[float]
    nodes: list[float]
    differences: list[float]
    """One for each pair of commands: nodes less run."""
    steal_ms: float
    realtime: bool


def program() -> Path:
    build = ROOT / "build" / f"{os.environ['RCLRT_DISTRO']}-{os.environ['RCLRT_PRESET']}"
    found = build / "rclrt_robot" / "eye_to_wheel"
    if not found.is_file():
        print(f"error: {found} is missing.\nfix: make test-rclcpp", file=sys.stderr)
        sys.exit(2)
    return found


def model_kind(kind: str) -> str:
    """Returns the kind of the model and of `rclrt run` for an executor of the nodes."""
    return kind.removesuffix("_urgent_timers")


def read_ages(path: Path) -> Ages:
    with path.open(encoding="utf-8") as file:
        return sorted(
            (int(row["end_ns"]), int(row["age_ns"]))
            for row in csv.DictReader(file)
            if row.get("chain", CHAIN) == CHAIN and int(row["end_ns"]) >= FIRST_NS
        )


def rclrt(*arguments: str | Path) -> None:
    line = [sys.executable, "-m", "rclrt_cli", *map(str, arguments)]
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def of_run(kind: str, seconds: int, directory: Path) -> tuple[Ages, float, bool]:
    """Returns the ages of `rclrt run`, the CPU time that the host took, and whether threads had
    real-time priorities."""
    app = EXAMPLE / "app.yaml"
    rclrt("run", app, "--executor", model_kind(kind), "--seconds", str(seconds), "--out", directory)
    context = json.loads((directory / "results.json").read_text(encoding="utf-8"))["context"]
    realtime = bool(context["realtime"])
    return read_ages(directory / "outputs.csv"), float(context["steal_ms"]), realtime


def of_nodes(kind: str, seconds: int, directory: Path) -> Ages:
    directory.mkdir()
    ages = directory / "ages.csv"
    options = [f"duration:={seconds}", "stamped:=true", f"ages:={ages}"]
    if kind != "preemptive":  # that of robot.yaml
        options.append(f"executor:={kind}")
    line = [str(program()), str(EXAMPLE / "app.yaml"), str(EXAMPLE / "robot.yaml"), "--ros-args"]
    for option in options:
        line += ["-p", option]
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"error: {program()} failed:\n{done.stderr}", file=sys.stderr)
        sys.exit(1)
    return read_ages(ages)


def paired(run: Ages, nodes: Ages) -> list[float]:
    """Returns the differences of the ages, in ms, of commands that are less than half a period
    apart."""
    ends = [end_ns for end_ns, _ in run]
    differences = []
    for end_ns, age_ns in nodes:
        after = bisect.bisect_left(ends, end_ns)
        near = [at for at in (after - 1, after) if 0 <= at < len(ends)]
        if near:
            at = min(near, key=lambda index: abs(ends[index] - end_ns))
            if abs(ends[at] - end_ns) < PERIOD_NS / 2:
                differences.append((age_ns - run[at][1]) / 1e6)
    return differences


def measure(kind: str, number: int, seconds: int) -> Round:
    with tempfile.TemporaryDirectory(prefix="rclrt_ages_") as name:
        home = Path(name)
        nodes: Ages = []
        if number % 2 == 1:
            nodes = of_nodes(kind, seconds, home / "nodes")
        run, steal_ms, realtime = of_run(kind, seconds, home / "run")
        nodes = nodes or of_nodes(kind, seconds, home / "nodes")
    in_ms = [[age_ns / 1e6 for _, age_ns in ages] for ages in (run, nodes)]
    made = Round(in_ms[0], in_ms[1], paired(run, nodes), steal_ms, realtime)
    print(
        f"{kind}, round {number}: run {statistics.median(made.run):.3f} ms, nodes "
        f"{statistics.median(made.nodes):.3f} ms, difference of pairs "
        f"{statistics.median(made.differences) * 1e3:.0f} us, steal {steal_ms:.0f} ms",
        file=sys.stderr,
    )
    return made


def simulated(kind: str, seconds: int) -> str:
    with tempfile.TemporaryDirectory(prefix="rclrt_ages_") as name:
        out = Path(name) / "simulated"
        options = ("--executor", model_kind(kind), "--seconds", str(seconds), "--out", out)
        rclrt("simulate", EXAMPLE / "app.yaml", *options)
        return figures([age_ns / 1e6 for _, age_ns in read_ages(out / "outputs.csv")])


def bound(kind: str) -> str:
    """Returns the bound on the data age without overheads, in ms."""
    line = [sys.executable, "-m", "rclrt_cli", "analyze", str(EXAMPLE / "app.yaml")]
    line += ["--executor", model_kind(kind), "--dispatch-us", "0", "--json"]
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    (answer,) = [
        each for each in json.loads(done.stdout)["cause_effect_chains"] if each["id"] == CHAIN
    ]
    return f"{answer['age_ms']:g}"


def figures(ages_ms: list[float]) -> str:
    return f"{statistics.median(ages_ms):.2f}, {max(ages_ms):.1f}"


def row(kind: str, rounds: list[Round], seconds: int) -> str:
    """Returns the row of a table: medians of the rounds' medians, and the worst of all rounds."""

    def side(ages: list[list[float]]) -> str:
        return f"{statistics.median(map(statistics.median, ages)):.2f}, {max(map(max, ages)):.1f}"

    commands = sum(len(each.nodes) for each in rounds) / sum(len(each.run) for each in rounds)
    medians = [statistics.median(each.nodes) - statistics.median(each.run) for each in rounds]
    pairs = [statistics.median(each.differences) for each in rounds]
    return (
        f"| `{kind}` | {bound(kind)} | {simulated(kind, seconds)} | "
        f"{side([each.run for each in rounds])} | {side([each.nodes for each in rounds])} | "
        f"{statistics.median(medians) * 1e3:.0f} | {statistics.median(pairs) * 1e3:.0f} | "
        f"{commands:.0%} |"
    )


def scheduling(rounds: dict[str, list[Round]]) -> str:
    has_realtime = all(each.realtime for of_kind in rounds.values() for each in of_kind)
    return "SCHED_FIFO" if has_realtime else "normal scheduling: not comparable"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--print", action="store_true", dest="only_print")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=60)
    arguments = parser.parse_args()
    program()
    load = os.getloadavg()[0]
    rounds = {kind: [] for kind in KINDS}  # type: dict[str, list[Round]]
    for number in range(arguments.rounds):
        for kind in KINDS:
            rounds[kind].append(measure(kind, number, arguments.seconds))
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    lines = [
        f"Measured {day}: {arguments.rounds} rounds of {arguments.seconds} s, {os.cpu_count()} "
        f"virtual CPUs, load {load:.1f} before, {scheduling(rounds)}. Data age in ms, the median "
        "of the rounds' medians and the worst; differences in us, nodes less `run`: of the "
        "medians, and the median of commands of the same time; the nodes' commands as a share "
        "of those of `run`.",
        "",
        "| executor | bound | `simulate` | `run` | nodes on rclcpp | medians | pairs | commands |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
        *(row(kind, rounds[kind], arguments.seconds) for kind in KINDS),
    ]
    made = "\n".join(lines)
    print(made)
    if not arguments.only_print:
        text = PAGE.read_text(encoding="utf-8")
        first, last = begin("ages", Path(__file__).name), end("ages")
        write_atomically(PAGE, replaced(text, first, last, made))
    return 0


if __name__ == "__main__":
    sys.exit(main())
