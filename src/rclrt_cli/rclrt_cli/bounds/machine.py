# SPDX-License-Identifier: Apache-2.0
"""The machine's overheads as `rclrt calibrate` writes them (schemas/overheads.schema.json)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from rclrt_py.executors import ExecutorKind, kind_name, kind_of
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.native import analysis

if TYPE_CHECKING:
    from rclrt_analysis import Machine
    from rclrt_analysis import Overheads as NativeOverheads
    from rclrt_model import Application

STATISTICS = ("max", "max_undisturbed", "p99", "p50")
"""What of a measured time may be taken: `max` counts what happened while the host stalled, too."""
HOPS = ("intra_process", "same_host")
"""What a message between executors may take: within one process, or between two."""
MOST_US = 1e9
"""The longest time of a file, as in the schema."""
ASCENDING = ("min", "p50", "p99", "max")


def hops_of(application: Application) -> str:
    """Which of HOPS messages between the executors of an application may take, at most."""
    return HOPS[len({executor.process for executor in application.executors}) > 1]


def largest_message(application: Application) -> int:
    """In bytes; of a topic that states no size, 0."""
    return max((topic.size_bytes or 0 for topic in application.topics), default=0)


def _also_of(kind: ExecutorKind) -> tuple[str, ...]:
    """What else is measured of an executor."""
    if kind.polls:
        return ("polling_us",)
    return ("scheduler_us",) if kind.has_scheduler_thread else ()


@dataclass(frozen=True)
class Assumption:
    """What must hold for a bound, and what of the file it is about."""

    about: str
    """A key of the file, such as dispatch_us; "" for what is about all of it."""
    text: str


@dataclass(frozen=True)
class Overheads:
    """Of one executor, in nanoseconds. What the file does not state is zero."""

    dispatch_ns: int = 0
    timer_lateness_ns: int = 0
    scheduler_ns: int = 0
    polling_ns: int = 0
    hop_ns: int = 0
    least_hop_ns: int = 0
    background_ns: int = 0
    """Of each millisecond."""
    stall_ns: int = 0
    """Once: how long a CPU stood still."""
    rt_share: float = 1.0
    """Of the time of a CPU: the kernel holds real-time threads back that need more."""
    assumptions: tuple[Assumption, ...] = ()
    """Of every bound made with them: an observed maximum is never called a worst case."""
    condition: str = ""
    """What a verdict made with less than the maximum is conditional on."""

    def native(self) -> NativeOverheads:
        """As the analysis takes it."""
        overheads: NativeOverheads = analysis().Overheads(
            dispatch_ns=self.dispatch_ns,
            timer_jitter_ns=self.timer_lateness_ns,
            scheduler_ns=self.scheduler_ns,
            polling_ns=self.polling_ns,
            background_ns=self.background_ns,
            stall_ns=self.stall_ns,
            far_hop_ns=(min(self.least_hop_ns, self.hop_ns), self.hop_ns),
        )
        return overheads

    def machine(self) -> Machine:
        """With what a verdict depends on besides."""
        machine: Machine = analysis().Machine(
            overheads=self.native(),
            realtime_share=self.rt_share,
            assumptions=[each.text for each in self.assumptions],
            conditions=[self.condition] if self.condition else [],
        )
        return machine

    def to_json(self) -> dict[str, float]:
        return {
            "dispatch_us": self.dispatch_ns / 1e3,
            "timer_lateness_us": self.timer_lateness_ns / 1e3,
            "scheduler_us": self.scheduler_ns / 1e3,
            "polling_us": self.polling_ns / 1e3,
            "hop_us": self.hop_ns / 1e3,
            "background_us": self.background_ns / 1e3,
        }


class OverheadsFile:
    """A file of overheads, checked where it is read."""

    def __init__(self, path: Path, statistic: str = "max") -> None:
        self.path = path
        self.statistic = statistic
        self._json = JsonValue.load(path)
        if self._json.get("rclrt").integer() != 1:
            self._json.get("rclrt").fail("format version 1")
        if self._json.get("kind").text() != "overheads":
            self._json.get("kind").fail("'overheads', as rclrt calibrate writes")
        self.executors = tuple(self._json.get("executors").object())

    def of(self, executor: str, between: str = HOPS[0], message_bytes: int = 0) -> Overheads:
        """What is stated of `executor`; only what all executors share when it is not there.

        Bounds are then conditional; so are they with messages that are larger, up to
        `message_bytes`, than those that were measured. `between` is the hop that a message between
        executors takes at most; some may be within one process all the same.
        """
        executors = self._json.get("executors")
        executor = kind_name(executor)  # measured with the kind's defaults
        own = executors.get(executor) if executors.has(executor) else JsonValue({}, self.path)
        no_hops = JsonValue({}, self.path, "hop_us")
        hops = self._json.get("hop_us") if self._json.has("hop_us") else no_hops
        assumptions = [
            Assumption(name, f"{name}{owner}, not in {self.path}, is zero")
            for name, owner in self._missing(own, hops, executor, between)
        ]
        condition = ""
        if self.statistic == "max":
            text = f"no overhead exceeds the measured maximum ({self.path})"
            assumptions.append(Assumption("", text))
        elif self.statistic == "max_undisturbed":
            text = (
                f"the host does not stall, and no overhead exceeds the maximum that was measured "
                f"while it did not ({self.path})"
            )
            assumptions.append(Assumption("", text))
        else:
            condition = f"no overhead exceeds the {self.statistic} of those measured ({self.path})"
        if executor not in self.executors:
            condition = f"{executor}, of which {self.path} says nothing, takes no time to dispatch"
        condition = self._condition_of_size(message_bytes) or condition
        if between != HOPS[0]:
            hops.get(between)  # must be there
            text = "executors are processes of this host"
            assumptions.append(Assumption("", text))
        least_hop_ns = min(
            self._time(hops, each, "min") for each in HOPS[: HOPS.index(between) + 1]
        )
        if least_hop_ns > 0:
            text = f"no message is faster than the fastest measured ({self.path})"
            assumptions.append(Assumption("", text))
        return Overheads(
            rt_share=self._rt_share(),
            assumptions=tuple(assumptions),
            condition=condition,
            dispatch_ns=self._time(own, "dispatch_us"),
            timer_lateness_ns=self._time(own, "timer_lateness_us"),
            scheduler_ns=self._time(own, "scheduler_us"),
            polling_ns=self._time(own, "polling_us"),
            hop_ns=self._time(hops, between),
            least_hop_ns=least_hop_ns,
            background_ns=self._time(self._json, "background_us"),
        )

    def _condition_of_size(self, message_bytes: int) -> str:
        """Where larger messages than this were not measured; else empty."""
        if not self._json.has("machine") or not self._json.get("machine").has("message_bytes"):
            return ""
        measured = self._json.get("machine").get("message_bytes").integer()
        if message_bytes <= measured:
            return ""
        return (
            f"a message of {message_bytes} bytes takes no longer than one of {measured}, with "
            f"which {self.path} was measured (rclrt calibrate --message-bytes)"
        )

    def _missing(
        self, own: JsonValue, hops: JsonValue, executor: str, between: str
    ) -> Iterator[tuple[str, str]]:
        """What the file does not state: its key, and of which of several."""
        for name in ("dispatch_us", "timer_lateness_us", *_also_of(kind_of(executor))):
            if not own.has(name):
                yield name, f" of {executor}"
        if not hops.has(between):
            yield "hop_us", f".{between}"
        if not self._json.has("background_us"):
            yield "background_us", ""

    def _check_order(self, stated: JsonValue) -> None:
        for names in (ASCENDING, ("min", "max_undisturbed", "max")):
            given = [name for name in names if stated.has(name)]
            for lower, higher in pairwise(given):
                if stated.get(lower).number() > stated.get(higher).number():
                    stated.get(higher).fail(f"no less than {lower}")

    def _rt_share(self) -> float:
        if not self._json.has("rt_bandwidth"):
            return 1.0
        share = self._json.get("rt_bandwidth").get("share")
        if not 0 <= share.number() <= 1:
            share.fail("a share from 0 to 1")
        return share.number()

    def _time(self, json: JsonValue, key: str, statistic: str | None = None) -> int:
        """A time is a number of microseconds, or statistics of one."""
        if not json.has(key):
            return 0
        stated = json.get(key)
        if isinstance(stated.value, dict):
            self._check_order(stated)
            wanted = statistic or self.statistic
            if wanted == "min" and not stated.has("min"):
                return 0
            stated = stated.get(wanted if stated.has(wanted) else "max")
        microseconds = stated.number()
        if not 0 <= microseconds <= MOST_US:
            stated.fail(f"microseconds from 0 to {MOST_US:g}")
        return round(microseconds * 1e3)
