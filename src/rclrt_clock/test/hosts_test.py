# SPDX-License-Identifier: Apache-2.0
"""Two hosts with clocks of their own: network namespaces, and processes of ROS 2 in each."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from rclrt_py.testing import namespaces
from rclrt_py.testing.command import python_path
from rclrt_py.testing.namespaces import HOSTS, Line, TwoHosts, lines_until, two_hosts

LEFT, RIGHT = HOSTS
LIMIT_S = 240.0
"""Only a test that hangs takes as long; less than the limit of ctest."""
SMALLEST_READING_NS = 10_000
"""The program and this test read the clock apart from each other."""


@pytest.fixture(scope="module")
def hosts() -> Iterator[TwoHosts]:
    with two_hosts() as made:
        yield made


@dataclass(frozen=True)
class WrongClock:
    """The clock of a host, as RCLRT_TEST_CLOCK describes it."""

    offset_ms: float
    drift_ppm: float = 0.0
    slew_ppm: float = 0.0
    from_s: float = 0.0
    """The time of CLOCK_MONOTONIC from which it drifts and is slewed."""
    steps: tuple[tuple[float, float], ...] = ()
    """Pairs of ms and s of CLOCK_MONOTONIC."""

    @property
    def text(self) -> str:
        steps = [f"step_ms={by_ms}@{at_s:.9f}" for by_ms, at_s in self.steps]
        drift = f"drift_ppm={self.drift_ppm}@{self.from_s:.9f}"
        slew = f"slew_ppm={self.slew_ppm}@{self.from_s:.9f}"
        return " ".join([f"offset_ms={self.offset_ms}", drift, slew, *steps])

    def gained_ns(self, monotonic_ns: float) -> float:
        return (monotonic_ns - self.from_s * 1e9) * (self.drift_ppm + self.slew_ppm) / 1e6

    def wrong_by_ns(self, monotonic_ns: float) -> float:
        stepped_ms = sum(by_ms for by_ms, at_s in self.steps if monotonic_ns >= at_s * 1e9)
        return (self.offset_ms + stepped_ms) * 1e6 + self.gained_ns(monotonic_ns)

    def was_set_between(self, begin_ns: float, end_ns: float) -> bool:
        """Returns whether the clock was set then, or so close that readings may differ."""
        return any(
            begin_ns - SMALLEST_READING_NS <= at_s * 1e9 <= end_ns + SMALLEST_READING_NS
            for _, at_s in self.steps
        )


@contextmanager
def program_on(
    hosts: TwoHosts, host: str, program: Path, clock: WrongClock | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Runs the program on a host. It writes an interval with every second ping."""
    options = ["--period", "20", "--report", "40"]
    variables = {} if clock is None else {"RCLRT_TEST_CLOCK": clock.text}
    command = [str(program), *options]
    with namespaces.program_on(hosts, host, command, LIMIT_S, **variables) as process:
        yield process


def is_interval_since(line: Line, time_s: float) -> bool:
    """Returns whether the line has an interval of pings after a time of CLOCK_MONOTONIC."""
    known = line.get("low_ns") is not None
    return known and line["monotonic_ns"] - line["age_ns"] > time_s * 1e9


def measured(
    hosts: TwoHosts, program: Path, lead_s: float
) -> tuple[WrongClock, list[Line], list[Line]] | None:
    """Returns the clock of `right`, and the lines of both hosts. None: they did not see each other
    before the clock was set."""
    now_s = time.monotonic()
    # The second step is smaller than the intervals.
    steps = ((-3.0, now_s + lead_s), (0.02, now_s + lead_s + 0.5))
    clock = WrongClock(40.0, 60.0, 300.0, now_s, steps)
    with (
        program_on(hosts, RIGHT, program, clock) as right,
        program_on(hosts, LEFT, program) as left,
    ):
        end_s = steps[-1][1] + 0.3
        seen = lines_until(left, lambda line: is_interval_since(line, end_s))
        own = lines_until(right, lambda line: is_interval_since(line, end_s))
    first_s = [
        next(line["monotonic_ns"] for line in lines if line.get("low_ns") is not None) / 1e9
        for lines in (seen, own)
    ]
    return (clock, seen, own) if max(first_s) < steps[0][1] else None


def test_every_interval_contains_the_offset_of_clocks_that_drift_and_are_slewed_and_set(
    hosts: TwoHosts, program: Path
) -> None:
    results = (measured(hosts, program, lead_s) for lead_s in (2.0, 8.0, 30.0, 90.0))
    result = next((each for each in results if each is not None), None)
    assert result is not None
    clock, seen, own = result
    for line in seen:
        at_ns = line["monotonic_ns"] if line.get("low_ns") is not None else None
        if at_ns is None or clock.was_set_between(at_ns - line["age_ns"], at_ns):
            continue
        assert line["low_ns"] <= clock.wrong_by_ns(at_ns) <= line["high_ns"], line
    for line in own:
        if line.get("low_ns") is None:
            continue
        own_ns = line["monotonic_ns"]  # on this host, CLOCK_MONOTONIC drifts as well
        at_ns = own_ns - clock.gained_ns(own_ns) / (1 + 360e-6)
        if not clock.was_set_between(at_ns - line["age_ns"], at_ns):
            assert line["low_ns"] - 1 <= -clock.wrong_by_ns(at_ns) <= line["high_ns"] + 1, line
    sets = [line["event"] for line in seen if line.get("event") in ("peer_clock_set", "step")]
    assert sets == ["peer_clock_set", "peer_clock_set"]
    found = [line["by_ns"] for line in own if line.get("event") == "clock_set"]
    assert found == pytest.approx([-3e6, 20e3], abs=SMALLEST_READING_NS)
    assert next(line for line in reversed(seen) if "peer" in line)["steps"] == 2
    assert any(line.get("event") == "test_clock" for line in seen)


