# SPDX-License-Identifier: Apache-2.0
"""Writes a run directory from the scheduler model, in the form of the runner's contract.

Its statistics are computed here in the plainest way, without the code of the package.
"""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

from rclrt_py.testing.scheduler_model import MS, Callback, Chain, Job, Model

EXECUTORS = ("wait_set", "producer_consumer", "thread_dispatch", "preemptive")
LABELS = {"wait_set": "wait set (rclcpp semantics)"}


def vehicle() -> tuple[list[Callback], list[Chain]]:
    """Returns a small autonomous vehicle: two sensors, a fusion, a hard and a firm chain."""
    callbacks = [
        Callback("scan", "lidar", 2 * MS, 3, ("points",), period=50 * MS),
        Callback("capture", "camera", 3 * MS, 3, ("image",), period=50 * MS),
        Callback("localize", "mapping", 27 * MS, 1, ("map",), period=75 * MS),
        Callback("identify", "vision", 6 * MS, 3, ("objects",), ("image",)),
        Callback("fuse", "fusion", 2 * MS, 3, ("fused",), ("points", "objects")),
        Callback("detect", "safety", 2 * MS, 3, ("obstacles",), ("fused",)),
        Callback("brake", "control", 1 * MS, 3, (), ("obstacles",)),
        Callback("plan", "planner", 8 * MS, 2, ("path",), ("fused",)),
        Callback("steer", "control", 1 * MS, 2, (), ("path",)),
        Callback("record", "mapping", 3 * MS, 1, (), ("map",)),
    ]
    chains = [
        Chain("obstacle", ("capture", "identify", "fuse", "detect", "brake"), 3, 30 * MS),
        Chain("planning", ("scan", "fuse", "plan", "steer"), 2, 50 * MS),
        Chain("mapping", ("localize", "record"), 1, 75 * MS),
    ]
    return callbacks, chains


