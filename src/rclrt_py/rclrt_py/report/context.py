# SPDX-License-Identifier: Apache-2.0
"""Describes the machine on which a comparison was measured, as lines for a reader."""

from __future__ import annotations

from typing import Any

from rclrt_py.comparisons.comparison import Comparison
from rclrt_py.report.comparison_table import held_back_text
from rclrt_py.runs.hosts import host_lines
from rclrt_py.runs.results import Results
from rclrt_py.runs.streamed import ended_text, kept_text

Row = tuple[str, str]


def context_rows(comparison: Comparison) -> list[Row]:
    simulated = [results for results in comparison.executors if results.simulated is not None]
    measured = [results for results in comparison.executors if results.simulated is None]
    rows = _measured_rows(comparison, measured) if measured else []
    for results in simulated:
        rows += _simulation_rows(comparison, results, alone=not measured)
    return rows


def _measured_rows(comparison: Comparison, measured: list[Results]) -> list[Row]:
    context = comparison.context
    stalls = context["host_stalls"]
    seconds = sum(results.duration_s for results in measured)
    scheduling = "SCHED_FIFO" if context["realtime"] else "normal priority, not real-time"
    reason = f" ({context['realtime_reason']})" if context["realtime_reason"] else ""
    versions = context["versions"]
    return [
        ("Measured", f"{min(each.started_utc for each in measured)}, {seconds:g} s in all"),
        ("Order", _order(comparison, measured)),
        *_stream_rows(measured),
        *(row for results in measured for row in host_lines(results.hosts)),
        ("Kernel", context["kernel"]),
        ("PREEMPT_RT", "yes" if context["preempt_rt"] else "no"),
        ("Processor", f"{context['cpu_model']}, {context['cpus']} CPUs"),
        ("Scheduling", scheduling + reason),
        ("Memory", "locked" if context["memory_locked"] else "not locked"),
        ("Stalls of the machine", _stalls(stalls)),
        ("Real-time threads held back", held_back_text(context) or "never"),
        ("CPU time stolen by the host", f"{context['steal_ms']:.4g} ms"),
        ("Records dropped", str(context["records_dropped"])),
        ("ROS 2", f"{context['ros_distro']}, {context['rmw']}"),
        ("Versions", ", ".join(f"{name} {version}" for name, version in versions.items())),
        *_application_rows(comparison),
    ]


def _stream_rows(measured: list[Results]) -> list[Row]:
    several = len(measured) > 1
    rows = []
    for results in measured:
        name = f" ({results.executor})" if several else ""
        if results.ended is not None:
            rows.append((f"End{name}", ended_text(results.ended, results.duration_s)))
        if results.streamed is not None:
            rows.append((f"Instances{name}", kept_text(results.streamed)))
    return rows


def _simulation_rows(comparison: Comparison, results: Results, alone: bool) -> list[Row]:
    stated = results.simulated or {}
    share = stated["lowest_execution"]
    execution = "always the WCET" if share == 1 else f"from {share:g} times the WCET up to the WCET"
    if not alone:
        what = f"{results.duration_s:g} s, seed {stated['seed']}, execution times {execution}"
        return [(results.executor_label[0].upper() + results.executor_label[1:], what)]
    return [
        ("Simulated", f"{results.duration_s:g} s; nothing here was measured"),
        *_replayed_rows(results),
        ("Seed", str(stated["seed"])),
        ("CPUs", str(results.context["cpus"])),
        ("Execution times", execution),
        ("Versions", f"rclrt {results.context['versions']['rclrt']}"),
        *_application_rows(comparison),
    ]


def _replayed_rows(results: Results) -> list[Row]:
    replayed = results.replayed
    return (
        [("Counter-example", f"chain {replayed.chain}, instance {replayed.instance}")]
        if replayed
        else []
    )


def _application_rows(comparison: Comparison) -> list[Row]:
    application = comparison.application
    rows = [
        ("Application", f"{application['file']}"),
        ("SHA-256 of the application", application["sha256"]),
    ]
    if "priorities_file" in application:
        rows += [
            ("Priorities", application["priorities_file"]),
            ("SHA-256 of the priorities", application["priorities_sha256"]),
        ]
    return rows


def _stalls(stalls: dict[str, Any]) -> str:
    if not stalls["valid"]:
        return "not known: the probe thread had no real-time priority, so no miss is excused"
    return (
        f"{stalls['count']} longer than {stalls['threshold_ms']:g} ms, "
        f"{stalls['total_ms']:.4g} ms in all, longest {stalls['worst_ms']:.4g} ms"
    )


def _order(comparison: Comparison, measured: list[Results]) -> str:
    names = [results.executor for results in measured]
    if comparison.is_single_run:
        return f"one run of {', one of '.join(names)}"
    each = comparison.seconds / max(comparison.rounds, 1)
    times = "once" if comparison.rounds == 1 else f"{comparison.rounds} times"
    return f"{times} ({', '.join(names)}), {each:g} s each"
