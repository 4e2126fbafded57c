# SPDX-License-Identifier: Apache-2.0
"""Measures the tails of a 1 kHz timer, and puts the table into docs/results/executor-latency.md.

    tools/env python3 bench/publish_tails.py            takes 5 minutes
    tools/env python3 bench/publish_tails.py --print    writes nothing

Each executor runs the timer for 10 s, one executor after the other, five times: 50 000 releases
each. A release that an executor left out has no sample. Beside it the probe of `rclrt run` watches
the CPU. The probe is a thread without an executor that sleeps for a millisecond at the highest
priority, so it is late only if the host or the kernel delays it. The kernel tells how long it had
the probe wait for the CPU: the rest is the host's.
Nothing else may run on the machine.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from results_page import write_results

EXECUTORS = ("preemptive", "edf", "events", "producer_consumer", "wait_set")
ROUNDS, SECONDS = 5, 10
LATE_US = 100
APPLICATION = """\
rclrt: 1
name: tails
executors: [{name: main, cpus: [0]}]
nodes: [{name: loop, executor: main}]
callbacks:
  - {id: loop, node: loop, timer: {period_ms: 1}, wcet_ms: 0.001, priority: 9}
chains:
  - {id: loop, callbacks: [loop], deadline_ms: 1}
"""


@dataclass
class Tail:
    """From release to end of the timer's callback of 1 us, in microseconds."""

    late: list[float] = field(default_factory=list)
    undisturbed: list[float] = field(default_factory=list)
    """Those of the instances during which the probe was not late."""
    by_host: int = 0
    by_kernel: int = 0
    """How many instances later than LATE_US had their longest disturbance from the host, and from
    the kernel."""
    steal_ms: float = 0.0


@dataclass(frozen=True)
class Stall:
    """A time in which the probe was late, in nanoseconds of the run."""

    start_ns: int
    end_ns: int
    waited_ns: int

    @property
    def by_kernel(self) -> bool:
        """The probe was ready, and the kernel let it wait, for at least half of the time."""
        return 2 * self.waited_ns >= self.end_ns - self.start_ns

    def during(self, start_ns: int, end_ns: int) -> int:
        return max(0, min(self.end_ns, end_ns) - max(self.start_ns, start_ns))


def percentile(ordered: Sequence[float], per_mille: int) -> float:
    """Returns the smallest value that at least `per_mille` of 1000 values do not exceed."""
    return ordered[-(-per_mille * len(ordered) // 1000) - 1]


def run(executor: str, folder: Path, tail: Tail) -> None:
    out = folder / f"{executor}-{len(tail.late)}"
    command = ["rclrt", "run", "app.yaml", "--executor", executor, "--seconds", str(SECONDS)]
    done = subprocess.run(
        [*command, "--out", out.name], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1):  # 1: misses
        sys.exit(f"{executor}: {done.stdout}{done.stderr}")
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    tail.steal_ms += results["context"].get("steal_ms") or 0.0
    stalls = read_stalls(out)
    with (out / "chains.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["response_ns"]:  # else pending at the end
                count(tail, int(row["release_ns"]), int(row["completion_ns"]), stalls)


def read_stalls(out: Path) -> list[Stall]:
    with (out / "stalls.csv").open(encoding="utf-8") as file:
        return [
            Stall(int(row["start_ns"]), int(row["end_ns"]), int(row["waited_ns"] or 0))
            for row in csv.DictReader(file)
        ]


def count(tail: Tail, release_ns: int, completion_ns: int, stalls: Sequence[Stall]) -> None:
    late_us = (completion_ns - release_ns) / 1e3
    tail.late.append(late_us)
    longest = max(stalls, key=lambda each: each.during(release_ns, completion_ns), default=None)
    if longest is None or longest.during(release_ns, completion_ns) == 0:
        tail.undisturbed.append(late_us)
    elif late_us > LATE_US:
        tail.by_kernel += longest.by_kernel
        tail.by_host += not longest.by_kernel


def table(tails: dict[str, Tail]) -> Iterator[str]:
    yield (
        f"| executor | n | p50 | p99 | p99.9 | max | later than {LATE_US} µs | by the host |"
        " by the kernel | p99.9 of the undisturbed | their max |"
    )
    yield "| --- |" + " --: |" * 10
    for executor, tail in tails.items():
        late, others = sorted(tail.late), sorted(tail.undisturbed)
        yield (
            f"| {executor} | {len(late)} | {percentile(late, 500):.1f} |"
            f" {percentile(late, 990):.1f} | {percentile(late, 999):.1f} | {late[-1]:.0f} |"
            f" {sum(each > LATE_US for each in late)} | {tail.by_host} | {tail.by_kernel} |"
            f" {percentile(others, 999):.1f} | {others[-1]:.0f} |"
        )


def main(arguments: Sequence[str]) -> int:
    tails = {executor: Tail() for executor in EXECUTORS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "app.yaml").write_text(APPLICATION, encoding="utf-8")
        for _ in range(ROUNDS):
            for executor, tail in tails.items():
                run(executor, folder, tail)
    steal = sum(tail.steal_ms for tail in tails.values())
    seconds = ROUNDS * SECONDS * len(EXECUTORS)
    made = [
        f"Measured {datetime.now(UTC):%Y-%m-%d}, Linux {os.uname().release}. Times in µs. In these"
        f" {seconds} s the host took {steal:.0f} ms from the CPUs (steal).",
        "",
        *table(tails),
    ]
    if "--print" in arguments:
        print("\n".join(made))
    else:
        write_results("executor-latency.md", "the tails", Path(__file__).name, "\n".join(made))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
