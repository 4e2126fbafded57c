# SPDX-License-Identifier: Apache-2.0
"""The offsets that were measured, by host, with their course over time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rclrt_py.clocks.interval import Interval
from rclrt_py.clocks.sources import ClockSource
from rclrt_py.errors import RunFailed

VERSION = 1
MOST_SAMPLES = 400_000
"""Limit on the samples of all peers together."""
MOST_PEERS = 200
MOST_EVENTS = 10_000


@dataclass(frozen=True, slots=True)
class Sample:
    """The interval of an offset at a time of this host, and the age of its bounds."""

    monotonic_ns: int
    realtime_ns: int
    low_ns: int
    high_ns: int
    age_ns: int
    steps: int
    """How often a clock had been set until then."""


@dataclass
class Peer:
    """A host, as of the latest line about it."""

    host: str
    boot: str
    latest: dict[str, Any] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)
    step: int = 1
    """Only each line of this number is kept as a sample, so that memory is bounded."""
    lines: int = 0

    @property
    def interval(self) -> Interval | None:
        low_ns, high_ns = self.latest.get("low_ns"), self.latest.get("high_ns")
        return None if low_ns is None or high_ns is None else Interval(low_ns, high_ns)

    def take(self, line: dict[str, Any], most_samples: int = MOST_SAMPLES) -> None:
        self.latest = line
        self.lines += 1
        if line["low_ns"] is None or line["age_ns"] is None or self.lines % self.step:
            return
        keys = ("monotonic_ns", "realtime_ns", "low_ns", "high_ns", "age_ns", "steps")
        self.samples.append(Sample(*(line[key] for key in keys)))
        if len(self.samples) > most_samples:
            self.samples = self.samples[::2]
            self.step *= 2

    def to_json(self) -> dict[str, Any]:
        left_out = ("peer", "boot", "realtime_ns", "monotonic_ns")
        state = {key: value for key, value in self.latest.items() if key not in left_out}
        samples = [
            [
                each.monotonic_ns,
                each.realtime_ns,
                each.low_ns,
                each.high_ns,
                each.age_ns,
                each.steps,
            ]
            for each in self.samples
        ]
        return {"host": self.host, "boot": self.boot, **state, "samples": samples}


@dataclass
class Offsets:
    """All lines of the program so far."""

    start: dict[str, Any] = field(default_factory=dict)
    peers: dict[tuple[str, str], Peer] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)

    def take(self, text: str) -> dict[str, Any]:
        """Stores a line and returns it. Throws RunFailed if it is not one of the program."""
        try:
            line: dict[str, Any] = json.loads(text)
            if "rclrt_clock" in line:
                if line["rclrt_clock"] != VERSION:
                    raise RunFailed(
                        f"the program writes version {line['rclrt_clock']}; expected {VERSION}: "
                        "build rclrt_clock again"
                    )
                self.start = line
            elif "event" in line:
                self.events.append(line)
                del self.events[:-MOST_EVENTS]
                if line["event"] == "forgotten":
                    self._forget(line["host"])
            elif "report" not in line:
                key = (line["peer"], line["boot"])
                if key not in self.peers and len(self.peers) >= MOST_PEERS:
                    del self.peers[min(self.peers, key=self._heard_ns)]
                most = MOST_SAMPLES // max(len(self.peers), 1)
                self.peers.setdefault(key, Peer(*key)).take(line, max(most, 2))
        except (ValueError, KeyError, TypeError) as error:
            raise RunFailed(f"the program wrote a line that is none of its own: {text}") from error
        return line

    def _heard_ns(self, key: tuple[str, str]) -> int:
        heard_ns: int = self.peers[key].latest["monotonic_ns"]
        return heard_ns

    def _forget(self, host: str) -> None:
        """Makes the offset of a host unknown that the program does not follow any more."""
        for peer in self.peers.values():
            if peer.host == host and peer.latest.get("silent"):
                nothing = ("low_ns", "high_ns", "age_ns", "drift_low_ppm", "drift_high_ppm")
                peer.latest = {**peer.latest, **dict.fromkeys(nothing)}

    @property
    def are_known(self) -> bool:
        """Returns whether the offset of any peer has been known."""
        return any(peer.samples or peer.interval for peer in self.peers.values())

    def document(
        self, sources: Sequence[ClockSource], failure: str | None = None
    ) -> dict[str, Any]:
        """Returns the content of the file that `--out` names: schemas/clock.schema.json."""
        return {
            **self.start,
            "sources": [each.to_json() for each in sources],
            "peers": [self.peers[key].to_json() for key in sorted(self.peers)],
            "events": self.events,
            "failure": failure,
        }
