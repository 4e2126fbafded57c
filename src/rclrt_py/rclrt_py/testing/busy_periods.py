# SPDX-License-Identifier: Apache-2.0
"""The busy periods of a shaped link in a run, and whether their packets keep to the model.

A period begins with a packet that finds the bucket full and the queue empty. The proof of the bound
looks at packets of one such period only, so the bound holds for each period that keeps to the
model, whatever came in the others. On a busy machine most of them still do.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from rclrt_py.testing.shaped_link import Outcome
from rclrt_py.testing.token_bucket import departures, least_burst_bytes, least_jitter_ns
from rclrt_py.testing.wire_messages import WireMessage, messages_of


@dataclass(frozen=True)
class BusyPeriod:
    """Packets by their indices, from `begin` to before `end`."""

    begin: int
    end: int
    keeps_the_model: bool
    """Whether the messages came with no more than the jitter that is asked for, and all other
    packets within the burst and the rate that the application states."""
    computed_ns: int
    """The longest time of a packet in an ideal bucket."""
    observed_ns: int
    """The longest time of a packet in the kernel's."""


def busy_periods(outcome: Outcome, jitter_ns: int) -> list[BusyPeriod]:
    """Returns the periods of the run. `jitter_ns`: that of the messages in the model, or less."""
    packets, link = outcome.packets, outcome.link
    shaped = departures(
        [(each.arrived, each.size) for each in packets], link.rate_kbit * 1000, link.burst_bytes
    )
    own = {number: message for message in messages_of(packets) for number in message.packets}
    begins = [
        number for number in range(outcome.begin, len(packets)) if shaped[number].found_it_idle
    ]
    result = []
    for begin, end in itertools.pairwise([*begins, len(packets)]):
        inside = range(begin, end)
        others = [
            (packets[number].arrived, packets[number].size)
            for number in inside
            if number not in own
        ]
        is_kept = least_burst_bytes(others, link.cross_kbit * 1000) <= link.cross_bytes and all(
            least_jitter_ns(spans, stream.period_ns) <= jitter_ns
            for stream, spans in zip(link.streams, _spans(outcome, own, inside), strict=True)
        )
        result.append(
            BusyPeriod(
                begin,
                end,
                is_kept,
                max(shaped[number].at_ns - packets[number].arrived for number in inside),
                max(packets[number].left - packets[number].arrived for number in inside),
            )
        )
    return result


def _spans(
    outcome: Outcome, own: dict[int, WireMessage], inside: range
) -> Iterator[list[tuple[int, int]]]:
    """Yields, for each stream, the arrivals of the first and the last packet of its messages."""
    for sender in range(len(outcome.link.streams)):
        arrivals: dict[int, list[int]] = {}
        for number in inside:
            message = own.get(number)
            if message is not None and message.sender == 2 * sender:
                arrivals.setdefault(message.sent, []).append(outcome.packets[number].arrived)
        yield sorted((min(each), max(each)) for each in arrivals.values())
