# SPDX-License-Identifier: Apache-2.0
"""The measurements of the program of an exercise: its JSON file, and the pool of several rounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rclrt_py.files.json_reader import JsonValue
from rclrt_py.stats import nearest_rank

NS_PER_US = 1000.0


@dataclass(frozen=True)
class Statistics:
    """Statistics of the durations of a slice, in microseconds. A percentile is a measured value."""

    n: int
    min_us: float
    mean_us: float
    p99_us: float
    max_us: float

    @classmethod
    def of(cls, values_ns: Iterable[int]) -> Statistics | None:
        """None if there are no values."""
        ordered = sorted(values_ns)
        if not ordered:
            return None
        return cls(
            n=len(ordered),
            min_us=ordered[0] / NS_PER_US,
            mean_us=sum(ordered) / len(ordered) / NS_PER_US,
            p99_us=nearest_rank(ordered, 99) / NS_PER_US,
            max_us=ordered[-1] / NS_PER_US,
        )

    @property
    def spread_us(self) -> float:
        return self.max_us - self.min_us


@dataclass(frozen=True)
class State:
    """The pendulum at one time."""

    time_s: float
    position: float
    desired: float


@dataclass(frozen=True)
class Measured:
    """One round of one variant, or several pooled."""

    variant: str
    seconds: float
    real_time: bool
    reason: str
    slices: dict[str, list[int]]
    """The durations in nanoseconds, in the order of their time, by the slice's name."""
    notes: dict[str, int] = field(default_factory=dict)
    pendulum: Sequence[State] = ()

    @classmethod
    def load(cls, path: Path) -> Measured:
        """Throws BadInput if the file is not as the programs write it."""
        file = JsonValue.load(path)
        slices: dict[str, list[int]] = {}
        for each in file.get("slices").items():
            values = [value.count() for value in each.get("values_ns").items()]
            slices.setdefault(each.get("name").text(), []).extend(values)
        notes = file.get("notes").object() if file.has("notes") else {}
        states = list(file.get("pendulum").items()) if file.has("pendulum") else []
        return cls(
            variant=file.get("variant").text(),
            seconds=float(file.get("seconds").number()),
            real_time=file.get("real_time").boolean(),
            reason=file.get("reason").text() if file.has("reason") else "",
            slices=slices,
            notes={name: file.get("notes").get(name).integer() for name in notes},
            pendulum=[_state(state) for state in states],
        )

    def statistics(self, slice_name: str) -> Statistics | None:
        return Statistics.of(self.slices.get(slice_name, ()))


def pooled(rounds: Sequence[Measured]) -> Measured:
    """All values of the rounds of one variant, as if of one; the pendulum is the first round's."""
    slices: dict[str, list[int]] = {}
    notes: dict[str, int] = {}
    for each in rounds:
        for name, values in each.slices.items():
            slices.setdefault(name, []).extend(values)
        for name, count in each.notes.items():
            notes[name] = notes.get(name, 0) + count
    return Measured(
        variant=rounds[0].variant,
        seconds=sum(each.seconds for each in rounds),
        real_time=all(each.real_time for each in rounds),
        reason=next((each.reason for each in rounds if each.reason), ""),
        slices=slices,
        notes=notes,
        pendulum=rounds[0].pendulum,
    )


def _state(value: JsonValue) -> State:
    numbers = [float(item.number()) for item in value.items()]
    if len(numbers) != 3:
        value.fail("a time, a position and a desired position")
    return State(*numbers)
