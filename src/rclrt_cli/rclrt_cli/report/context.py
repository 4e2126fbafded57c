# SPDX-License-Identifier: Apache-2.0
"""The machine a comparison was measured on, as lines for a reader."""

from __future__ import annotations

from typing import Any

from rclrt_cli.comparison import Comparison

Row = tuple[str, str]


def context_rows(comparison: Comparison) -> list[Row]:
    if comparison.executors[0].simulated is not None:
        return _simulation_rows(comparison)
    context = comparison.context
    stalls = context["host_stalls"]
    seconds = sum(results.duration_s for results in comparison.executors)
    scheduling = "SCHED_FIFO" if context["realtime"] else "normal priority, not real-time"
    reason = f" ({context['realtime_reason']})" if context["realtime_reason"] else ""
    versions = context["versions"]
    return [
        ("Measured", f"{started(comparison)}, {seconds:g} s in all"),
        ("Order", _order(comparison)),
        ("Kernel", context["kernel"]),
        ("PREEMPT_RT", "yes" if context["preempt_rt"] else "no"),
        ("Processor", f"{context['cpu_model']}, {context['cpus']} CPUs"),
        ("Scheduling", scheduling + reason),
        ("Memory", "locked" if context["memory_locked"] else "not locked"),
        ("Stalls of the machine", _stalls(stalls)),
        ("CPU time stolen by the host", f"{context['steal_ms']:.4g} ms"),
        ("Records dropped", str(context["records_dropped"])),
        ("ROS 2", f"{context['ros_distro']}, {context['rmw']}"),
        ("Versions", ", ".join(f"{name} {version}" for name, version in versions.items())),
        *_application_rows(comparison),
    ]


def _simulation_rows(comparison: Comparison) -> list[Row]:
    results = comparison.executors[0]
    stated = results.simulated or {}
    share = stated["lowest_execution"]
    execution = "always the WCET" if share == 1 else f"from {share:g} times the WCET up to the WCET"
    return [
        ("Simulated", f"{results.duration_s:g} s; nothing here was measured"),
        ("Seed", str(stated["seed"])),
        ("CPUs", str(comparison.context["cpus"])),
        ("Execution times", execution),
        ("Versions", f"rclrt {comparison.context['versions']['rclrt']}"),
        *_application_rows(comparison),
    ]


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


def started(comparison: Comparison) -> str:
    return min(results.started_utc for results in comparison.executors)


def _stalls(stalls: dict[str, Any]) -> str:
    if not stalls["valid"]:
        return "not known: the probe thread had no real-time priority, so no miss is excused"
    return (
        f"{stalls['count']} longer than {stalls['threshold_ms']:g} ms, "
        f"{stalls['total_ms']:.4g} ms in all, longest {stalls['worst_ms']:.4g} ms"
    )


def _order(comparison: Comparison) -> str:
    names = [results.executor for results in comparison.executors]
    if comparison.is_single_run:
        return f"one run of {names[0]}"
    each = comparison.seconds / max(comparison.rounds, 1)
    times = "once" if comparison.rounds == 1 else f"{comparison.rounds} times"
    return f"{times} ({', '.join(names)}), {each:g} s each"
