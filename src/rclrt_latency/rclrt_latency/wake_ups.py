# SPDX-License-Identifier: Apache-2.0
"""The document of the program rclrt_latency, checked."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rclrt_py.files.json_reader import JsonValue

DOCUMENT = Path("rclrt_latency")
Bins = dict[int, int]
"""Whole microseconds, rounded down, and the number of samples."""


@dataclass(frozen=True)
class Times:
    """Microseconds."""

    n: int
    min: float
    median: float
    mean: float
    p99: float
    max: float

    @classmethod
    def read(cls, value: JsonValue) -> Times | None:
        if value.value is None:
            return None
        figures = (value.get(key).number() for key in ("min", "median", "mean", "p99", "max"))
        return cls(value.get("n").count(), *figures)


@dataclass(frozen=True)
class Stalls:
    """How many there were, and microseconds."""

    count: int
    largest: float
    total: float

    @classmethod
    def read(cls, value: JsonValue) -> Stalls:
        largest, total = (value.get(key).number() for key in ("largest", "total"))
        return cls(value.get("count").count(), largest, total)


@dataclass(frozen=True)
class Thread:
    """One measured thread."""

    cpu: int | None
    overall: Times | None
    undisturbed: Times | None
    disturbed: int
    stalls: Stalls
    undecided: Stalls
    missed: int
    unjudged: int
    floor: float
    histogram: Bins

    @classmethod
    def read(cls, value: JsonValue) -> Thread:
        cpu = value.get("cpu")
        bins = {}
        for item in value.get("histogram").items():
            time, count = item.items()
            bins[time.count()] = count.count()
        return cls(
            cpu=None if cpu.value is None else cpu.count(),
            overall=Times.read(value.get("overall")),
            undisturbed=Times.read(value.get("undisturbed")),
            disturbed=value.get("disturbed").count(),
            stalls=Stalls.read(value.get("stalls")),
            undecided=Stalls.read(value.get("undecided")),
            missed=value.get("missed").count(),
            unjudged=value.get("unjudged").count(),
            floor=value.get("floor").number(),
            histogram=bins,
        )


@dataclass(frozen=True)
class Series:
    """One policy."""

    policy: str
    scheduling: str
    threads: tuple[Thread, ...]

    def bins(self) -> Bins:
        """Those of all threads together."""
        total: Counter[int] = Counter()
        for thread in self.threads:
            total.update(thread.histogram)
        return dict(sorted(total.items()))


@dataclass(frozen=True)
class Broken:
    """The wake-up above the threshold."""

    policy: str
    cpu: int | None
    latency: float
    disturbed: bool
    dump: str | None
    dump_error: str


@dataclass(frozen=True)
class WakeUps:
    """One measurement."""

    kernel: str
    cpu_model: str
    interval_us: float
    stress: bool
    notes: tuple[str, ...]
    method: str
    threshold_us: float
    stalls_valid: bool
    stalls_reason: str
    smis: int | None
    """Interrupts of the firmware; None: they cannot be read."""
    watched: float | None
    """With spin: the watched part of the time, of the CPU with the smallest part."""
    interrupted: bool
    broken: Broken | None
    series: tuple[Series, ...]

    @classmethod
    def parse(cls, text: str) -> WakeUps:
        document = JsonValue(json.loads(text), DOCUMENT, "")
        machine, stalls = document.get("machine"), document.get("stalls")
        watched, smis = stalls.get("watched"), stalls.get("smis")
        return cls(
            kernel=machine.get("kernel").text(),
            cpu_model=machine.get("cpu_model").text(),
            interval_us=document.get("interval_us").number(),
            stress=document.get("stress").boolean(),
            notes=tuple(document.get("notes").texts()),
            method=stalls.get("method").text(),
            threshold_us=stalls.get("threshold_us").number(),
            stalls_valid=stalls.get("valid").boolean(),
            stalls_reason=stalls.get("reason").text(),
            smis=None if smis.value is None else smis.count(),
            watched=None if watched.value is None else watched.number(),
            interrupted=document.get("interrupted").boolean(),
            broken=_broken(document.get("broken")),
            series=tuple(
                Series(
                    each.get("policy").text(),
                    each.get("scheduling").text(),
                    tuple(Thread.read(thread) for thread in each.get("threads").items()),
                )
                for each in document.get("series").items()
            ),
        )

    def title(self) -> str:
        load = ", under load" if self.stress else ""
        return f"Wake-up latency, every {self.interval_us:g} µs{load}"


def _broken(value: JsonValue) -> Broken | None:
    if value.value is None:
        return None
    cpu, dump = value.get("cpu"), value.get("dump")
    return Broken(
        policy=value.get("policy").text(),
        cpu=None if cpu.value is None else cpu.count(),
        latency=value.get("latency").number(),
        disturbed=value.get("disturbed").boolean(),
        dump=None if dump.value is None else dump.text(),
        dump_error=value.get("dump_error").text(),
    )
