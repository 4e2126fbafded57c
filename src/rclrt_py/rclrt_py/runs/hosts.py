# SPDX-License-Identifier: Apache-2.0
"""The hosts of a run over several hosts: how exactly their times are known on one time axis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rclrt_py.files.json_reader import JsonValue
from rclrt_py.runs.figures import error_of, time_of


@dataclass(frozen=True)
class HostResult:
    """A host. Its times are wrong by at most `most_error_ms`, in either direction."""

    name: str
    boot: str | None
    compared_with: str | None
    """Its clock was compared with that of this host. None: its times are the common ones."""
    received: int
    """Messages of the other host, by which the clocks were compared."""
    sent: int
    samples: int
    """Intervals that rclrt clock measured."""
    least_error_ms: float
    most_error_ms: float
    first_offset_ms: tuple[float, float] | None
    """Its time of day less that of the other host at the begin: at least, at most."""
    last_offset_ms: tuple[float, float] | None
    callbacks: tuple[str, ...]
    machine: str | None = None
    """The name of the machine. None: it did not take part by an agent."""
    steps: int = 0
    """How often its pings contradicted each other."""
    lost: str | None = None
    """Why it was lost during the run. None: it was not."""
    traced_ms: tuple[float, float] | None = None
    """From when to when it was traced. Chains with a callback on it are judged only for that."""

    @property
    def text(self) -> str:
        """Returns what is known of its clock, for a reader."""
        if self.compared_with is None:
            return "its times are the common time axis"
        if self.steps:
            return (
                f"its clock contradicted itself {self.steps} times, so its times are worth "
                "nothing: a suspended machine, or a clock that drifts by more than 50 millionths"
            )
        text = (
            f"times within ±{self.least_error_ms:.3f} to ±{self.most_error_ms:.3f} ms, by "
            f"{self.received} messages from {self.compared_with} and {self.sent} to it"
        )
        if self.samples:
            text += f", and {self.samples} intervals of rclrt clock"
        if self.first_offset_ms and self.last_offset_ms:
            text += (
                f"; time of day ahead by {_interval(self.first_offset_ms)} at the begin, by "
                f"{_interval(self.last_offset_ms)} at the end"
            )
        return text + (f"; lost: {self.lost}" if self.lost else "")

    @classmethod
    def read(cls, json: JsonValue) -> HostResult:
        return cls(
            name=json.get("name").text(),
            boot=_text_or_none(json.get("boot")),
            compared_with=_text_or_none(json.get("compared_with")),
            received=json.get("received").count(),
            sent=json.get("sent").count(),
            samples=json.get("samples").count(),
            least_error_ms=time_of(json.get("least_error_ms")),
            most_error_ms=time_of(json.get("most_error_ms")),
            first_offset_ms=_offset(json.get("first_offset_ms")),
            last_offset_ms=_offset(json.get("last_offset_ms")),
            callbacks=tuple(json.get("callbacks").texts()),
            machine=json.get("machine").text() if json.has("machine") else None,
            steps=json.get("steps").count() if json.has("steps") else 0,
            lost=_text_or_none(json.get("lost")) if json.has("lost") else None,
            traced_ms=_offset(json.get("traced_ms")) if json.has("traced_ms") else None,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "boot": self.boot,
            "compared_with": self.compared_with,
            "received": self.received,
            "sent": self.sent,
            "samples": self.samples,
            "least_error_ms": self.least_error_ms,
            "most_error_ms": self.most_error_ms,
            "first_offset_ms": list(self.first_offset_ms) if self.first_offset_ms else None,
            "last_offset_ms": list(self.last_offset_ms) if self.last_offset_ms else None,
            "callbacks": list(self.callbacks),
            **(
                {"machine": self.machine, "steps": self.steps, "lost": self.lost}
                if self.machine is not None
                else {}
            ),
            **({"traced_ms": list(self.traced_ms)} if self.traced_ms else {}),
        }


@dataclass(frozen=True)
class OverHosts:
    """The uncertainty of a chain's results because of the hosts' clocks."""

    unknown: int
    """Completed instances of which it is not known whether they met the deadline."""
    error_ms: float
    """The responses are wrong by at most this, in either direction."""

    @property
    def text(self) -> str:
        text = f"response times ±{self.error_ms:.3f} ms (clocks of the hosts)"
        return text + (f"; {self.unknown} deadlines met or missed: unknown" if self.unknown else "")

    @classmethod
    def read(cls, json: JsonValue) -> OverHosts | None:
        """Returns None for a run on one host."""
        if not json.has("error_ms"):
            return None
        return cls(json.get("unknown").count(), error_of(json))

    def to_json(self) -> dict[str, Any]:
        return {"unknown": self.unknown, "error_ms": self.error_ms}


def read_hosts(json: JsonValue) -> tuple[HostResult, ...]:
    """Returns the hosts. Empty: the run was on one."""
    return tuple(map(HostResult.read, json.get("hosts").items())) if json.has("hosts") else ()


def host_lines(hosts: tuple[HostResult, ...]) -> Iterator[tuple[str, str]]:
    """Yields the name of each host, and what is known of its clock."""
    for host in hosts:
        yield f"Clock of {host.name}", host.text


def _interval(offset: tuple[float, float]) -> str:
    return f"{offset[0]:+.3f} to {offset[1]:+.3f} ms"


def _text_or_none(json: JsonValue) -> str | None:
    return None if json.value is None else json.text()


def _offset(json: JsonValue) -> tuple[float, float] | None:
    if json.value is None:
        return None
    numbers = [item.number() for item in json.items()]
    if len(numbers) != 2:
        json.fail("two numbers")
    return numbers[0], numbers[1]
