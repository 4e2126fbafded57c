# SPDX-License-Identifier: Apache-2.0
"""Reads the protobuf of a Perfetto trace: packets, and the fields within them.

Field numbers are those of https://perfetto.dev/docs/reference/trace-packet-proto. The file is not
trusted: each fault raises DamagedTrace with the place.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
PACKET, COMPRESSED_PACKETS = 1, 50
LARGEST = 1 << 30
"""Bytes that compressed packets may have, so that a small file cannot fill the memory."""


class DamagedTrace(Exception):
    """A damaged trace: the message has the fault and its byte."""

    def __init__(self, place: int, what: str) -> None:
        super().__init__(f"byte {place}: {what}")


@dataclass
class Message:
    """The fields of one protobuf message, by number. If a field occurs several times, its value is
    the last one, as in protobuf; `repeated` returns all values."""

    place: int
    numbers: dict[int, int] = field(default_factory=dict)
    parts: dict[int, tuple[int, int]] = field(default_factory=dict)
    repeated: list[tuple[int, int, int]] = field(default_factory=list)
    """Field, begin and end of each part."""


class Reader:
    """The bytes of a trace. `origin` is added to the places in errors."""

    def __init__(self, data: bytes, origin: int = 0) -> None:
        self._data = data
        self._origin = origin

    def packets(self) -> Iterator[tuple[Reader, Message]]:
        """Every packet with the reader of its bytes, also those within compressed ones."""
        place = 0
        while place < len(self._data):
            number, kind, value, after = self._field(place, len(self._data))
            if number == PACKET and kind == BYTES:
                begin = after - value
                message = self.message(begin, after)
                yield self, message
                if COMPRESSED_PACKETS in message.parts:
                    yield from self._decompressed(*message.parts[COMPRESSED_PACKETS]).packets()
            place = after

    def message(self, begin: int, end: int) -> Message:
        result = Message(self._origin + begin)
        numbers, parts, repeated = result.numbers, result.parts, result.repeated
        data = self._data
        place = begin
        while place < end:
            tag = data[place]
            # The usual case, a small number, without a call.
            if 8 <= tag < 0x80 and not tag & 7 and place + 1 < end and data[place + 1] < 0x80:
                numbers[tag >> 3] = data[place + 1]
                place += 2
                continue
            number, kind, value, place = self._field(place, end)
            if kind == BYTES:
                parts[number] = (place - value, place)
                repeated.append((number, place - value, place))
            else:
                numbers[number] = value
        return result

    def text(self, part: tuple[int, int]) -> str:
        begin, end = part
        return self._data[begin:end].decode("utf-8", errors="replace")

    def _field(self, place: int, end: int) -> tuple[int, int, int, int]:
        """Number, kind, value (of BYTES: the length), and the place behind it."""
        tag = self._data[place]
        after = place + 1
        if tag >= 0x80:
            tag, after = self._varint(place, end)
        number, kind = tag >> 3, tag & 7
        if number == 0:
            raise self._damaged(place, "expected a field, found one numbered 0")
        if kind in (VARINT, BYTES):
            value, after = self._varint(after, end)
            if kind == VARINT:
                return number, kind, value, after
            if value > end - after:
                raise self._damaged(
                    place, f"field {number} has {value} bytes, but only {end - after} follow"
                )
            return number, kind, value, after + value
        size = {FIXED64: 8, FIXED32: 4}.get(kind)
        if size is None:
            raise self._damaged(place, f"field {number} is of the kind {kind}, which no trace has")
        if size > end - after:
            raise self._damaged(place, f"field {number} ends behind its message")
        value = int.from_bytes(self._data[after : after + size], "little")
        return number, kind, value, after + size

    def _varint(self, place: int, end: int) -> tuple[int, int]:
        data = self._data
        value = shift = 0
        while shift < 70:
            if place >= end:
                raise self._damaged(place, "a number is cut off")
            byte = data[place]
            place += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFF_FFFF_FFFF_FFFF, place
            shift += 7
        raise self._damaged(place, "a number has more than 10 bytes")

    def _decompressed(self, begin: int, end: int) -> Reader:
        """A reader that reports errors at the place of the compressed packets."""
        expander = zlib.decompressobj()
        try:
            data = expander.decompress(self._data[begin:end], LARGEST)
        except zlib.error as error:
            raise self._damaged(begin, f"compressed packets cannot be read ({error})") from error
        if expander.unconsumed_tail or not expander.eof:
            raise self._damaged(begin, "compressed packets are cut off or larger than 1 GiB")
        return _Expanded(data, self._origin + begin)

    def _damaged(self, place: int, what: str) -> DamagedTrace:
        return DamagedTrace(self._origin + place, what)


class _Expanded(Reader):
    """The expanded bytes of compressed packets: their places are not places in the file."""

    def __init__(self, data: bytes, place: int) -> None:
        super().__init__(data)
        self._place = place

    def _damaged(self, place: int, what: str) -> DamagedTrace:
        return DamagedTrace(self._place, f"in the packets compressed here, at {place}: {what}")

    def _decompressed(self, begin: int, end: int) -> Reader:
        raise self._damaged(begin, "compressed packets within compressed packets")
