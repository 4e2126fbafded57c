# SPDX-License-Identifier: Apache-2.0
"""The applications that are run to measure the overheads of a machine.

`one_cpu` runs on one CPU and repeats every 10 ms. Its callbacks are released at these times in ms:

    0     tick, then follow by its message: both find an idle CPU
    1     alone: 3 ms of work, during which nothing else is released
    4.7   victim: 0.6 ms of work, less urgent than tick
    5     tick, then follow: both preempt victim
    7.2   urgent: 0.6 ms of work, more urgent than all others
    7.5   low: released while urgent runs, and runs after it

`two_cpus` runs on two CPUs that are idle otherwise: every 5 ms `tick` publishes a message, for
which `follow` runs on one CPU and `beside` on the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rclrt_py.executors import BASELINE, kind_of

CYCLE_NS = 10_000_000
TICK_NS = 5_000_000
ALONE_MS = 3
SHORT_MS = 0.6
_OPTIONS = {BASELINE: "threads=2", "events": "timers_thread"}
"""The options with which executors of one thread run callbacks on two CPUs."""
_TOPIC = "calibration_hop"
_TICK = {"timer": {"period_ms": TICK_NS / 1e6}, "wcet_ms": 0, "publishes": [_TOPIC]}
_FOLLOW = {"subscription": {"topic": _TOPIC}, "wcet_ms": 0}


def one_cpu(cpu: int, message_bytes: int) -> dict[str, Any]:
    """Returns an application with everything in one executor."""
    return _application(
        {
            "tick": {**_TICK, **_urgency(5, 4)},
            "follow": {**_FOLLOW, **_urgency(6, 4)},
            "alone": {**_work(1, ALONE_MS), **_urgency(7, 5)},
            "victim": {**_work(4.7, SHORT_MS), **_urgency(1, 9)},
            "urgent": {**_work(7.2, SHORT_MS), **_urgency(9, 1)},
            "low": {**_work(7.5, 0), **_urgency(0, 10)},
        },
        {"hop": ["tick", "follow"]},
        cpu,
        message_bytes,
    )


def two_cpus(cpus: Sequence[int], message_bytes: int) -> dict[str, Any]:
    """Returns an application with everything in one executor on these two CPUs."""
    application = _application(
        {
            "tick": {**_TICK, **_urgency(5, 4)},
            "follow": {**_FOLLOW, **_urgency(6, 4)},
            "beside": {**_FOLLOW, **_urgency(6, 4)},
        },
        {"hop": ["tick", "follow"], "beside": ["tick", "beside"]},
        cpus[0],
        message_bytes,
    )
    application["executors"][0]["cpus"] = [*cpus]
    return application


def on_two_cpus(executor: str) -> str:
    """Returns the name of the executor of this kind that runs callbacks on two CPUs at once. Empty:
    the kind has none."""
    kind = kind_of(executor)
    if option := _OPTIONS.get(kind.name):
        return f"{executor}:{option}"
    return "" if kind.one_at_a_time or kind.by_deadline or kind.orders_executors else executor


def two_processes(cpu: int, other_cpu: int, message_bytes: int) -> dict[str, Any]:
    """Returns an application with a sender on the CPU `other_cpu` and, in another process, a
    receiver on the CPU `cpu`. The period is so long that each message arrives well before the next
    one is sent."""
    application = _application(
        {
            "tick": {**_TICK, "timer": {"period_ms": 20}, "node": "sender"},
            "follow": _FOLLOW,
        },
        {"hop": ["tick", "follow"]},
        cpu,
        message_bytes,
    )
    application["executors"].append({"name": "far", "cpus": [other_cpu], "process": "far"})
    application["nodes"][0]["executor"] = "main"
    application["nodes"].append({"name": "sender", "executor": "far"})
    return application


def _urgency(priority: int, deadline_ms: float) -> dict[str, float]:
    """States the same order for executors with priorities and for `edf`."""
    return {"priority": priority, "deadline_ms": deadline_ms}


def _work(offset_ms: float, wcet_ms: float) -> dict[str, Any]:
    return {"timer": {"period_ms": CYCLE_NS / 1e6, "offset_ms": offset_ms}, "wcet_ms": wcet_ms}


def _application(
    callbacks: dict[str, dict[str, Any]],
    chains: dict[str, list[str]],
    cpu: int,
    message_bytes: int = 0,
) -> dict[str, Any]:
    """Returns the application. Without `message_bytes` it does not state its topic."""
    return {
        "rclrt": 1,
        "name": "calibration",
        "executors": [{"name": "main", "cpus": [cpu]}],
        "nodes": [{"name": "calibration"}],
        "callbacks": [
            {"id": name, "node": "calibration", **stated} for name, stated in callbacks.items()
        ],
        "chains": [
            {"id": name, "callbacks": way, "priority": 1, "deadline_ms": 1000}
            for name, way in chains.items()
        ],
        "topics": [{"name": _TOPIC, "size_bytes": message_bytes}] if message_bytes else [],
    }
