# SPDX-License-Identifier: Apache-2.0
"""The output of the executors' benchmark, with made-up figures."""

from __future__ import annotations

from typing import Any

EXECUTORS = ("wait_set", "split", "preemptive")
FACTOR = {"wait_set": 400.0, "split": 2.0, "preemptive": 1.0}
Document = dict[str, Any]


def row(case: str, executor: str, cpus: int, entity: str, p50: float, **more: Any) -> Document:
    return {
        "case": case,
        "executor": executor,
        "cpus": cpus,
        "entity": entity,
        "entities": 1,
        "levels": 1,
        "n": 5000,
        "p50_us": p50,
        "p99_us": 2 * p50,
        "p999_us": 2.5 * p50,
        "max_us": 3 * p50,
        "lost": 0,
        "allocations": 0.0,
        "system_calls": 1.0,
        "cpu_us": 5.0,
        "floor_us": None,
        "per_second": None,
    } | more


def document() -> Document:
    """A futex wake takes 2 µs, `preemptive` 2.2 µs; one of its rows was not measured."""
    rows = []
    for cpus in (1, 2):
        rows.append(row("dispatch", "bare", cpus, "futex_wake", 2.0))
        rows.append(row("timer", "bare", cpus, "nanosleep", 10.0))
        rows.append(row("publish", "bare", cpus, "inline", 8.0, allocations=3.0))
        for executor in EXECUTORS:
            factor = FACTOR[executor]
            lost = 20 if executor == "wait_set" else 0
            rows += [
                row("dispatch", executor, cpus, "guard_condition", 2.2 * factor, floor_us=2.0),
                row("timer", executor, cpus, "timer", 11.0 * factor, floor_us=10.0),
                row(
                    *("publish", executor, cpus, "subscription", 9.0 * factor),
                    floor_us=10.0,
                    allocations=3.0,
                ),
                row("burner", executor, cpus, "timer", 12.0 * factor, floor_us=10.0, lost=lost),
                row(
                    *("saturated", executor, cpus, "subscription", 1.0),
                    n=0,
                    p50_us=None,
                    p99_us=None,
                    p999_us=None,
                    max_us=None,
                    system_calls=None,
                    per_second=100000.0,
                ),
            ]
    for size in (10, 100, 1000, 10000):
        for executor in EXECUTORS:
            for entity in ("timer", "guard_condition"):
                rows.append(row("entities", executor, 1, entity, 3.0 + size / 1e4, entities=size))
    return {
        "rclrt_bench": 1,
        "benchmark": "executors",
        "machine": {"kernel": "6.1.0 #1 SMP", "architecture": "x86_64", "cpu": "Some CPU"},
        "realtime": True,
        "realtime_reason": "",
        "system_calls_reason": "",
        "cpus": [0, 1],
        "quick": False,
        "quiet": False,
        "rounds": 1,
        "samples_per_round": 100,
        "seconds": 12.5,
        "load_before": 0.5,
        "steal_ms": 30.0,
        "rows": rows,
    }
