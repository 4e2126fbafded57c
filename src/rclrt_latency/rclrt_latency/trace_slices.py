# SPDX-License-Identifier: Apache-2.0
"""The slices of the track events in a Perfetto trace, and how long each took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rclrt_py.errors import BadInput

from rclrt_latency.perfetto_reader import BYTES, PACKET, DamagedTrace, Message, Reader

CLEARED = 1
"""A flag of a sequence: earlier interned data is no longer valid."""
BEGIN, END = 1, 2
LEGACY = {ord("B"): BEGIN, ord("E"): END}
COMPLETE = ord("X")
FIRST_OWN_CLOCK = 64
"""From here on a clock belongs to its sequence."""

_TIMESTAMP, _SEQUENCE, _EVENT, _INTERNED, _FLAGS = 8, 10, 11, 12, 13
_SNAPSHOT, _CLOCK_ID, _DEFAULTS, _DESCRIPTOR, _FIRST = 6, 58, 59, 60, 87


@dataclass(frozen=True)
class Slices:
    """The durations of all slices in nanoseconds, by the names of track and slice."""

    file: Path
    durations: dict[tuple[str, str], list[int]]
    unfinished: int
    """Slices without an end: the trace stopped before it."""


def read_slices(path: Path) -> Slices:
    """Throws BadInput for a file that cannot be read, is no trace, or is damaged."""
    try:
        if path.exists() and not path.is_file():  # a pipe or a device may have no end
            raise BadInput(f"{path}: is not a file; expected a Perfetto trace")
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    if not data or data[0] != PACKET << 3 | BYTES:
        raise BadInput(f"{path}: is no Perfetto trace in protobuf{_other_kind(data)}")
    collector = _Collector()
    try:
        for reader, packet in Reader(data).packets():
            collector.add(reader, packet)
        return collector.slices(path)
    except DamagedTrace as error:
        raise BadInput(
            f"{path}: {error}\n  fix: the trace is cut off or damaged; record or copy it again"
        ) from error


def _other_kind(data: bytes) -> str:
    if not data:
        return "; the file is empty"
    if data[:2] == b"\x1f\x8b":
        return "; it is compressed: expected what gunzip makes of it"
    if data[:1] in (b"{", b"["):
        return "; it looks like JSON: expected a .pftrace or .perfetto-trace"
    return " (byte 0: expected the begin of a packet)"


@dataclass
class _Sequence:
    """The state that the packets of one writer refer to."""

    names: dict[int, str] = field(default_factory=dict)
    track: int = 0
    clock: int = 0
    times: dict[int, int] = field(default_factory=dict)
    """The present time of each incremental clock of the sequence."""
    units: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Event:
    time_ns: int
    kind: int
    name: str
    duration_ns: int = 0


class _Collector:
    def __init__(self) -> None:
        self._sequences: defaultdict[int, _Sequence] = defaultdict(_Sequence)
        self._names: dict[int, str] = {}
        self._events: defaultdict[int, list[_Event]] = defaultdict(list)

    def add(self, reader: Reader, packet: Message) -> None:
        sequence_id = packet.numbers.get(_SEQUENCE, 0)
        if packet.numbers.get(_FLAGS, 0) & CLEARED or packet.numbers.get(_FIRST, 0):
            self._sequences[sequence_id] = _Sequence()
        sequence = self._sequences[sequence_id]
        if _SNAPSHOT in packet.parts:
            _read_clocks(reader, packet.parts[_SNAPSHOT], sequence)
        if _DEFAULTS in packet.parts:
            defaults = reader.message(*packet.parts[_DEFAULTS])
            sequence.clock = defaults.numbers.get(58, sequence.clock)
            if 11 in defaults.parts:
                sequence.track = reader.message(*defaults.parts[11]).numbers.get(11, sequence.track)
        if _INTERNED in packet.parts:
            _read_names(reader, packet.parts[_INTERNED], sequence)
        if _DESCRIPTOR in packet.parts:
            self._describe(reader, packet.parts[_DESCRIPTOR])
        if _EVENT in packet.parts:
            self._event(reader, packet, sequence)

    def _describe(self, reader: Reader, part: tuple[int, int]) -> None:
        track = reader.message(*part)
        name = ""
        for message, number in ((3, 6), (4, 5)):  # the process's, then the thread's
            if message in track.parts:
                inner = reader.message(*track.parts[message])
                if number in inner.parts:
                    name = reader.text(inner.parts[number])
        for number in (2, 10):  # its own, also where it is static
            if number in track.parts:
                name = reader.text(track.parts[number])
        if name:  # a later packet may describe a track again, without its name
            self._names[track.numbers.get(1, 0)] = name

    def _event(self, reader: Reader, packet: Message, sequence: _Sequence) -> None:
        event = reader.message(*packet.parts[_EVENT])
        time_ns = _time_of(packet, event, sequence)
        kind = event.numbers.get(9, 0)
        duration_ns = 0
        if 6 in event.parts and kind == 0:
            legacy = reader.message(*event.parts[6])
            kind = LEGACY.get(legacy.numbers.get(2, 0), 0)
            if legacy.numbers.get(2, 0) == COMPLETE:
                kind, duration_ns = COMPLETE, legacy.numbers.get(3, 0) * 1000
        if kind not in (BEGIN, END, COMPLETE):
            return
        if time_ns is None:
            raise DamagedTrace(packet.place, "an event has no time stamp")
        name = ""
        if 23 in event.parts:
            name = reader.text(event.parts[23])
        elif 10 in event.numbers:
            name = sequence.names.get(event.numbers[10], f"name {event.numbers[10]}")
        track = event.numbers.get(11, sequence.track)
        self._events[track].append(_Event(time_ns, kind, name, duration_ns))

    def slices(self, path: Path) -> Slices:
        durations: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        unfinished = 0
        for uuid, events in self._events.items():
            track = self._names.get(uuid, f"track {uuid}")
            # Stable: events of one time stay in the order of the file.
            events.sort(key=lambda event: event.time_ns)
            open_slices: list[_Event] = []
            for event in events:
                if event.kind == BEGIN:
                    open_slices.append(event)
                elif event.kind == COMPLETE:
                    durations[track, event.name].append(event.duration_ns)
                elif open_slices:
                    begin = open_slices.pop()
                    durations[track, begin.name].append(event.time_ns - begin.time_ns)
            unfinished += len(open_slices)
        return Slices(path, dict(durations), unfinished)


def _time_of(packet: Message, event: Message, sequence: _Sequence) -> int | None:
    """In nanoseconds of the event's clock; only differences within a track have a meaning."""
    stamp = packet.numbers.get(_TIMESTAMP)
    if stamp is None:
        microseconds = event.numbers.get(16)
        return None if microseconds is None else microseconds * 1000
    clock = packet.numbers.get(_CLOCK_ID, sequence.clock)
    if clock < FIRST_OWN_CLOCK:
        return stamp
    stamp *= sequence.units.get(clock, 1)
    if clock in sequence.times:
        sequence.times[clock] += stamp
        return sequence.times[clock]
    return stamp


def _read_clocks(reader: Reader, part: tuple[int, int], sequence: _Sequence) -> None:
    """Stores the definitions of the sequence's own clocks."""
    for clock in _messages(reader, part, 1):
        number = clock.numbers.get(1, 0)
        if number >= FIRST_OWN_CLOCK:
            unit = clock.numbers.get(4, 1) or 1
            sequence.units[number] = unit
            if clock.numbers.get(3, 0):
                sequence.times[number] = clock.numbers.get(2, 0) * unit


def _read_names(reader: Reader, part: tuple[int, int], sequence: _Sequence) -> None:
    for name in _messages(reader, part, 2):
        if 2 in name.parts:
            sequence.names[name.numbers.get(1, 0)] = reader.text(name.parts[2])


def _messages(reader: Reader, part: tuple[int, int], number: int) -> Iterator[Message]:
    for found, begin, end in reader.message(*part).repeated:
        if found == number:
            yield reader.message(begin, end)
