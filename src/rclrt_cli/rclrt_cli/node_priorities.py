# SPDX-License-Identifier: Apache-2.0
"""Priorities by the names of the ROS graph: the file that executors for rclcpp nodes read."""

from __future__ import annotations

from collections import Counter
from typing import Any


def node_priorities(application: Any, callbacks: list[dict[str, Any]]) -> str:
    """One entry per timer and per topic that a node subscribes, with its reason.

    Callbacks without a group are in their node's default group; the node's other groups are counted
    in the order of the file, and so are timers within their group. What the graph's names cannot
    tell apart (two subscriptions of one group to one topic) gets the higher priority.
    """
    group_names: dict[int, list[str]] = {}  # of each node
    timers: Counter[tuple[int, int]] = Counter()  # seen so far in each group of each node
    entries: dict[str, list[dict[str, Any]]] = {}
    for callback, item in zip(application.callbacks, callbacks, strict=True):
        node = application.nodes[callback.node]
        group = 0
        if callback.group is not None:
            names = group_names.setdefault(callback.node, [])
            if callback.group not in names:
                names.append(callback.group)
            group = 1 + names.index(callback.group)
        place = f"node: {_join(node.name_space, node.name)}"
        if group:
            place += f", group: {group}"
        if callback.kind == "timer":
            entities = [f"timer: {timers[callback.node, group]}"]
            timers[callback.node, group] += 1
        else:
            entities = [f"subscription: {_resolve(t, node.name_space)}" for t in callback.inputs]
        for entity in entities:
            entries.setdefault(f"{place}, {entity}", []).append(item)
    lines = [f"# Priorities of {application.name}.\n", "rclrt: 1\n", "callbacks:\n"]
    for place, items in entries.items():
        priority = max(item["priority"] for item in items)
        reasons = "; ".join(f"{item['id']}: {item['reason']}" for item in items)
        if any(item["priority"] != priority for item in items):
            reasons += "; the highest of them"
        lines.append(f"  - {{{place}, priority: {priority}}}  # {reasons}\n")
    return "".join(lines)


def _resolve(topic: str, name_space: str) -> str:
    return topic if topic.startswith("/") else _join(name_space, topic)


def _join(name_space: str, name: str) -> str:
    return f"{name_space.rstrip('/')}/{name}"
