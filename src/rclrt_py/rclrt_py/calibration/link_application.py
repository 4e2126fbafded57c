# SPDX-License-Identifier: Apache-2.0
"""The application that is run to measure a link: messages of several sizes in both directions.

Each size has a place in a cycle of its own, so that a message finds the link idle and the bucket of
a shaper full. The gap after a message is in proportion to its size.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

SIZES = (100, 1000, 4000, 10_000, 16_000, 24_000, 32_000, 44_000, 60_000)
"""Bytes of messages. Each is one datagram of Fast DDS."""
FIRST_SIZES = (SIZES[0], SIZES[-1])
LEAST_GAP_MS = 5.0
DIRECTIONS = ("forth", "back")


@dataclass(frozen=True)
class Cycle:
    """When messages of these sizes are sent."""

    sizes: Sequence[int]
    largest_gap_ms: float
    """From a message of the largest size to the next one."""

    @property
    def gaps_ms(self) -> list[float]:
        each_byte = self.largest_gap_ms / max(self.sizes)
        return [round(max(LEAST_GAP_MS, each_byte * size), 3) for size in self.sizes]

    @property
    def period_ms(self) -> float:
        return round(sum(self.gaps_ms), 3)

    def offsets_ms(self) -> Iterator[float]:
        yield from (round(each, 3) for each in itertools.accumulate([0.0, *self.gaps_ms[:-1]]))


def sender(direction: str, size: int) -> str:
    return f"send_{direction}_{size}"


def receiver(direction: str, size: int) -> str:
    return f"take_{direction}_{size}"


def over_link(here: str, peer: str, cycle: Cycle) -> dict[str, Any]:
    """Returns the application. Messages that are lost are not sent again."""
    callbacks: list[dict[str, Any]] = []
    chains: list[dict[str, Any]] = []
    topics: list[dict[str, Any]] = []
    for direction, nodes, later_ms in (
        ("forth", ("here", "there"), 0.0),
        ("back", ("there", "here"), LEAST_GAP_MS / 2),
    ):
        for size, offset_ms in zip(cycle.sizes, cycle.offsets_ms(), strict=True):
            topic = f"link_{direction}_{size}"
            timer = {"period_ms": cycle.period_ms, "offset_ms": round(offset_ms + later_ms, 3)}
            own = {"id": sender(direction, size), "node": nodes[0], "timer": timer}
            callbacks.append({**own, "wcet_ms": 0, "publishes": [topic]})
            taken = {"topic": topic, "reliability": "best_effort"}
            other = {"id": receiver(direction, size), "node": nodes[1], "subscription": taken}
            callbacks.append({**other, "wcet_ms": 0})
            way = [own["id"], other["id"]]
            chains.append({"id": f"{direction}_{size}", "callbacks": way, "deadline_ms": 3_600_000})
            topics.append({"name": topic, "size_bytes": size})
    return {
        "rclrt": 1,
        "name": "link",
        "hosts": [{"name": here}, {"name": peer}],
        "links": [{"name": "link", "between": [here, peer], "rate_kbit": 1_000_000}],
        "executors": [{"name": "here", "host": here}, {"name": "there", "host": peer}],
        "nodes": [{"name": "here", "executor": "here"}, {"name": "there", "executor": "there"}],
        "callbacks": callbacks,
        "chains": chains,
        "topics": topics,
        "threads": [{"name": "middleware", "policy": "fifo", "priority": 96}],
    }
