# SPDX-License-Identifier: Apache-2.0
"""A robot on two hosts, with its traces and a file of rclrt clock."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from host_traces import DAY_OF_TEST_NS, MS, SECOND, HostClock, HostTrace, Robot
from joined_results import LEFT_BOOT, RIGHT_BOOT
from traced_runs import rclrt

PERIOD_NS = 10 * MS
US = 1000
WRONG = HostClock(offset_ns=12_345 * SECOND, drift_ppm=37.0, since_ns=SECOND, wrong_by_ns=40 * MS)
"""A machine that booted at another time. Its time of day is 40 ms ahead."""


@dataclass
class Pair:
    """The robot: a timer of each host publishes what a callback of the other one takes."""

    there: bool = True
    back: bool = True
    count: int = 300
    seed: int = 1
    delay_ns: int = 200 * US
    clock: HostClock = WRONG
    responses: dict[str, list[int]] = field(default_factory=lambda: {"seen": [], "cmd": []})
    """True times from the release of a timer to the end of the other host's callback."""

    def __post_init__(self) -> None:
        self._draw = random.Random(self.seed)
        self.left = HostTrace("left", LEFT_BOOT)
        self.right = HostTrace("right", RIGHT_BOOT, self.clock)
        robots = Robot(self.left), Robot(self.right)
        for robot, name in zip(robots, ("left", "right"), strict=True):
            robot.node(1, f"{name}_node")
        self._last: dict[str, int] = {}
        self._flow(robots[0], robots[1], "seen", 10, self.there)
        self._flow(robots[1], robots[0], "cmd", 20, self.back)

    def _flow(self, sender: Robot, receiver: Robot, topic: str, number: int, crosses: bool) -> None:
        """Adds a timer and its subscriber. The timer's grid is regular on the sender's clock."""
        sender.publisher(number, 1, f"/{topic}")
        sender.timer(number + 1, 1, PERIOD_NS, number + 1)
        receiver.subscription(number + 2, 1, f"/{topic}", number + 2)
        clock = sender.trace.clock
        for i in range(1, self.count + 1):
            release = clock.true(clock.monotonic(SECOND) + i * PERIOD_NS)
            start = release + self._draw.randint(1, 50) * US
            sent = start + 100 * US
            stamp = DAY_OF_TEST_NS + sent + sender.trace.clock.wrong_by_ns
            sender.thread = 1
            sender.run(number + 1, start, sent, number, stamp)
            if not crosses:
                continue
            taken = sent + self.delay_ns + round(self._draw.expovariate(1 / (300 * US)))
            taken = max(taken, self._last.get(topic, 0) + 200 * US)
            self._last[topic] = taken
            receiver.thread = 2
            receiver.take(number + 2, taken, stamp)
            receiver.run(number + 2, taken + 20 * US, taken + 120 * US)
            self.responses[topic].append(taken + 120 * US - release)

    def save(self, directory: Path) -> list[Path]:
        return [self.left.save(directory / "left"), self.right.save(directory / "right")]


def refusal(tmp_path: Path, traces: list[Path], *options: str | Path) -> str:
    """Returns why the traces are refused."""
    done = rclrt("trace", "import", *traces, "--out", tmp_path / "refused", *options)
    assert done.returncode == 2, done.stdout + done.stderr
    assert not (tmp_path / "refused").exists()
    return done.stderr


def clock_file(path: Path, clock: HostClock, on: str = "left", **changes: Any) -> Path:
    """Writes the file of rclrt clock, which ran on a host and is right to 100 us."""
    boots = {"left": number_of(LEFT_BOOT), "right": number_of(RIGHT_BOOT)}
    peer = "right" if on == "left" else "left"
    samples = []
    for i in range(10):
        true_ns = SECOND + i * 300 * MS
        left, right = (
            (each.monotonic(true_ns), each.monotonic(true_ns) + each.of_day_ns)
            for each in (HostClock(), clock)
        )
        own, other = (left, right) if on == "left" else (right, left)
        offset = other[1] - own[1]
        samples.append([own[0], own[1], offset - 100 * US, offset + 100 * US, 5 * MS, 0])
    state = {
        "low_ns": None, "high_ns": None, "age_ns": None, "drift_low_ppm": None,
        "drift_high_ppm": None, "received": 9, "lost": 0, "steps": 0, "silent": False,
    }  # fmt: skip
    document: dict[str, Any] = {
        "rclrt_clock": 1, "host": on, "boot": boots[on], "session": "0" * 16, "drift_ppm": 50.0,
        "period_ms": 200.0, "topic": "/rclrt/clock", "test_clock": False, "sources": [],
        "peers": [{"host": peer, "boot": boots[peer], **state, "samples": samples}],
        "events": [], "failure": None,
    }  # fmt: skip
    document |= {key: value for key, value in changes.items() if key in document}
    document["peers"][0] |= {key: value for key, value in changes.items() if key in state}
    path.write_text(json.dumps(document))
    return path


def number_of(boot_id: str) -> str:
    """Returns the number of a boot in the files of rclrt clock (FNV-1a)."""
    value = 0xCBF29CE484222325
    for byte in boot_id.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"
