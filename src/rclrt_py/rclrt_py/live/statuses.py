# SPDX-License-Identifier: Apache-2.0
"""The statuses that monitors of running robots publish: the latest, and what they add up to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

PREFIX = "rclrt: "
"""Prefix of the name of each status that a robot's monitor publishes."""
SILENT_AFTER_S = 3.0
SILENT_AFTER_PERIODS = 2.5
LONGEST_TEXT = 300
MOST_VALUES = 50
MOST_CAUSES = 20
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
    """Time of reception, on a clock of the caller."""
    process: str = ""
    """The name of the process in the same message; empty: not known."""

    def whole(self, key: str) -> int:
        """Returns a value as a whole number; 0 if it is not one."""
        text = self.values.get(key, "")
        digits = text.removeprefix("-")
        return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 20 else 0

    def real(self, key: str) -> float:
        """Returns a value as a number; 0 if it is not one."""
        try:
            value = float(self.values.get(key, "0"))
        except ValueError:
            return 0.0
        return value if abs(value) < 1e12 else 0.0  # rejects infinity and NaN


@dataclass
class LiveCallback:
    """A callback with a limit: its latest status, and what its statuses add up to. If its counters
    decrease, its process was started again, and all begins anew."""

    latest: Status
    missed_before: int | None = None
    worst_late_ms: float = 0.0
    in_the_way: str = ""
    """The largest cause of the last misses."""
    worst_ms: float = 0.0
    causes_ms: dict[str, float] = field(default_factory=dict)
    """The time of each cause that was the largest one in a message."""
    first_s: float = field(init=False)
    """When the first status was received."""

    def __post_init__(self) -> None:
        self.first_s = self.latest.received_s
        self._note()

    def take(self, status: Status) -> None:
        before, self.latest = self.latest, status
        if any(status.whole(key) < before.whole(key) for key in ("released", "missed")):
            self.missed_before = None
            self.worst_late_ms = self.worst_ms = 0.0
            self.in_the_way = ""
            self.causes_ms = {}
        else:
            self.missed_before = before.whole("missed")
        self._note()

    def _note(self) -> None:
        status = self.latest
        self.worst_late_ms = max(self.worst_late_ms, status.real("worst_late_ms"))
        # An age by another host's clock counts with the least that it may have been.
        self.worst_ms = max(self.worst_ms, status.real("max_ms"), status.real("max_low_ms"))
        cause = status.values.get("most_in_the_way")
        if cause is not None:
            self.in_the_way = cause
            if cause in self.causes_ms or len(self.causes_ms) < MOST_CAUSES:
                self.causes_ms[cause] = self.causes_ms.get(cause, 0.0) + status.real(
                    "in_the_way_ms"
                )


@dataclass
class Statuses:
    """Keeps the latest status of each callback and process. Received data is not trusted."""

    callbacks: dict[tuple[str, str], LiveCallback] = field(default_factory=dict)
    """By name and process: several robots may use one name."""
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
            return
        key = (name, status.process)
        if key in self.callbacks:
            self.callbacks[key].take(status)
            return
        self.callbacks[key] = LiveCallback(status)
        if len(self.callbacks) > self.most:
            del self.callbacks[min(self.callbacks, key=self._callback_heard_s)]

    def present(self) -> list[tuple[str, LiveCallback]]:
        """Returns the callbacks by name. Leaves out those of a process that was started again: a
        process that was first heard after its last message reports the same callback."""
        newest_s: dict[str, float] = {}
        for (name, _), callback in self.callbacks.items():
            newest_s[name] = max(newest_s.get(name, callback.first_s), callback.first_s)
        return [
            (name, callback)
            for (name, _), callback in sorted(self.callbacks.items(), key=lambda item: item[0])
            if callback.latest.received_s >= newest_s[name]
        ]

    def _process_heard_s(self, name: str) -> float:
        return self.processes[name].received_s

    def _callback_heard_s(self, key: tuple[str, str]) -> float:
        return self.callbacks[key].latest.received_s

    @property
    def silent_after_s(self) -> float:
        """Returns the longest time that the robots' periods require."""
        periods_ms = [each.whole("period_ms") for each in self.processes.values()]
        return max(SILENT_AFTER_S, SILENT_AFTER_PERIODS * max(periods_ms, default=0) / 1e3)

    @property
    def missed(self) -> bool:
        """Returns whether any callback has missed a deadline or does not end."""
        return any(
            each.latest.whole("missed") > 0 or each.latest.level >= ERROR
            for each in self.callbacks.values()
        )


def _cut(status: Status) -> Status:
    """Returns the status with its texts cut to a limit."""
    values = {
        key[:LONGEST_TEXT]: value[:LONGEST_TEXT]
        for key, value in list(status.values.items())[:MOST_VALUES]
    }
    return replace(
        status,
        name=status.name[:LONGEST_TEXT],
        message=status.message[:LONGEST_TEXT],
        values=values,
        process=status.process[:LONGEST_TEXT],
    )
