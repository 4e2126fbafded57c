# SPDX-License-Identifier: Apache-2.0
"""Sets of CPUs as the kernel writes them: `0-2,5`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from rclrt_py.doctor.checks import CPUS, read

MOST_CPUS = 8192


def parse(text: str | None) -> set[int]:
    """Returns the CPU numbers of a list in the kernel's format, such as "0,2-3". Ignores leading
    flags, as in `isolcpus=domain,2-3`, and ranges with a stride. Returns an empty set if the text
    is None or is not such a list."""
    found: set[int] = set()
    for part in (text or "").split(","):
        numbers = re.fullmatch(r"\s*(\d{1,5})(?:-(\d{1,5}))?\s*", part)
        if numbers:
            first = int(numbers[1])
            last = int(numbers[2] or first)
            found |= set(range(first, min(last, MOST_CPUS) + 1))
    return found


def written(cpus: Iterable[int]) -> str:
    """Returns the set as a list that the kernel reads."""
    return ",".join(f"{a}-{b}" if b > a else f"{a}" for a, b in _ranges(sorted(set(cpus))))


def _ranges(cpus: list[int]) -> Iterator[tuple[int, int]]:
    start = 0
    for i in range(1, len(cpus) + 1):
        if i == len(cpus) or cpus[i] != cpus[i - 1] + 1:
            yield cpus[start], cpus[i - 1]
            start = i


def isolated(root: Path) -> set[int]:
    return parse(read(root / CPUS / "isolated"))


def online(root: Path) -> set[int]:
    return parse(read(root / CPUS / "online"))


def boot_parameter(root: Path, name: str) -> str | None:
    """Returns the value of the parameter `name` on the kernel's command line. If the parameter is
    given several times, the last value counts. None: it is not given with a value."""
    value = None
    for word in (read(root / "proc/cmdline") or "").split(" -- ")[0].split():
        key, equals, text = word.partition("=")
        if equals and key == name:
            value = text
    return value
