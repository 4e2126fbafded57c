# SPDX-License-Identifier: Apache-2.0
"""Compares wake-ups with cyclictest of Debian's rt-tests, and puts the table into
docs/results/wake-ups.md.

    tools/env python3 bench/publish_latency.py [--rounds N] [--seconds S] [--print]

In each round three programs run one after the other: cyclictest, `rclrt latency` with the same
options, and `rclrt latency` without options. The exit code is 1 when a median with the same options
is not within 10 % of cyclictest's.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from rclrt_py.processes.runner import find_program
from results_page import write_results

PACKAGE = "rclrt_latency"
OTHER = "cyclictest"
ALIKE, USUAL = "`rclrt latency --stalls none`", "`rclrt latency`"
BINS = 20_000
CLOSE = 0.10
Histogram = Counter[int]
"""Samples by whole microseconds, rounded down; samples without a bin in cyclictest are BINS."""
Measured = dict[int, Histogram]
"""The histogram of each CPU."""


def cyclictest(program: str, seconds: int) -> Measured:
    """Runs cyclictest. -m: locked memory; -S: a thread per CPU; priority 80; every 1000 us."""
    options = ["-m", "-S", "-p80", "-i1000", "-q", f"-D{seconds}", f"-h{BINS}"]
    text = subprocess.run([program, *options], check=True, capture_output=True, text=True).stdout
    result: Measured = {}
    for line in text.splitlines():
        words = line.replace("# Histogram Overflows:", str(BINS)).split()
        if len(words) > 1 and all(word.isdigit() for word in words):
            for cpu, count in enumerate(map(int, words[1:])):
                result.setdefault(cpu, Counter())[int(words[0])] += count
    return result


def rclrt(program: Path, seconds: int, *options: str) -> Measured:
    command = [str(program), "--seconds", str(seconds), *options]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    (series,) = json.loads(text)["series"]
    return {each["cpu"]: Counter(dict(each["histogram"])) for each in series["threads"]}


def median(histogram: Histogram) -> float:
    """Interpolates within its bin, as if the bin's samples were spread evenly."""
    half, below = histogram.total() / 2, 0
    for time_us, count in sorted(histogram.items()):
        if count and below + count >= half:
            return time_us + (half - below) / count
        below += count
    return math.nan


def percentile(histogram: Histogram, percent: float) -> int:
    rank, below = math.ceil(percent / 100 * histogram.total()), 0
    for time_us, count in sorted(histogram.items()):
        below += count
        if count and below >= rank:
            return time_us
    return 0


def table(measured: dict[str, Measured]) -> tuple[list[str], bool]:
    """Returns the lines, and whether medians with the same options are close to cyclictest's."""
    lines = [
        "| CPU |  | n | median µs | / cyclictest | p99 µs | max µs |",
        "| --: | --- | --: | --: | --: | --: | --: |",
    ]
    close = True
    for cpu in sorted(measured[OTHER]):
        reference = median(measured[OTHER][cpu])
        for name, by_cpu in measured.items():
            histogram = by_cpu[cpu]
            ratio = median(histogram) / reference
            close = close and (name != ALIKE or abs(ratio - 1) <= CLOSE)
            cells = [
                str(cpu), name, str(histogram.total()), f"{median(histogram):.2f}", f"{ratio:.3f}",
                str(percentile(histogram, 99)), str(percentile(histogram, 100)),
            ]  # fmt: skip
            lines.append(f"| {' | '.join(cells)} |")
    return lines, close


def page(arguments: argparse.Namespace, version: str, load: float) -> Iterator[str]:
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    yield (
        f"Measured {day}, Linux {os.uname().release}, {os.cpu_count()} CPUs, {version}; "
        f"{arguments.rounds} rounds of {arguments.seconds} s each, load {load:.1f} before."
    )
    yield ""


def arguments_of(command_line: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=int, default=3, help="of each program in each round")
    parser.add_argument("--print", action="store_true", help="write no page")
    return parser.parse_args(command_line)


def main(command_line: list[str]) -> int:
    arguments = arguments_of(command_line)
    other = shutil.which(OTHER)
    if other is None:
        sys.exit(f"{OTHER} was not found\n  fix: apt-get install rt-tests")
    program = find_program(os.environ, PACKAGE, PACKAGE)
    load = os.getloadavg()[0]
    names = (OTHER, ALIKE, USUAL)
    measured: dict[str, Measured] = {name: {} for name in names}
    for _ in range(arguments.rounds):
        made = (
            cyclictest(other, arguments.seconds),
            rclrt(program, arguments.seconds, "--stalls", "none"),
            rclrt(program, arguments.seconds),
        )
        for name, by_cpu in zip(names, made, strict=True):
            for cpu, histogram in by_cpu.items():
                measured[name].setdefault(cpu, Counter()).update(histogram)
    help_text = subprocess.run([other, "--help"], check=False, capture_output=True, text=True)
    version = (help_text.stdout + help_text.stderr).split("\n")[0].replace(" V ", " ")
    lines, close = table(measured)
    text = "\n".join([*page(arguments, version, load), *lines])
    print(text)
    if not arguments.print:
        write_results("wake-ups.md", "wake-ups", Path(__file__).name, text)
    return 0 if close else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