def test_a_peer_that_is_killed_and_restarted_is_reported_and_measured_again(
    hosts: TwoHosts, program: Path
) -> None:
    def is_event(line: Line, *names: str) -> bool:
        return line.get("event") in names

    clock = WrongClock(40.0)
    with program_on(hosts, LEFT, program) as left:
        with program_on(hosts, RIGHT, program, clock) as right:
            lines_until(left, lambda line: line.get("low_ns") is not None)
            right.kill()
            killed_s = time.monotonic()
            lines_until(left, lambda line: is_event(line, "silent"))
        other = WrongClock(70.0)  # the clock was set while nothing ran there
        with program_on(hosts, RIGHT, program, other):
            lines_until(left, lambda line: is_event(line, "restarted"))
            seen = lines_until(left, lambda line: is_interval_since(line, killed_s))
    assert seen[-1]["low_ns"] <= 70_000_000 <= seen[-1]["high_ns"]


def test_a_reader_that_does_not_read_does_not_stop_the_pings(
    hosts: TwoHosts, program: Path
) -> None:
    """The pipe of the program on the right is full after some seconds, and nothing reads it."""
    with program_on(hosts, RIGHT, program, WrongClock(40.0)) as right:
        assert right.stdout is not None
        fcntl.fcntl(right.stdout, fcntl.F_SETPIPE_SZ, 4096)
        with program_on(hosts, LEFT, program) as left:
            lines_until(left, lambda line: line.get("low_ns") is not None)
            full_s = time.monotonic() + 3.0  # 25 reports of 300 bytes a second
            seen = lines_until(left, lambda line: is_interval_since(line, full_s))
    assert not any(line.get("event") == "silent" for line in seen)
    assert seen[-1]["low_ns"] <= 40_000_000 <= seen[-1]["high_ns"]


def test_the_command_shows_the_offset_and_writes_its_course(
    hosts: TwoHosts, program: Path, tmp_path: Path
) -> None:
    place = tmp_path / "workspace/lib/rclrt_clock/rclrt_clock"
    place.parent.mkdir(parents=True)
    place.symlink_to(program)
    code = (
        "import sys; from rclrt_cli.main import VERBS, main; from rclrt_clock import clock_command;"
        "VERBS['clock'] = clock_command; sys.exit(main(sys.argv[1:]))"
    )
    options = ["--out", str(tmp_path / "clock.json"), "--host", "robot"]
    command = [sys.executable, "-c", code, "clock", *options, "--plot", str(tmp_path / "c.svg")]
    prefixes = f"{tmp_path / 'workspace'}:{os.environ.get('AMENT_PREFIX_PATH', '')}"
    own = str(Path(__file__).resolve().parents[1])
    with program_on(hosts, RIGHT, program, WrongClock(-37_000.0)):
        for seconds in ("2", "10", "60"):  # with the discovery
            answer = subprocess.run(
                hosts.command(LEFT, [*command, "--seconds", seconds]),
                env=os.environ
                | {
                    "AMENT_PREFIX_PATH": prefixes,
                    "PYTHONPATH": f"{own}:{python_path()}",
                    "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",  # as in a checkout
                },
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
            )
            if answer.returncode == 0:
                break
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
    assert all(low_ns <= -37e9 <= high_ns for _, _, low_ns, high_ns, _, _ in samples)
    assert "right: offset in ms" in (tmp_path / "c.svg").read_text()


def test_the_example_runs_two_commands_as_on_two_computers(hosts: TwoHosts, program: Path) -> None:
    """`hosts` skips it where namespaces are not permitted."""
    example = Path(__file__).resolve().parents[3] / "examples/two_hosts/on_two_hosts"
    command = f"{program} --period 50 --report 50"
    wrong = f"RCLRT_TEST_CLOCK=offset_ms=40 {command}"
    for seconds in (2, 10, 60):  # with the discovery
        done = subprocess.run(
            ["sh", example, f"{command} --seconds {seconds}; exit 7", wrong],
            env=os.environ | {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        if '"low_ns":3' in done.stdout:
            break
    assert done.returncode == 7, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    intervals = [
        (line["low_ns"], line["high_ns"])
        for line in lines
        if line.get("peer") == RIGHT and line["low_ns"] is not None
    ]
    assert intervals
    assert all(low_ns <= 40_000_000 <= high_ns for low_ns, high_ns in intervals)
