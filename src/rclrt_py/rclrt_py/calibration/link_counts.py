# SPDX-License-Identifier: Apache-2.0
"""Counts the messages of link_application.py that were sent over a link, and those that arrived."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rclrt_py.calibration.link_application import DIRECTIONS, SIZES, receiver, sender
from rclrt_py.runs.csv_reader import InstanceRow


@dataclass(frozen=True)
class MessageCounts:
    """The messages of one size in one direction."""

    sent: int
    """Without those that may have been under way at the end of the run."""
    received: int


def message_counts(
    rows: Iterable[InstanceRow], end_ns: int
) -> dict[tuple[str, int], MessageCounts]:
    """Counts the messages of each direction and size. `rows`: of a run that ended at `end_ns`, in
    nanoseconds since its start.

    A message that did not arrive may have been under way at the end if less time was left for it
    than the slowest message of its size took. It is then unknown whether it is lost.
    """
    ways = {(direction, size): _Way() for direction in DIRECTIONS for size in SIZES}
    sides = {sender(*key): way.sent for key, way in ways.items()}
    sides |= {receiver(*key): way.received for key, way in ways.items()}
    for row in rows:
        if row.outcome == "ran" and row.callback in sides:
            sides[row.callback][row.tokens] = row
    return {key: way.counts(end_ns) for key, way in ways.items()}


@dataclass
class _Way:
    """The instances that sent and took messages of one size in one direction, by message."""

    sent: dict[str, InstanceRow] = field(default_factory=dict)
    received: dict[str, InstanceRow] = field(default_factory=dict)

    def counts(self, end_ns: int) -> MessageCounts:
        arrived = self.sent.keys() & self.received.keys()
        slowest = max((self._longest(message) for message in arrived), default=0)
        lost = [
            row
            for message, row in self.sent.items()
            if message not in arrived and row.end + row.error + slowest <= end_ns
        ]
        return MessageCounts(len(arrived) + len(lost), len(arrived))

    def _longest(self, message: str) -> int:
        """Returns the most time that an arrived message took, given the errors of the clocks."""
        one, other = self.sent[message], self.received[message]
        return other.end - one.end + one.error + other.error
