# SPDX-License-Identifier: Apache-2.0
"""Two hosts with clocks of their own: network namespaces, and processes of ROS 2 in each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.testing.command import python_path
from rclrt_py.testing.namespaces import HOSTS, NotPermittedHere, TwoHosts
from rclrt_py.testing.waiting import GENEROUS_S

LEFT, RIGHT = HOSTS
SMALLEST_READING_NS = 10_000
"""The program and this test read the clock apart from each other."""


@pytest.fixture(scope="module")
def hosts() -> Iterator[TwoHosts]:
    with ExitStack() as stack:
        try:
            made = stack.enter_context(TwoHosts())
        except NotPermittedHere as reason:
            pytest.skip(f"network namespaces are not permitted here: {reason}")
        yield made


@dataclass(frozen=True)
class WrongClock:
    """The clock of a host, as RCLRT_TEST_CLOCK describes it."""

    offset_ms: float
    drift_ppm: float
    drift_from_s: float
    steps: tuple[tuple[float, float], ...]
    """Pairs of ms and s of CLOCK_MONOTONIC."""

    @property
    def text(self) -> str:
        steps = [f"step_ms={by_ms}@{at_s:.9f}" for by_ms, at_s in self.steps]
        drift = f"drift_ppm={self.drift_ppm}@{self.drift_from_s:.9f}"
        return " ".join([f"offset_ms={self.offset_ms}", drift, *steps])

    def drifted_ns(self, monotonic_ns: float) -> float:
        return (monotonic_ns - self.drift_from_s * 1e9) * self.drift_ppm / 1e6

    def wrong_by_ns(self, monotonic_ns: float) -> float:
        stepped_ms = sum(by_ms for by_ms, at_s in self.steps if monotonic_ns >= at_s * 1e9)
        return (self.offset_ms + stepped_ms) * 1e6 + self.drifted_ns(monotonic_ns)

    def was_set_between(self, begin_ns: float, end_ns: float) -> bool:
        """Returns whether the clock was set then, or so close that readings may differ."""
        return any(
            begin_ns - SMALLEST_READING_NS <= at_s * 1e9 <= end_ns + SMALLEST_READING_NS
            for _, at_s in self.steps
        )


def environment(clock: WrongClock | None = None) -> dict[str, str]:
    own = os.environ | {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}
    return own if clock is None else own | {"RCLRT_TEST_CLOCK": clock.text}


def program_on(
    hosts: TwoHosts, host: str, program: Path, clock: WrongClock | None = None
) -> subprocess.Popen[str]:
    """Starts the program on a host. It writes an interval with every second ping."""
    options = ["--period", "20", "--report", "40"]
    return subprocess.Popen(
        hosts.command(host, [str(program), *options]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(clock),
    )


def lines_until(process: subprocess.Popen[str], end_s: float) -> list[dict[str, Any]]:
    """Returns the lines up to the first one after a time of CLOCK_MONOTONIC."""
    assert process.stdout is not None
    result: list[dict[str, Any]] = []
    while not result or result[-1].get("monotonic_ns", 0) < end_s * 1e9:
        result.append(json.loads(process.stdout.readline()))
    return result


def test_every_interval_contains_the_offset_of_clocks_that_drift_and_are_set(
    hosts: TwoHosts, program: Path
) -> None:
    now_s = time.monotonic()
    steps = ((-3.0, now_s + 2.5), (0.02, now_s + 3.5))  # the second is smaller than the intervals
    clock = WrongClock(40.0, 60.0, now_s, steps)
    right = program_on(hosts, RIGHT, program, clock)
    left = program_on(hosts, LEFT, program)
    try:
        seen = lines_until(left, now_s + 4.5)
        own = lines_until(right, now_s + 4.5)
    finally:
        for process in (left, right):
            process.terminate()
            process.wait(GENEROUS_S)
    intervals = [line for line in seen if line.get("low_ns") is not None]
    assert len(intervals) > 20
    for line in intervals:
        at_ns = line["monotonic_ns"]
        if not clock.was_set_between(at_ns - line["age_ns"], at_ns):
            assert line["low_ns"] <= clock.wrong_by_ns(at_ns) <= line["high_ns"], line
    for line in own:
        if line.get("low_ns") is None:
            continue
        drifted_ns = line["monotonic_ns"]  # on this host, CLOCK_MONOTONIC drifts as well
        at_ns = drifted_ns - clock.drifted_ns(drifted_ns)
        if not clock.was_set_between(at_ns - line["age_ns"], at_ns):
            assert line["low_ns"] - 1 <= -clock.wrong_by_ns(at_ns) <= line["high_ns"] + 1, line
    assert [line["event"] for line in seen if "event" in line] == [
        *("appeared", "peer_clock_set", "peer_clock_set")
    ]
    found = [line["by_ns"] for line in own if line.get("event") == "clock_set"]
    assert found == pytest.approx([-3e6, 20e3], abs=SMALLEST_READING_NS)
    assert seen[-1]["steps"] == 2


def test_the_command_shows_the_offset_and_writes_its_course(
    hosts: TwoHosts, program: Path, tmp_path: Path
) -> None:
    place = tmp_path / "workspace/lib/rclrt_clock/rclrt_clock"
    place.parent.mkdir(parents=True)
    place.symlink_to(program)
    clock = WrongClock(-37_000.0, 0.0, 0.0, ())
    code = (
        "import sys; from rclrt_cli.main import VERBS, main; from rclrt_clock import clock_command;"
        "VERBS['clock'] = clock_command; sys.exit(main(sys.argv[1:]))"
    )
    options = ["--seconds", "2", "--out", str(tmp_path / "clock.json"), "--host", "robot"]
    command = [sys.executable, "-c", code, "clock", *options, "--plot", str(tmp_path / "c.svg")]
    prefixes = f"{tmp_path / 'workspace'}:{os.environ.get('AMENT_PREFIX_PATH', '')}"
    own = str(Path(__file__).resolve().parents[1])
    with program_on(hosts, RIGHT, program, clock) as right:
        try:
            answer = subprocess.run(
                hosts.command(LEFT, command),
                env=os.environ
                | {
                    "AMENT_PREFIX_PATH": prefixes,
                    "PYTHONPATH": f"{own}:{python_path()}",
                    "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",  # as in a checkout
                },
                capture_output=True,
                text=True,
                timeout=GENEROUS_S,
            )
        finally:
            right.terminate()
    assert answer.returncode == 0, answer.stderr
    assert "rclrt: right sends pings" in answer.stderr
    table = answer.stdout.splitlines()
    cells = table[1].split()
    assert cells[0] == RIGHT
    assert float(cells[1]) <= -37_000 <= float(cells[2])
    assert table[2].startswith("  within a second of 37 s: one clock shows TAI")
    document = json.loads((tmp_path / "clock.json").read_text())
    assert document["host"] == "robot"
    samples = document["peers"][0]["samples"]
    assert samples
    assert all(low_ns <= -37e9 <= high_ns for _, _, low_ns, high_ns, _ in samples)
    assert "right: offset in ms" in (tmp_path / "c.svg").read_text()


def test_the_example_runs_two_commands_as_on_two_computers(hosts: TwoHosts, program: Path) -> None:
    """`hosts` skips it where namespaces are not permitted."""
    example = Path(__file__).resolve().parents[3] / "examples/two_hosts/on_two_hosts"
    command = f"{program} --period 50 --report 50"
    done = subprocess.run(
        [example, f"{command} --seconds 2; exit 7", f"RCLRT_TEST_CLOCK=offset_ms=40 {command}"],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=GENEROUS_S,
    )
    assert done.returncode == 7, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    intervals = [
        (line["low_ns"], line["high_ns"])
        for line in lines
        if line.get("peer") == RIGHT and line["low_ns"] is not None
    ]
    assert intervals
    assert all(low_ns <= 40_000_000 <= high_ns for low_ns, high_ns in intervals)
