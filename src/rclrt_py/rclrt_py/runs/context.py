# SPDX-License-Identifier: Apache-2.0
"""The circumstances of a run, in a results.json."""

from __future__ import annotations

from typing import Any

from rclrt_py.files.json_reader import JsonValue

_CONTEXT_TEXTS = ("kernel", "cpu_model", "realtime_reason", "rmw", "ros_distro")
_CONTEXT_BOOLEANS = ("preempt_rt", "realtime", "memory_locked")


def read_context(json: JsonValue) -> dict[str, Any]:
    """Checks the circumstances of a run, and returns them."""
    for key in _CONTEXT_TEXTS:
        json.get(key).text()
    for key in _CONTEXT_BOOLEANS:
        json.get(key).boolean()
    json.get("cpus").count()
    json.get("steal_ms").number()
    json.get("records_dropped").count()
    if json.has("foreign_messages"):  # not in results of earlier versions
        json.get("foreign_messages").count()
    stalls = json.get("host_stalls")
    stalls.get("count").count()
    stalls.get("valid").boolean()
    for key in ("total_ms", "worst_ms", "threshold_ms"):
        stalls.get(key).number()
    if json.has("held_back"):  # not in results of earlier versions
        held_back = json.get("held_back")
        held_back.get("count").count()
        held_back.get("total_ms").number()
        held_back.get("worst_ms").number()
        if held_back.get("limit").value is not None:
            held_back.get("limit").text()
    for name in json.get("versions").object():
        json.get("versions").get(name).text()
    return json.object()
