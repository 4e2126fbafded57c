# SPDX-License-Identifier: Apache-2.0
"""The times that running robots measure, for the page to show beside the bounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from rclrt_py.live.statuses import ERROR, PREFIX, WARN, LiveCallback, Status, Statuses

MOST_NAMES = 100
FORGOTTEN_AFTER_S = 60.0


def observed(statuses: Statuses, callbacks: Mapping[str, str], now_s: float) -> dict[str, Any]:
    """Returns the robots, and what they report of the callbacks of an application, by id.
    `callbacks`: these ids by the names that a monitor gives callbacks. `unknown`: the names of the
    others. `now_s`: on the clock of Status.received_s. The p99 is that of the last message; maximum
    and causes are those since the robot was started, or since it is heard here."""
    silent_before_s = now_s - statuses.silent_after_s
    found: dict[str, dict[str, Any]] = {}
    present = statuses.present()
    for name, callback in present:
        if name in callbacks:
            values = _callback(callback, callbacks, callback.latest.received_s < silent_before_s)
            own = callbacks[name]
            # A sync has a name for each of its inputs, and several robots may use one name.
            found[own] = _both(found[own], values) if own in found else values
    unknown = sorted({name for name, _ in present} - set(callbacks))
    return {
        "live": True,
        "goes_on": True,
        "robots": list(_robots(statuses, present, now_s)),
        "notices": [
            f"{name}: {status.message}"
            for name, status in sorted(statuses.processes.items())
            if not _is_process(status)
            and status.level >= WARN
            and status.received_s >= silent_before_s
        ][:MOST_NAMES]
        + list(_twins(present, callbacks, silent_before_s))[:MOST_NAMES],
        "unknown": unknown[:MOST_NAMES],
        "more_unknown": max(len(unknown) - MOST_NAMES, 0),
        "callbacks": found,
    }


def _is_process(status: Status) -> bool:
    return status.name.startswith(f"{PREFIX}process ")


def _twins(
    present: list[tuple[str, LiveCallback]], names: Mapping[str, str], silent_before_s: float
) -> Iterator[str]:
    """Yields a sentence for each callback of the application that several robots report."""
    heard = Counter(
        name
        for name, callback in present
        if name in names and callback.latest.received_s >= silent_before_s
    )
    for name, number in heard.items():
        if number > 1:
            yield f"{name}: {number} processes report it; the page shows the sum of their counts"


def _robots(
    statuses: Statuses, present: list[tuple[str, LiveCallback]], now_s: float
) -> Iterator[dict[str, Any]]:
    """Yields the processes. One that is silent is left out if another one reports its callbacks: it
    was started again. If it had no callbacks with a limit, it is left out after a while."""
    owned = Counter(callback.latest.process for _, callback in present)
    for name, status in sorted(statuses.processes.items()):
        silent_s = now_s - status.received_s
        is_silent = silent_s > statuses.silent_after_s
        is_over = is_silent and not owned[name]
        is_over = is_over and (status.whole("with_deadline") > 0 or silent_s > FORGOTTEN_AFTER_S)
        if _is_process(status) and not is_over:
            yield {
                "name": name,
                "message": status.message,
                "level": status.level,
                "silent_s": int(silent_s) if is_silent else None,
                "callbacks": owned[name],
                "without_blame": status.whole("misses_without_blame"),
            }


def _callback(callback: LiveCallback, names: Mapping[str, str], silent: bool) -> dict[str, Any]:
    status = callback.latest
    missed = status.whole("missed")
    causes = sorted(callback.causes_ms.items(), key=lambda each: -each[1])
    return {
        "n": status.whole("completed"),
        "dropped": status.whole("dropped"),
        "missed": missed,
        "fresh": 0 if callback.missed_before is None else missed - callback.missed_before,
        "p99_ms": status.real("p99_ms") if "p99_ms" in status.values else None,
        "worst_ms": callback.worst_ms if callback.worst_ms > 0 else None,
        "worst_late_ms": callback.worst_late_ms,
        "limit_ms": status.real("deadline_ms"),
        "is_age": status.values.get("limit_of") == "age",
        "stuck": status.message if status.level >= ERROR else "",
        "note": status.message if status.level == WARN else "",
        "unknown": status.whole("unknown"),
        "silent": silent,
        "causes": [
            {"what": names.get(what, what), "is_callback": what in names, "time_ms": time_ms}
            for what, time_ms in causes
        ],
    }


def _both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Returns what two statuses of one callback add up to."""
    result = dict(one)
    for key in ("n", "dropped", "missed", "fresh", "unknown"):
        result[key] = one[key] + other[key]
    for key in ("p99_ms", "worst_ms"):
        result[key] = max((each[key] for each in (one, other) if each[key]), default=None)
    result["worst_late_ms"] = max(one["worst_late_ms"], other["worst_late_ms"])
    result["stuck"] = one["stuck"] or other["stuck"]
    result["note"] = one["note"] or other["note"]
    result["silent"] = one["silent"] and other["silent"]
    result["causes"] = [*one["causes"], *other["causes"]]
    return result
