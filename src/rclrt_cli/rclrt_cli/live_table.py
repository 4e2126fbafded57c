# SPDX-License-Identifier: Apache-2.0
"""What running robots say of their callbacks with deadlines, as a table that changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rclrt_cli.table import LINE_WIDTH, Paint, shorten

PREFIX = "rclrt: "
"""What the name of each status begins with that a robot's monitor publishes."""
SILENT_AFTER_S = 3.0
NAME_WIDTH = 42
COLUMNS = (
    ("priority", 9),
    ("deadline", 10),
    ("released", 10),
    ("lost", 8),
    ("missed", 8),
    ("+", 6),
    ("worst late", 11),
)
"""Title and width; deadline and worst late in ms, `+` since the last message."""

OK, WARN, ERROR = 0, 1, 2
"""Levels of a diagnostic_msgs/msg/DiagnosticStatus."""


@dataclass(frozen=True)
class Status:
    """One status of a message, as the monitor of rclrt_rclcpp fills it."""

    name: str
    level: int
    message: str
    values: dict[str, str]
    received_s: float
    """On the clock of whoever asks for the table."""


@dataclass
class _Callback:
    latest: Status
    missed_before: int | None = None
    worst_late_ms: float = 0.0
    in_the_way: str = ""

    def take(self, status: Status) -> None:
        self.missed_before = _whole(self.latest, "missed")
        self.latest = status
        self.note()

    def note(self) -> None:
        self.worst_late_ms = max(self.worst_late_ms, _real(self.latest, "worst_late_ms"))
        self.in_the_way = self.latest.values.get("most_in_the_way", self.in_the_way)


@dataclass
class LiveTable:
    """Keeps the latest status of each callback and process. What comes is not trusted."""

    callbacks: dict[str, _Callback] = field(default_factory=dict)
    processes: dict[str, Status] = field(default_factory=dict)
    most: int = 1000
    """Callbacks that are kept: anybody may publish on a topic."""

    def take(self, status: Status) -> None:
        """Notes a status; those of other publishers are passed over."""
        if not status.name.startswith(PREFIX):
            return
        name = status.name.removeprefix(PREFIX)
        if "deadline_ms" not in status.values:
            if name in self.processes or len(self.processes) < self.most:
                self.processes[name] = status
        elif name in self.callbacks:
            self.callbacks[name].take(status)
        elif len(self.callbacks) < self.most:
            self.callbacks[name] = _Callback(status)
            self.callbacks[name].note()

    @property
    def missed(self) -> bool:
        """Whether any callback has missed a deadline, or does not end."""
        return any(
            _whole(each.latest, "missed") > 0 or each.latest.level >= ERROR
            for each in self.callbacks.values()
        )

    def lines(self, now_s: float, paint: Paint) -> Iterator[str]:
        """The table, the most serious first, then the most urgent."""
        titles = "".join(title.rjust(width) for title, width in COLUMNS)
        yield paint.dim(("callback".ljust(NAME_WIDTH) + titles + "  most in the way").rstrip())
        for name, callback in sorted(self.callbacks.items(), key=_seriousness):
            yield from _lines(name, callback, now_s, paint)
        for name, process in sorted(self.processes.items()):
            silent = ", silent" if now_s - process.received_s > SILENT_AFTER_S else ""
            text = f"{name}: {process.message}{silent}"
            yield paint.dim(shorten(text, LINE_WIDTH))
            lost = _whole(process, "misses_without_blame")
            if lost > 0:
                yield paint.dim(f"  of {lost} misses nobody knows who was in the way")


def _seriousness(item: tuple[str, _Callback]) -> tuple[int, int, str]:
    name, callback = item
    return -callback.latest.level, -_whole(callback.latest, "priority"), name


def _lines(name: str, callback: _Callback, now_s: float, paint: Paint) -> Iterator[str]:
    status = callback.latest
    missed = _whole(status, "missed")
    fresh = "" if callback.missed_before is None else f"{max(missed - callback.missed_before, 0)}"
    cells: Sequence[str] = (
        str(_whole(status, "priority")),
        f"{_real(status, 'deadline_ms'):.9g}",
        str(_whole(status, "released")),
        str(_whole(status, "dropped")),
        str(missed),
        fresh,
        f"{callback.worst_late_ms:.3f}" if callback.worst_late_ms > 0 else "-",
    )
    line = shorten(name, NAME_WIDTH - 1).ljust(NAME_WIDTH) + "".join(
        cell.rjust(width) for cell, (_, width) in zip(cells, COLUMNS, strict=True)
    )
    line += "  " + shorten(callback.in_the_way, 40)
    if now_s - status.received_s > SILENT_AFTER_S:
        yield paint.dim(line.rstrip() + "  (silent)")
        return
    yield (paint.red(line.rstrip()) if status.level >= WARN else line.rstrip())
    if status.level >= ERROR:
        yield paint.red("  " + shorten(status.message, LINE_WIDTH - 2))


def _whole(status: Status, key: str) -> int:
    """The number of a value; 0 where it is none."""
    text = status.values.get(key, "")
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 20 else 0


def _real(status: Status, key: str) -> float:
    """The number of a value; 0 where it is none."""
    try:
        value = float(status.values.get(key, "0"))
    except ValueError:
        return 0.0
    return value if abs(value) < 1e12 else 0.0  # neither infinite nor no number
