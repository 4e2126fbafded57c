# SPDX-License-Identifier: Apache-2.0
"""The CPUs of an instance, as column `cpus` of instances.csv states them.

`0`: it began and ended on CPU 0. `0;1`: it began on CPU 0 and ended on CPU 1.
`0:1000-3000;1:4000-5000`: it ran on CPU 0 from 1000 to 3000 ns since the start of the run, then on
CPU 1, and at no other time. Nothing: its CPUs are not known.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

EXPECTED = "nothing, CPUs such as 0 or 0;1, or parts such as 0:1000-3000;1:4000-5000, in order"
_MOST_CPUS = 65_536
_PART = re.compile(r"([0-9]{1,5})(?::(-?[0-9]{1,18})-(-?[0-9]{1,18}))?")


class CpuPart(NamedTuple):
    """A part of an instance on one CPU."""

    cpu: int
    start: int = 0
    """In nanoseconds since the start of the run; equal to `end` if only the CPU is known."""
    end: int = 0


CpuParts = tuple[CpuPart, ...]

_WITHOUT_TIMES: dict[str, CpuParts] = {"": ()}
"""Parts that were parsed before: without times there are few different ones."""


def parse_cpus(text: str) -> CpuParts | None:
    """Returns the parts, in order of time; empty if the CPUs are not known. None: the text is not
    valid."""
    known = _WITHOUT_TIMES.get(text)
    if known is not None:
        return known
    found = [_PART.fullmatch(each) for each in text.split(";")]
    parts = tuple(_part(match) for match in found if match)
    if len(parts) < len(found) or any(part.cpu >= _MOST_CPUS for part in parts):
        return None
    if all(match and match[2] is None for match in found):
        if len(parts) > 2 or (len(parts) == 2 and parts[0].cpu == parts[1].cpu):
            return None
        return _WITHOUT_TIMES.setdefault(text, parts)
    in_order = all(a.end <= b.start for a, b in pairwise(parts))
    return parts if in_order and all(part.start < part.end for part in parts) else None


def _part(match: re.Match[str]) -> CpuPart:
    cpu, start, end = match.groups()
    return CpuPart(int(cpu)) if start is None else CpuPart(int(cpu), int(start), int(end))


def have_times(parts: Sequence[CpuPart]) -> bool:
    """Returns whether the times of all parts are known."""
    return bool(parts) and parts[0].start < parts[0].end


def around(parts: CpuParts, start: int, end: int) -> CpuParts:
    """Returns the parts that overlap the interval, and the one before and after them. All parts, if
    their times are not known."""
    if not have_times(parts):
        return parts
    first = bisect_right(parts, start, key=lambda part: part.end)
    last = bisect_left(parts, end, key=lambda part: part.start)
    return parts[max(first - 1, 0) : last + 1]


def migrations(parts: Sequence[CpuPart]) -> int:
    """Returns how often the instance continued on another CPU; without times: at least so often."""
    return sum(a.cpu != b.cpu for a, b in pairwise(parts))
