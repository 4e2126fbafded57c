# SPDX-License-Identifier: Apache-2.0
"""Writes Perfetto traces field by field, as other writers do."""

from __future__ import annotations

import zlib

NEEDS_STATE, CLEARED = 2, 1


def varint(value: int) -> bytes:
    result = bytearray()
    while value >= 0x80:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def part(field: int, content: bytes | str) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(data)) + data


def packet(*fields: bytes, sequence: int = 1) -> bytes:
    return part(1, b"".join(fields) + number(10, sequence))


def thread_track(uuid: int, name: str) -> bytes:
    thread = number(1, 10) + number(2, 11) + part(5, name)
    return packet(part(60, number(1, uuid) + part(4, thread)))


def named_track(uuid: int, name: str) -> bytes:
    return packet(part(60, number(1, uuid) + part(2, name)))


def begin(uuid: int, time_ns: int, name: str) -> bytes:
    event = number(9, 1) + number(11, uuid) + part(23, name)
    return packet(number(8, time_ns), part(11, event))


def end(uuid: int, time_ns: int) -> bytes:
    return packet(number(8, time_ns), part(11, number(9, 2) + number(11, uuid)))


def compressed(*packets: bytes) -> bytes:
    return packet(part(50, zlib.compress(b"".join(packets))))
