# SPDX-License-Identifier: Apache-2.0
"""Priorities by the names of the ROS graph, in the file that executors for rclcpp nodes read."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from rclrt_py.native import model

if TYPE_CHECKING:
    from rclrt_model import Application


class ReasonedPriority(TypedDict):
    """A callback's new priority, and the reason for it."""

    id: str
    priority: int
    reason: str


def node_priorities(application: Application, callbacks: list[ReasonedPriority]) -> str:
    """Returns the text of a node priorities file: one entry per timer and per subscribed topic of a
    node, each with the reason for its priority.

    Several callbacks get one entry if the names in the ROS graph cannot tell them apart (two
    subscriptions of one group to one topic): the highest of their priorities.
    """
    entries: dict[str, list[ReasonedPriority]] = {}
    for places, item in zip(model().places_of(application), callbacks, strict=True):
        for place in places:
            group = f", group: {place.group}" if place.group else ""
            key = f"node: {place.node}{group}, {place.kind}: {place.name}"
            entries.setdefault(key, []).append(item)
    lines = [f"# Priorities of {application.name}.\n", "rclrt: 1\n", "callbacks:\n"]
    for entry, items in entries.items():
        priority = max(item["priority"] for item in items)
        reasons = "; ".join(f"{item['id']}: {item['reason']}" for item in items)
        if any(item["priority"] != priority for item in items):
            reasons += "; the highest of them"
        lines.append(f"  - {{{entry}, priority: {priority}}}  # {reasons}\n")
    return "".join(lines)
