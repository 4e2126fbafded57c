# SPDX-License-Identifier: Apache-2.0
"""A live table of the callbacks with deadlines that running robots report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from rclrt_py.terminal.table import LINE_WIDTH, Columns, Paint
from rclrt_py.text import exact, shorten

PREFIX = "rclrt: "
"""Prefix of the name of each status that a robot's monitor publishes."""
SILENT_AFTER_S = 3.0
SILENT_AFTER_PERIODS = 2.5
LONGEST_TEXT = 300
NAME_WIDTH = 37
COLUMNS = (
    ("priority", 9),
    ("deadline", 10),
    ("p99", 9),
    ("released", 10),
    ("lost", 8),
    ("missed", 8),
    ("+", 6),
    ("worst late", 11),
)
"""Title and width of each column. The deadline, the p99 of the responses in the last period and the
worst lateness are in ms. `+` is the number of misses in that period."""

WIDTHS = Columns(NAME_WIDTH, *(width for _, width in COLUMNS))
OK, WARN, ERROR = 0, 1, 2
"""Levels of a diagnostic_msgs/msg/DiagnosticStatus."""


@dataclass(frozen=True)
class Status:
    """One status of a message, as the monitor of rclrt_robot fills it."""

    name: str
    level: int
    message: str
    values: dict[str, str]
    received_s: float
    """Time of reception, on the clock of the table's caller."""


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
    """Keeps the latest status of each callback and process. Received data is not trusted."""

    callbacks: dict[str, _Callback] = field(default_factory=dict)
    processes: dict[str, Status] = field(default_factory=dict)
    most: int = 1000
    """Limit on the callbacks that are kept, because any node can publish. The longest silent one is
    removed first."""

    def take(self, status: Status) -> None:
        """Stores a status. Statuses of other publishers are ignored."""
        if not status.name.startswith(PREFIX):
            return
        status = _cut(status)
        name = status.name.removeprefix(PREFIX)
        if "deadline_ms" not in status.values:
            self.processes[name] = status
            if len(self.processes) > self.most:
                del self.processes[min(self.processes, key=self._process_heard_s)]
        elif name in self.callbacks:
            self.callbacks[name].take(status)
        else:
            self.callbacks[name] = _Callback(status)
            self.callbacks[name].note()
            if len(self.callbacks) > self.most:
                del self.callbacks[min(self.callbacks, key=self._callback_heard_s)]

    def _process_heard_s(self, name: str) -> float:
        return self.processes[name].received_s

    def _callback_heard_s(self, name: str) -> float:
        return self.callbacks[name].latest.received_s

    @property
    def silent_after_s(self) -> float:
        """Returns the longest time that the robots' periods require."""
        periods_ms = [_whole(each, "period_ms") for each in self.processes.values()]
        return max(SILENT_AFTER_S, SILENT_AFTER_PERIODS * max(periods_ms, default=0) / 1e3)

    @property
    def missed(self) -> bool:
        """Returns whether any callback has missed a deadline or does not end."""
        return any(
            _whole(each.latest, "missed") > 0 or each.latest.level >= ERROR
            for each in self.callbacks.values()
        )

    def lines(self, now_s: float, paint: Paint) -> Iterator[str]:
        """Yields the table, the most serious first, then the most urgent."""
        titles = (title for title, _ in COLUMNS)
        yield paint.dim(WIDTHS.line("callback", *titles, "  most in the way"))
        for name, callback in sorted(self.callbacks.items(), key=_seriousness):
            yield from _lines(name, callback, now_s - self.silent_after_s, paint)
        if not self.callbacks:
            yield "  none yet: a callback is listed if it states deadline_ms or max_age_ms"
        for name, process in sorted(self.processes.items()):
            silent = ", silent" if process.received_s < now_s - self.silent_after_s else ""
            cpu = f", {_real(process, 'cpu_percent'):.1f} % of a CPU" * (
                "cpu_percent" in process.values
            )
            text = shorten(f"{name}: {process.message}{cpu}{silent}", LINE_WIDTH)
            is_serious = process.level >= WARN and not silent
            yield paint.red(text) if is_serious else paint.dim(text)
            lost = _whole(process, "misses_without_blame")
            if lost > 0:
                yield paint.dim(f"  the cause of {lost} misses is unknown")


def _cut(status: Status) -> Status:
    """Returns the status with its texts cut to a limit."""
    values = {
        key[:LONGEST_TEXT]: value[:LONGEST_TEXT] for key, value in list(status.values.items())[:50]
    }
    return replace(
        status,
        name=status.name[:LONGEST_TEXT],
        message=status.message[:LONGEST_TEXT],
        values=values,
    )


def _seriousness(item: tuple[str, _Callback]) -> tuple[int, int, str]:
    name, callback = item
    return -callback.latest.level, -_whole(callback.latest, "priority"), name


def _lines(name: str, callback: _Callback, silent_before_s: float, paint: Paint) -> Iterator[str]:
    status = callback.latest
    missed = _whole(status, "missed")
    fresh = "" if callback.missed_before is None else f"{max(missed - callback.missed_before, 0)}"
    cells: Sequence[str] = (
        str(_whole(status, "priority")),
        exact(_real(status, "deadline_ms")),
        f"{_real(status, 'p99_ms'):.3f}" if "p99_ms" in status.values else "-",
        str(_whole(status, "released")),
        str(_whole(status, "dropped")),
        str(missed),
        fresh,
        f"{callback.worst_late_ms:.3f}" if callback.worst_late_ms > 0 else "-",
    )
    in_the_way = f"  {shorten(callback.in_the_way, 40)}"
    line = WIDTHS.line(shorten(name, NAME_WIDTH - 1), *cells, in_the_way)
    if status.received_s < silent_before_s:
        yield paint.dim(line + "  (silent)")
        return
    yield (paint.red(line) if status.level >= WARN else line)
    if status.level >= ERROR:
        yield paint.red("  " + shorten(status.message, LINE_WIDTH - 2))


def _whole(status: Status, key: str) -> int:
    """Returns a value as a whole number; 0 if it is not one."""
    text = status.values.get(key, "")
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 20 else 0


def _real(status: Status, key: str) -> float:
    """Returns a value as a number; 0 if it is not one."""
    try:
        value = float(status.values.get(key, "0"))
    except ValueError:
        return 0.0
    return value if abs(value) < 1e12 else 0.0  # rejects infinity and NaN
