# SPDX-License-Identifier: Apache-2.0
"""Makes traces of random types (Common Trace Format 1.8), and the content to be read from them."""

from __future__ import annotations

import random
import struct
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

FIELDS = 6
Write = Callable[["Bits"], None]
Event = tuple[str, str, Write]
"""An event: its declaration, its expected content, and the function that writes it."""


class Bits:
    """A packet that is written bit by bit."""

    def __init__(self, big_endian: bool) -> None:
        self.big_endian = big_endian
        self.size = 0
        self._bits: list[tuple[int, int]] = []

    def align(self, bits: int) -> None:
        self.size = -(-self.size // bits) * bits

    def integer(self, value: int, size: int, align: int, big_endian: bool | None = None) -> None:
        """Writes an integer. The byte order decides from which end bits of a byte are filled."""
        self.align(align)
        last = self.big_endian if big_endian is None else big_endian
        for i in range(size):
            place = self.size + i
            bit = value >> (size - 1 - i if last else i) & 1
            if bit:
                self._bits.append((place // 8, 1 << (7 - place % 8 if last else place % 8)))
        self.size += size

    def text(self, value: str) -> None:
        for byte in [*value.encode(), 0]:
            self.integer(byte, 8, 8)

    def content(self, size: int) -> bytearray:
        data = bytearray(size)
        for byte, mask in self._bits:
            data[byte] |= mask
        return data


@dataclass
class Kind:
    """A type: its declaration for a name, its alignment in bits, and the function for a value."""

    declare: Callable[[str], str]
    align: int
    write: Write


@dataclass
class Trace:
    """The files of a trace, and the lines that `ctf_dump` prints for it."""

    metadata: str
    stream: bytes
    expected: list[str] = field(default_factory=list)

    def save(self, directory: Path) -> None:
        directory.mkdir(parents=True)
        (directory / "metadata").write_text(self.metadata)
        (directory / "stream").write_bytes(self.stream)


class Generator:
    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self.big_endian = self._draw.random() < 0.5
        self._names = 0

    def _name(self) -> str:
        self._names += 1
        return f"f_{self._names}"

    def integer(self) -> tuple[Kind, int]:
        """Returns a type of integer and the value that it will have."""
        draw = self._draw
        size = draw.choice([8, 16, 32, 64, draw.randint(1, 64)])
        align = 1 << draw.randint(0, 6)
        signed = draw.random() < 0.5
        # Readers reject two byte orders within one byte.
        big = draw.random() < 0.5 if size % 8 == 0 and align >= 8 else self.big_endian
        least = -(1 << (size - 1)) if signed else 0
        most = least + (1 << size) - 1
        value = draw.choice([least, most, draw.randint(least, most)])
        order = "be" if big else "le"
        said = (
            f"integer {{ size = {size}; align = {align}; signed = {str(signed).lower()}; "
            f"byte_order = {order}; }}"
        )
        masked = value & ((1 << size) - 1)
        return (
            Kind(
                lambda name: f"{said} {name};", align, lambda b: b.integer(masked, size, align, big)
            ),
            value,
        )

    def floating(self) -> Kind:
        exponent, mantissa, code = self._draw.choice([(8, 24, "f"), (11, 53, "d")])
        align = 8 << self._draw.randint(0, 3)
        bits = int.from_bytes(struct.pack(">" + code, self._draw.uniform(-9, 9)), "big")
        said = f"floating_point {{ exp_dig = {exponent}; mant_dig = {mantissa}; align = {align}; }}"
        size = exponent + mantissa
        return Kind(lambda name: f"{said} {name};", align, lambda b: b.integer(bits, size, align))

    def string(self) -> tuple[Kind, str]:
        value = "".join(self._draw.choices("abcxyz019", k=self._draw.randint(0, 5)))
        return Kind(lambda name: f"string {name};", 8, lambda b: b.text(value)), value

    def text(self) -> tuple[Kind, str]:
        """Returns an array of characters, which ends at the first zero, and its text."""
        size = self._draw.randint(1, 6)
        value = "".join(self._draw.choices("abcxyz", k=self._draw.randint(0, size)))
        said = "integer { size = 8; align = 8; signed = false; encoding = UTF8; }"

        def write(bits: Bits) -> None:
            for byte in value.encode().ljust(size, b"\0"):
                bits.integer(byte, 8, 8)

        return Kind(lambda name: f"{said} {name}[{size}];", 8, write), value

    def structure(self, depth: int) -> Kind:
        members = [self.members(depth + 1, self._name()) for _ in range(self._draw.randint(0, 3))]
        least = self._draw.choice([0, 0, 8, 32, 64])
        align = max([least, 1, *(kind.align for parts in members for _, kind in parts)])
        said = " ".join(kind.declare(name) for parts in members for name, kind in parts)
        behind = f" align({least})" if least else ""

        def write(bits: Bits) -> None:
            bits.align(align)
            for parts in members:
                for _, kind in parts:
                    kind.write(bits)

        return Kind(lambda name: f"struct {{ {said} }}{behind} {name};", align, write)

    def array(self, depth: int, count: int, length: str) -> Kind:
        """Returns an array, or with `length` a sequence, with the alignment of its elements."""
        element = self.any(depth + 1)
        if element.declare("x").endswith("];") and self._draw.random() < 0.5:
            element = self.integer()[0]

        def write(bits: Bits) -> None:
            bits.align(element.align)
            for _ in range(count):
                element.write(bits)

        def declare(name: str) -> str:
            # In a list of lists, the outer list's length comes first, as in C.
            return element.declare(f"{name}[{length or count}]")

        return Kind(declare, element.align, write)

    def enumeration(self, size: int, labels: list[tuple[str, int, int]], value: int) -> Kind:
        align = self._draw.choice([1, 8])
        said = ", ".join(f"{name} = {first} ... {last}" for name, first, last in labels)
        base = f"integer {{ size = {size}; align = {align}; signed = false; }}"
        return Kind(
            lambda name: f"enum : {base} {{ {said} }} {name};",
            align,
            lambda b: b.integer(value, size, align),
        )

    def any(self, depth: int) -> Kind:
        pick = self._draw.randrange(6 if depth < 3 else 4)
        if pick == 0:
            return self.floating()
        if pick == 1:
            return self.string()[0]
        if pick == 4:
            return self.structure(depth)
        if pick == 5:
            return self.array(depth, self._draw.randint(0, 3), "")
        return self.integer()[0]

    def members(self, depth: int, name: str) -> list[tuple[str, Kind]]:
        """Returns a member, with the length or tag that it needs before it."""
        draw = self._draw
        pick = draw.randrange(4)
        if pick == 0:
            count, size, align = draw.choice([0, 0, 1, 3]), draw.choice([8, 32]), 8
            length = Kind(
                lambda n: f"integer {{ size = {size}; align = {align}; signed = false; }} {n};",
                align,
                lambda b: b.integer(count, size, align),
            )
            byte = "integer { size = 8; align = 8; signed = false; }"
            # A structure between the two has a member of the same name, which must not be used.
            other = Kind(
                lambda n: f"struct {{ {byte} len_{name}; }} {n};",
                8,
                lambda b: b.integer(7, 8, 8),
            )
            return [
                (f"len_{name}", length),
                (f"other_{name}", other),
                (name, self.array(depth, count, f"len_{name}")),
            ]
        if pick == 1:
            options = [self.any(depth + 1), self.any(depth + 1)]
            chosen = draw.randrange(2)
            value = (draw.randint(0, 9), draw.randint(10, 31))[chosen]
            tag = self.enumeration(5, [("first", 0, 9), ("second", 10, 31)], value)
            said = options[0].declare("first") + " " + options[1].declare("second")
            variant = Kind(
                lambda n: f"variant <tag_{name}> {{ {said} }} {n};", 1, options[chosen].write
            )
            return [(f"tag_{name}", tag), (name, variant)]
        return [(name, self.any(depth))]

    def integers(self, name: str) -> tuple[list[tuple[str, Kind]], str]:
        """Returns a list of integers with the member that has its length, and its values."""
        draw = self._draw
        size, align, signed = draw.choice([8, 16, 64]), draw.choice([8, 32]), draw.random() < 0.5
        least = -(1 << (size - 1)) if signed else 0
        values = [
            draw.randint(least, least + (1 << size) - 1) for _ in range(draw.choice([0, 1, 3]))
        ]
        said = f"integer {{ size = {size}; align = {align}; signed = {str(signed).lower()}; }}"

        def write(bits: Bits) -> None:
            bits.align(align)
            for value in values:
                bits.integer(value & ((1 << size) - 1), size, align)

        length = Kind(
            lambda n: f"integer {{ size = 32; align = 8; signed = false; }} {n};",
            8,
            lambda b: b.integer(len(values), 32, 8),
        )
        numbers = Kind(lambda n: f"{said} {n}[len_{name}];", align, write)
        return [(f"len_{name}", length), (name, numbers)], ",".join(map(str, values))

    def event(self, number: int) -> Event:
        fields: list[tuple[str, Kind]] = []
        found: list[str] = []
        texts: list[str] = []
        lists: list[str] = []
        for i in range(FIELDS):
            fields += self.members(0, self._name())
            kind, value = self.integer()
            fields.append((f"s_{i}", kind))
            found.append(f"s_{i}={value}")
            text, said = (self.text if i % 2 else self.string)()
            fields.append((f"t_{i}", text))
            texts.append(f"t_{i}={said}")
            members, said = self.integers(f"l_{i}")
            fields += members
            lists.append(f"l_{i}={said}")
        align = max(kind.align for _, kind in fields)
        declared = "\n  ".join(kind.declare(name) for name, kind in fields)

        def write(bits: Bits) -> None:
            bits.align(align)
            for _, kind in fields:
                kind.write(bits)

        text_of_metadata = (
            f'event {{ name = "e{number}"; id = {number}; stream_id = 0; fields := struct {{\n'
            f"  {declared}\n}}; }};\n"
        )
        return text_of_metadata, " ".join([f"e{number}", *found, *texts, *lists]), write

    def _declarations(
        self,
        identity: uuid.UUID,
        has_uuid: bool,
        wide: int,
        has_content: bool,
        header_bits: tuple[int, int],
    ) -> str:
        """Returns the metadata without the events."""
        id_bits, time_bits = header_bits
        integers = "".join(
            f"typealias integer {{ size = {size}; align = {align}; signed = false; }} := u{size};\n"
            for size, align in ((5, 1), (8, 8), (16, 8), (32, 8), (64, 8))
        )
        clocked = "".join(
            f"typealias integer {{ size = {size}; align = {align}; signed = false; "
            f"map = clock.monotonic.value; }} := c{size};\n"
            for size, align in ((27, 1), (32, 8), (64, 8))
        )
        last = (1 << id_bits) - 1
        header = (
            f"struct {{ enum : u{id_bits} {{ compact = 0 ... {last - 1}, extended = {last} }} id;\n"
            f"  variant <id> {{ struct {{ c{time_bits} timestamp; }} compact;\n"
            "    struct { u32 id; c64 timestamp; } extended; } v; } align(8)"
        )
        return (
            f"/* CTF 1.8 */\n{integers}"
            f"trace {{ major = 1; minor = 8; byte_order = {'be' if self.big_endian else 'le'};\n"
            f'  uuid = "{identity}"; packet.header := struct {{ u32 magic; '
            f"{'u8 uuid[16]; ' if has_uuid else ''}u32 stream_id; }}; }};\n"
            'env { hostname = "robot"; };\n'
            'clock { name = "monotonic"; freq = 1000000000; offset = 0; };\n'
            f"{clocked}stream {{ id = 0; event.header := {header};\n"
            "  packet.context := struct { c64 timestamp_begin; c64 timestamp_end; "
            f"{f'u{wide} content_size; ' if has_content else ''}u{wide} packet_size; "
            f"u64 events_discarded; }}; }};\n"
        )

    def trace(self) -> Trace:
        """Returns a trace of three packets. The second is empty; both others have all events."""
        draw = self._draw
        identity = uuid.UUID(int=draw.getrandbits(128))
        wide = draw.choice([32, 64])
        has_uuid, has_content = draw.random() < 0.7, draw.random() < 0.8
        id_bits, time_bits = draw.choice([(5, 27), (16, 32), (32, 64)])
        events = [self.event(number) for number in range(4)]
        metadata = self._declarations(identity, has_uuid, wide, has_content, (id_bits, time_bits))
        metadata += "".join(declared for declared, _, _ in events)

        def packet(
            size: int, content: int, begin: int, end: int, written: list[tuple[Event, int]]
        ) -> Bits:
            bits = Bits(self.big_endian)
            bits.integer(0xC1FC1FC1, 32, 8)
            for byte in identity.bytes if has_uuid else b"":
                bits.integer(byte, 8, 8)
            bits.integer(0, 32, 8)
            bits.integer(begin, 64, 8)
            bits.integer(end, 64, 8)
            if has_content:
                bits.integer(content, wide, 8)
            bits.integer(size, wide, 8)
            bits.integer(0, 64, 8)
            for event, at in written:
                self._event_header(bits, events.index(event), at, id_bits, time_bits)
                event[2](bits)
            return bits

        expected: list[str] = []
        stream = b""
        time = draw.randint(1, 1 << 40)
        for number in range(3):
            chosen = [] if number == 1 else draw.choices(events, k=5)
            begin, times = time, []
            for _ in chosen:
                time += draw.randint(0, 1 << 20)
                times.append(time)
            written = list(zip(chosen, times, strict=True))

            content = packet(0, 0, begin, time, written).size
            if not has_content:
                content = -(-content // 8) * 8
            size = -(-content // 8) * 8 + (draw.choice([0, 64, 800]) if has_content else 0)
            stream += packet(size, content, begin, time, written).content(size // 8)
            expected += [f"{at} {line}" for (_, line, _), at in written]
        return Trace(metadata, stream, expected)

    def _event_header(
        self, bits: Bits, number: int, time: int, id_bits: int, time_bits: int
    ) -> None:
        # The alignment of a structure with a variant comes from its own members.
        bits.align(8)
        if (number + time) % 3:
            bits.integer(number, id_bits, 1 if id_bits < 8 else 8)
            bits.integer(time & ((1 << time_bits) - 1), time_bits, 1 if time_bits < 32 else 8)
        else:
            bits.integer((1 << id_bits) - 1, id_bits, 1 if id_bits < 8 else 8)
            bits.integer(number, 32, 8)
            bits.integer(time, 64, 8)
