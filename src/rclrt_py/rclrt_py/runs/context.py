# SPDX-License-Identifier: Apache-2.0
"""The circumstances of a run, in a results.json."""

from __future__ import annotations

from typing import Any

from rclrt_py.files.json_reader import JsonValue
from rclrt_py.runs.figures import ROUNDING_MS, time_of

_CONTEXT_TEXTS = ("kernel", "cpu_model", "realtime_reason", "rmw", "ros_distro")
_CONTEXT_BOOLEANS = ("preempt_rt", "realtime", "memory_locked")


def read_context(json: JsonValue) -> dict[str, Any]:
    """Checks the circumstances of a run, and returns them."""
    for key in _CONTEXT_TEXTS:
        json.get(key).text()
    for key in _CONTEXT_BOOLEANS:
        json.get(key).boolean()
    json.get("cpus").count()
    time_of(json.get("steal_ms"))
    json.get("records_dropped").count()
    if json.has("foreign_messages"):  # not in results of earlier versions
        json.get("foreign_messages").count()
    stalls = json.get("host_stalls")
    stalls.get("count").count()
    stalls.get("valid").boolean()
    time_of(stalls.get("threshold_ms"))
    _check_times(stalls)
    if json.has("held_back"):  # not in results of earlier versions
        held_back = json.get("held_back")
        held_back.get("count").count()
        _check_times(held_back)
        if held_back.get("limit").value is not None:
            held_back.get("limit").text()
    for name in json.get("versions").object():
        json.get("versions").get(name).text()
    return json.object()


def _check_times(json: JsonValue) -> None:
    """Refuses a longest time above the sum of all."""
    total_ms = time_of(json.get("total_ms"))
    if time_of(json.get("worst_ms")) > total_ms + ROUNDING_MS:
        json.get("worst_ms").fail(f"no more than total_ms, {total_ms:.12g}")
