# SPDX-License-Identifier: Apache-2.0
"""Every executor runs callbacks in the order that the simulator predicts."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from pathlib import Path

import pytest
from rclrt_py.executors import EXECUTORS
from rclrt_py.testing.command import finished

VARIANTS = (
    "wait_set:threads=2",
    "wait_set:static",
    "wait_set:order=arbitrary:seed=1",
    "events:timers_thread",
    "static_order:trigger=all",
    "static_order:trigger_on=middle",
    "static_order:let",
)
TRIES = 10
PERIODS = 3
"""With the order of the simulation. A busy machine may delay others by more than 30 ms."""
TIMERS = """
rclrt: 1
name: order
executors: [{{name: only, cpus: [{cpu}]}}]
nodes: [{{name: n, executor: only}}]
callbacks:
  - {{id: long, node: n, timer: {{period_ms: 200, offset_ms: 20}}, wcet_ms: 40, priority: 1,
     publishes: [data]}}
  - {{id: urgent, node: n, timer: {{period_ms: 200, offset_ms: 30}}, wcet_ms: 3, priority: 9}}
  - {{id: middle, node: n, timer: {{period_ms: 200, offset_ms: 40}}, wcet_ms: 3, priority: 5,
     publishes: [more]}}
  - {{id: late, node: n, timer: {{period_ms: 200, offset_ms: 100}}, wcet_ms: 3, priority: 3}}
"""
"""Each callback becomes ready 10 ms or more before or after any other event."""
SUBSCRIPTIONS = """
  - {id: after_long, node: n, subscription: {topic: data}, wcet_ms: 3, priority: 2, group: one}
  - {id: after_middle, node: n, subscription: {topic: more}, wcet_ms: 3, priority: 6, group: one}
chains:
  - {id: one, callbacks: [long, after_long], deadline_ms: 200, priority: 1}
  - {id: two, callbacks: [middle, after_middle], deadline_ms: 150, priority: 2}
"""

TWO_EDFS = """
rclrt: 1
name: edfs
executors: [{{name: first, cpus: [{cpu}]}}, {{name: second, cpus: [{cpu}]{process}}}]
nodes: [{{name: a, executor: first}}, {{name: b, executor: second}}]
callbacks:
  - {{id: long, node: a, timer: {{period_ms: 200, offset_ms: 20}}, wcet_ms: 40, deadline_ms: 100}}
  - {{id: urgent, node: b, timer: {{period_ms: 200, offset_ms: 30}}, wcet_ms: 3, deadline_ms: 20}}
  - {{id: slow, node: b, timer: {{period_ms: 200, offset_ms: 100}}, wcet_ms: 30, deadline_ms: 90}}
  - {{id: quick, node: b, timer: {{period_ms: 200, offset_ms: 110}}, wcet_ms: 3, deadline_ms: 20}}
  - {{id: late, node: a, timer: {{period_ms: 200, offset_ms: 120}}, wcet_ms: 3, deadline_ms: 100}}
"""
"""The only worker of `first` is as urgent as the upper one of the two workers of `second`."""
CHAIN_OF_ONE = "chains: [{id: one, callbacks: [long], deadline_ms: 200, priority: 1}]"

Order = tuple[tuple[str, ...], tuple[str, ...]]


def orders(results: Path) -> Counter[Order]:
    """Returns how often each order of starts and of ends occurred in a period."""
    with (results / "instances.csv").open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["outcome"] == "ran"]
    zero = next(int(row["release_ns"]) for row in rows if row["callback"] == "long")
    periods: dict[int, list[dict[str, str]]] = {}
    for row in rows:
        # A period begins 20 ms before the release of `long`: nothing else happens then.
        number = (int(row["start_ns"]) - zero + 20_000_000) // 200_000_000
        periods.setdefault(number, []).append(row)
    found: Counter[Order] = Counter()
    for period in periods.values():
        by_start = sorted(period, key=lambda row: int(row["start_ns"]))
        by_end = sorted(period, key=lambda row: int(row["end_ns"]))
        found[
            tuple(row["callback"] for row in by_start), tuple(row["callback"] for row in by_end)
        ] += 1
    return found


def usual_order(results: Path) -> Order:
    return orders(results).most_common(1)[0][0]


def own_cpu() -> int:
    """Returns one of the CPUs that this process may use, by the number of the test's worker."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    cpus = sorted(os.sched_getaffinity(0))
    return cpus[worker % len(cpus)]


def check_order(app: Path, executor: str) -> Order:
    """Compares runs with the simulation, and returns the order."""
    said = [str(app), "--executor", executor, "--seconds", "1"]
    done = finished("simulate", *said, "--out", str(app.parent / "simulated"))
    assert done.returncode == 0, done.stderr
    expected = usual_order(app.parent / "simulated")
    seen: Counter[Order] = Counter()
    for number in range(TRIES):  # the host may take the CPU for longer than 10 ms
        out = app.parent / f"run{number}"
        done = finished("run", *said, "--out", str(out))
        assert done.returncode == 0, done.stderr
        if not json.loads((out / "results.json").read_text())["context"]["realtime"]:
            pytest.skip("without permission for real time callbacks run to completion")
        seen += orders(out)
        if seen[expected] >= PERIODS:
            break
    assert seen[expected] >= PERIODS, f"{seen}"
    return expected


@pytest.mark.parametrize("executor", EXECUTORS + VARIANTS)
def test_a_run_has_the_order_of_its_simulation(executor: str, tmp_path: Path) -> None:
    app = tmp_path / "app.yaml"
    # Waiting for these subscriptions would mean waiting for timers of the same set.
    rest = CHAIN_OF_ONE if executor == "static_order:trigger=all" else SUBSCRIPTIONS
    app.write_text(TIMERS.format(cpu=own_cpu()) + rest)
    check_order(app, executor)


@pytest.mark.parametrize("process", ["", ", process: other"], ids=["in_one", "in_two"])
def test_two_edf_executors_on_a_cpu_order_only_their_own(process: str, tmp_path: Path) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(TWO_EDFS.format(cpu=own_cpu(), process=process) + CHAIN_OF_ONE)
    starts, ends = check_order(app, "edf")
    # `urgent` is due before `long`, but `long` belongs to the other executor.
    assert ends.index("long") < ends.index("urgent")
    assert starts == ("long", "urgent", "slow", "quick", "late")
    assert ends == ("long", "urgent", "quick", "late", "slow")
