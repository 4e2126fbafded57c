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
"""Statistics that a bound can use. `max` includes the time during which the host stalled."""
HOPS = ("intra_process", "same_host")
"""Kinds of hops between executors: within one process, or between two processes."""
MOST_US = 1e9
"""The longest time of a file, as in the schema."""
ASCENDING = ("min", "p50", "p99", "max")


def hops_of(application: Application) -> str:
    """Returns the slowest of HOPS that a message between executors of the application may take."""
    return HOPS[len({executor.process for executor in application.executors}) > 1]


def largest_message(application: Application) -> int:
    """Returns the size of the largest message in bytes. A topic without a stated size counts as
    0."""
    return max((topic.size_bytes or 0 for topic in application.topics), default=0)


def _also_of(kind: ExecutorKind) -> tuple[str, ...]:
    """Returns the keys of the overheads that are measured only for this kind of executor."""
    if kind.polls:
        return ("polling_us",)
    return ("scheduler_us",) if kind.has_scheduler_thread else ()


@dataclass(frozen=True)
class Assumption:
    """A condition of a bound, and the part of the file that it is about."""

    about: str
    """A key of the file, such as dispatch_us; "" if it is about the whole file."""
    text: str


@dataclass(frozen=True)
class Overheads:
    """Overheads of one executor, in nanoseconds. A value that the file does not state is zero."""

    dispatch_ns: int = 0
    timer_lateness_ns: int = 0
    scheduler_ns: int = 0
    polling_ns: int = 0
    hop_ns: int = 0
    least_hop_ns: int = 0
    background_ns: int = 0
    """Background work in each millisecond."""
    stall_ns: int = 0
    """The time that a CPU stood still; it happens once."""
    rt_share: float = 1.0
    """Share of a CPU's time. The kernel holds back real-time threads that need more."""
    assumptions: tuple[Assumption, ...] = ()
    """Assumptions of every bound made with these: an observed maximum is never called a worst
    case."""
    condition: str = ""
    """Condition of a verdict, for example if it is made with less than the maximum. Empty: none."""

    def native(self) -> NativeOverheads:
        """Returns the overheads as the analysis takes them."""
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
        """Returns the overheads with the other facts that a verdict depends on."""
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
    """A file of overheads. Values are checked when they are read."""

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
        """Returns the overheads of `executor`, or only the shared ones if it is not in the file.

        Bounds are conditional if the executor is not in the file. They are conditional, too, if
        messages of up to `message_bytes` are larger than those that were measured. `between` is the
        slowest hop that a message between executors takes; some messages may stay within one
        process.
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
            hops.get(between)  # throws if it is missing
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
        """Returns a condition if messages as large as this were not measured; otherwise empty."""
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
        """Yields what the file does not state: the key, and the executor or hop that lacks it."""
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
        """Reads a time: a number of microseconds, or an object with statistics of one."""
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
