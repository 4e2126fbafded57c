# SPDX-License-Identifier: Apache-2.0
"""The part of the CPU time that the host of a virtual machine took during a measurement."""

from __future__ import annotations

from pathlib import Path

STAT = Path("/proc/stat")
USER, STEAL = 0, 7
"""Columns of the line "cpu": user nice system idle iowait irq softirq steal ..."""


class HostShare:
    """Counts from its construction on."""

    def __init__(self, stat: Path = STAT) -> None:
        self._stat = stat
        self._before = _times(stat)

    def so_far(self) -> float | None:
        """The host's part of all CPU time since, 0 to 1; None if the kernel does not report it."""
        now = _times(self._stat)
        if self._before is None or now is None:
            return None
        passed = [after - before for before, after in zip(self._before, now, strict=True)]
        total = sum(passed)
        return passed[STEAL] / total if total > 0 else 0.0


def _times(stat: Path) -> list[int] | None:
    try:
        fields = stat.read_text(encoding="ascii").splitlines()[0].split()
    except OSError:
        return None
    # guest times, behind steal, are part of user's
    return [int(field) for field in fields[1 : STEAL + 2]] if len(fields) > STEAL + 1 else None
