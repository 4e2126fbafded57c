# SPDX-License-Identifier: Apache-2.0
"""The messages of a run's callbacks (rclrt_msgs/ChainMessage) found in packets of Fast DDS."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

from rclrt_py.testing.link_tap import Packet

_UDP = 8
_RTPS_HEADER = 20
_DATA = 0x15
_MOST_TOKENS = 16
_LATE_NS = 10_000_000_000


@dataclass(frozen=True)
class Token:
    """An instance of a chain, by its index. `release`: nanoseconds of CLOCK_MONOTONIC."""

    chain: int
    instance: int
    release: int


@dataclass
class WireMessage:
    """A message. `sent`: when the callback published it, in nanoseconds of CLOCK_MONOTONIC."""

    sender: int
    sent: int
    tokens: tuple[Token, ...]
    packets: list[int] = field(default_factory=list)
    """Indices of its packets."""


def messages_of(packets: Iterable[Packet]) -> list[WireMessage]:
    """Returns the messages in the order in which their first packets left. A message that the
    middleware sent again is no new one."""
    found: list[WireMessage] = []
    known: set[tuple[int, int]] = set()
    open_ones: dict[tuple[bytes, int], WireMessage | None] = {}
    for number, packet in enumerate(packets):
        ip = packet.ip
        if ip is None:
            continue
        addresses, ident, offset, begin = ip
        if offset == 0:
            message = _message_in(packet.head[begin + _UDP :], packet.arrived)
            if message is not None and (message.sender, message.sent) in known:
                message = None
            open_ones[addresses, ident] = message
            if message is not None:
                known.add((message.sender, message.sent))
                found.append(message)
        else:
            message = open_ones.get((addresses, ident))
        if message is not None:
            message.packets.append(number)
    return found


def _message_in(datagram: bytes, arrived: int) -> WireMessage | None:
    """Returns the message in an RTPS datagram, if it is one of a callback."""
    if datagram[:4] != b"RTPS":
        return None
    at = _RTPS_HEADER
    while at + 4 <= len(datagram):
        kind, flags = datagram[at], datagram[at + 1]
        order = "<" if flags & 1 else ">"
        (length,) = struct.unpack_from(order + "H", datagram, at + 2)
        if kind == _DATA and flags & 4 and not flags & 2:  # data, and no inline QoS
            return _decoded(datagram[at + 4 + 20 :], arrived)
        if length == 0:
            return None
        at += 4 + length
    return None


def _decoded(payload: bytes, arrived: int) -> WireMessage | None:
    """Reads the fields before the padding. `payload` begins with the encapsulation of CDR."""
    if payload[:2] != b"\x00\x01" or len(payload) < 4 + 24:
        return None
    body = payload[4:]
    _, sent, sender, count = struct.unpack_from("<qqII", body)
    known = 24 + 24 * count
    if not 0 <= arrived - sent < _LATE_NS or count > _MOST_TOKENS or len(body) < known:
        return None
    tokens = []
    for number in range(count):
        release, chain, _, instance = struct.unpack_from("<qIIQ", body, 24 + 24 * number)
        tokens.append(Token(chain, instance, release))
    return WireMessage(sender, sent, tuple(tokens))