def write_run(
    directory: Path,
    executor: str = "preemptive",
    seconds: float = 2.0,
    seed: int = 1,
    graph: tuple[list[Callback], list[Chain]] | None = None,
    app_file: str = "app.yaml",
    app_name: str = "autonomous_vehicle",
) -> Path:
    """Fills `directory` (made here) with results.json, the two CSV files and a trace."""
    callbacks, chains = graph or vehicle()
    duration = int(seconds * 1e9)
    dispatch = {"thread_dispatch": 60_000, "producer_consumer": 40_000}.get(executor, 20_000)
    model = Model(callbacks, chains, executor, duration, seed, dispatch)
    model.run()
    directory.mkdir(parents=True)
    chain_rows = [row for chain in chains for row in _chain_rows(model, chain)]
    _write_csv(
        directory / "chains.csv",
        "chain,instance,release_ns,completion_ns,response_ns,status,host_stall_ns",
        chain_rows,
    )
    _write_csv(
        directory / "instances.csv",
        "id,callback,priority,thread,release_ns,ready_ns,start_ns,end_ns,cpu_ns,preemptions,outcome,"
        "tokens,cpus",
        [_instance_row(index, job, executor) for index, job in enumerate(model.jobs) if job.end],
    )
    (directory / "trace.pftrace").write_bytes(b"\x0a\x02\x08\x01")
    results: dict[str, Any] = {
        "rclrt_results": 1,
        "application": {"name": app_name, "file": app_file, "sha256": "0" * 64},
        "executor": executor,
        "executor_label": LABELS.get(executor, executor.replace("_", "-")),
        "started_utc": "2026-01-02T03:04:05Z",
        "duration_s": seconds,
        "rounds": 1,
        "t0_monotonic_ns": 1_000_000_000,
        "context": context(),
        "chains": [_chain_result(model, chain, chain_rows, duration) for chain in chains],
        "callbacks": [_callback_result(model, callback) for callback in callbacks],
        "threads": [
            {"name": "main L3", "tid": 4711, "policy": "fifo", "priority": 83, "cpus": [1]}
        ],
    }
    (directory / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    return directory


def context() -> dict[str, Any]:
    return {
        "kernel": "6.1.0-13-rt-amd64 #1 SMP PREEMPT_RT",
        "cpus": 2,
        "cpu_model": "Model CPU @ 2.50GHz",
        "preempt_rt": True,
        "realtime": True,
        "realtime_reason": "SCHED_FIFO permitted",
        "memory_locked": True,
        "rmw": "rmw_fastrtps_cpp",
        "ros_distro": "jazzy",
        "versions": {"rclrt": "1.2.3", "rcl": "9.2.8"},
        "steal_ms": 1.5,
        "host_stalls": {
            "count": 2,
            "total_ms": 3.25,
            "worst_ms": 2.0,
            "threshold_ms": 0.5,
            "valid": True,
        },
        "records_dropped": 0,
    }


def plain_statistics(values: list[int]) -> dict[str, float] | None:
    """Returns best, mean, median, p99 and worst in ms, by the definition: index ceil(p * n) - 1."""
    if not values:
        return None
    ordered = sorted(values)
    n = len(ordered)
    return {
        "best": ordered[0] / 1e6,
        "mean": math.floor(sum(ordered) / n + 0.5) / 1e6,
        "p50": ordered[math.ceil(0.50 * n) - 1] / 1e6,
        "p99": ordered[math.ceil(0.99 * n) - 1] / 1e6,
        "worst": ordered[-1] / 1e6,
    }


def _chain_rows(model: Model, chain: Chain) -> list[list[Any]]:
    by_id = {callback.id: callback for callback in model.callbacks}
    period = by_id[chain.callbacks[0]].period or 1
    done = {
        job.tokens[chain.id]: job.end
        for job in model.jobs
        if job.callback.id == chain.callbacks[-1] and job.end and chain.id in job.tokens
    }
    rows: list[list[Any]] = []
    for instance, release in enumerate(range(0, model.duration, period)):
        end = done.get(instance)
        if end is None:
            rows.append([chain.id, instance, release, "", "", "pending", 0])
        else:
            status = "late" if end - release > chain.deadline else "completed"
            rows.append([chain.id, instance, release, end, end - release, status, 0])
    return rows


def _chain_result(
    model: Model, chain: Chain, all_rows: list[list[Any]], duration: int
) -> dict[str, Any]:
    rows = [row for row in all_rows if row[0] == chain.id]
    response = plain_statistics([row[4] for row in rows if row[4] != ""])
    deadline_ms = chain.deadline / 1e6
    overdue = [row for row in rows if row[5] == "pending" and row[2] + chain.deadline < duration]
    first = next(item for item in model.callbacks if item.id == chain.callbacks[0])
    return {
        "id": chain.id,
        "priority": chain.priority,
        "period_ms": (first.period or 0) / 1e6,
        "deadline_ms": deadline_ms,
        "callbacks": list(chain.callbacks),
        "released": len(rows),
        "completed": sum(row[5] in ("completed", "late") for row in rows),
        "dropped": 0,
        "pending": sum(row[5] == "pending" for row in rows),
        "unmatched": 0,
        "missed": sum(row[5] == "late" for row in rows) + len(overdue),
        "missed_host": 0,
        "response_ms": response,
        "normalised_worst": round(response["worst"] / deadline_ms, 6) if response else None,
        "jitter_ms": round(response["worst"] - response["best"], 6) if response else None,
    }


def _callback_result(model: Model, callback: Callback) -> dict[str, Any]:
    mine = [job for job in model.jobs if job.callback is callback]
    done = [job for job in mine if job.end is not None and job.outcome == "ran"]
    response = plain_statistics([(job.end or 0) - job.ready for job in done])
    return {
        "id": callback.id,
        "node": callback.node,
        "kind": callback.kind,
        "priority": callback.priority,
        "kernel_priority": 80 + callback.priority,
        "released": len(mine),
        "completed": len(done),
        "dropped": 0,
        "missed": 0,
        "response_ms": response,
        "dispatch_ms": plain_statistics([(job.start or 0) - job.ready for job in done]),
        "execution_ms": plain_statistics([job.cost for job in done]),
        "jitter_ms": round(response["worst"] - response["best"], 6) if response else None,
        "preemptions": sum(job.preemptions for job in done),
        "migrations": 0,
    }


def _instance_row(index: int, job: Job, executor: str) -> list[Any]:
    thread = "main" if executor == "wait_set" else f"main L{job.callback.priority} #0"
    tokens = ";".join(f"{chain}:{instance}" for chain, instance in job.tokens.items())
    release = job.ready if job.release is None else job.release
    interrupted = ";".join(f"0:{start}-{end}" for start, end in job.parts)
    cpus = interrupted if len(job.parts) > 1 else "0"  # the model has one core
    return [
        index, job.callback.id, job.callback.priority, thread, release, job.ready, job.start,
        job.end, job.cost, job.preemptions, job.outcome, tokens, cpus,
    ]  # fmt: skip


def _write_csv(path: Path, header: str, rows: list[list[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(header + "\n")
        csv.writer(stream, lineterminator="\n").writerows(rows)
