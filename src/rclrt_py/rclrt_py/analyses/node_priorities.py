# SPDX-License-Identifier: Apache-2.0
"""Priorities by the names of the ROS graph, in the file that executors for rclcpp nodes read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypedDict

from rclrt_py.native import model

if TYPE_CHECKING:
    from rclrt_model import Application, CallbackPlace


class ReasonedPriority(TypedDict):
    """A callback's new priority, and the reason for it."""

    id: str
    priority: int
    reason: str


def events_of(application: Application) -> list[str]:
    """Returns the callbacks that events release. The model does not name the entity of the ROS
    graph that receives an event."""
    places = model().places_of(application)
    return [
        callback.id for callback, own in zip(application.callbacks, places, strict=True) if not own
    ]


def node_priorities(application: Application, callbacks: list[ReasonedPriority]) -> str:
    """Returns the text of a node priorities file: one entry per timer and per subscribed topic of a
    node, each with the reason for its priority. Callbacks of events follow as comments.

    Several callbacks get one entry if the names in the ROS graph cannot tell them apart (two
    subscriptions of one group to one topic): the highest of their priorities.
    """
    lines = [f"# Priorities of {application.name}.\n", "rclrt: 1\n", "callbacks:\n"]
    places = model().places_of(application)
    return "".join(lines + entry_lines(zip(places, callbacks, strict=True)))


def entry_lines(
    callbacks: Iterable[tuple[Sequence[CallbackPlace], ReasonedPriority]], indent: str = "  "
) -> list[str]:
    """Returns the entries of a section `callbacks`, as node_priorities() describes it. The first
    part of each callback is its result of places_of()."""
    entries: dict[str, list[ReasonedPriority]] = {}
    events = []
    for places, item in callbacks:
        if not places:
            events.append(
                f"{indent[2:]}#   {item['id']}: priority {item['priority']} ({item['reason']})\n"
            )
        for place in places:
            group = f", group: {place.group}" if place.group else ""
            key = f"node: {place.node}{group}, {place.kind}: {place.name}"
            entries.setdefault(key, []).append(item)
    lines = []
    for entry, items in entries.items():
        priority = max(item["priority"] for item in items)
        reasons = "; ".join(f"{item['id']}: {item['reason']}" for item in items)
        if any(item["priority"] != priority for item in items):
            reasons += "; the highest of them"
        lines.append(f"{indent}- {{{entry}, priority: {priority}}}  # {reasons}\n")
    if events:
        lines.append(
            f"{indent[2:]}# Events: add an entry for the subscription, service or waitable that "
            "receives each.\n"
        )
    return lines + events
