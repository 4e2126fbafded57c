# SPDX-License-Identifier: Apache-2.0
"""The applications with mistakes in broken_applications.txt.

    python3 broken_applications.py DIRECTORY

writes each of them as a file, such as for a fuzzer.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

TABLE = Path(__file__).with_name("broken_applications.txt")
CHANGE = re.compile(r" *(?P<line>\d*)(?P<way>[+-]?)\|(?P<text>.*)")


@dataclass
class BrokenApplication:
    name: str
    slots: list[list[bytes]]  # at N: line N of the base and what follows it
    errors: list[str] = field(default_factory=list)  # LINE:COLUMN: MESSAGE

    @property
    def text(self) -> bytes:
        return b"".join(line + b"\n" for slot in self.slots for line in slot)

    def change(self, line: str, way: str, text: bytes) -> None:
        slot = self.slots[int(line or -1)]
        if way == "-":
            del slot[0]
        elif way == "+" or not line:
            slot.append(text)
        else:
            slot[0] = text

    def write(self, directory: Path) -> Path:
        path = directory / f"{self.name}.yaml"
        path.write_bytes(self.text)
        return path


def unescaped(text: str) -> bytes:
    return re.sub(rb"\\x(..)", lambda found: bytes.fromhex(found[1].decode()), text.encode())


def broken_applications() -> dict[str, BrokenApplication]:
    """Reads the cases, by their names."""
    base: list[list[bytes]] = []
    in_base = True
    cases: list[BrokenApplication] = []
    for line in TABLE.read_text().splitlines():
        word, _, rest = line.strip().partition(" ")
        if not line or line.startswith("#"):
            continue
        if line.startswith("base "):
            base, in_base = [[]], True
        elif line.startswith("case "):
            in_base = False
            cases.append(BrokenApplication(rest, [list(slot) for slot in base]))
        elif word == "!":
            cases[-1].errors.append(rest)
        elif (change := CHANGE.fullmatch(line)) is None:
            raise ValueError(f"{TABLE}: {line}")
        elif in_base:
            base.append([change["text"].encode()])
        else:
            cases[-1].change(change["line"], change["way"], unescaped(change["text"]))
    return {case.name: case for case in cases}


if __name__ == "__main__":
    for case in broken_applications().values():
        case.write(Path(sys.argv[1]))
