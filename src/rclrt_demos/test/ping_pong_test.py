# SPDX-License-Identifier: Apache-2.0
"""The callback-group demonstration runs and its figures are consistent. How many low pings come
back depends on the machine, so no test expects a number of them."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path as FilePath

import pytest
from rclrt_py.testing.waiting import wait_for

LIMIT_S = 600  # of a run that hangs

SENT = re.compile(
    r"\[ping_node\]: Both paths: Sent out (\d+) of configured (\d+) pings, i.e. (\d+)%"
)
RECEIVED = r"\[ping_node\]: {} prio path: Received (\d+) pongs, i.e. for (\d+)% of the pings\."
RAN = r"\[pong_node\]: {} priority executor thread ran for (\d+)ms\."
LINE = re.compile(r"^\[INFO\] \[\d+\.\d{9}\] \[(ping|pong)_node\]: \S.*$")


@dataclass
class Path:
    received: int
    percent: int
    mean_ms: float | None
    jitter_ms: float | None


@dataclass
class Pings:
    sent: int
    configured: int
    high: Path
    low: Path

    def check(self) -> None:
        for path in (self.high, self.low):
            assert path.received <= self.sent
            assert path.percent == (100 * path.received // self.sent if self.sent else 0)
            assert (path.mean_ms is None) == (path.received == 0)
            assert (path.jitter_ms is None) == (path.received == 0)


def arguments(**parameters: object) -> list[str]:
    result = ["--ros-args"]
    for name, value in parameters.items():
        result += ["-p", f"{name}:={value}"]
    return result


def start(program: str, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [os.environ[program], *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(program: str, *args: str) -> subprocess.CompletedProcess[str]:
    started = start(program, *args)
    output, errors = started.communicate(timeout=LIMIT_S)
    return subprocess.CompletedProcess(args, started.returncode, output, errors)


def number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    assert found, f"no line {pattern} in\n{text}"
    return int(found[1])


def read_path(title: str, text: str) -> Path:
    found = re.search(RECEIVED.format(title), text)
    assert found, text
    mean = re.search(rf"{title} prio path: Average RTT is (\d+\.\d)ms\.", text)
    jitter = re.search(rf"{title} prio path: Jitter of RTT is (\d+\.\d{{3}})ms\.", text)
    return Path(
        int(found[1]),
        int(found[2]),
        float(mean[1]) if mean else None,
        float(jitter[1]) if jitter else None,
    )


def read_pings(text: str) -> Pings:
    found = SENT.search(text)
    assert found, text
    return Pings(int(found[1]), int(found[2]), read_path("High", text), read_path("Low", text))


def test_every_line_has_the_form_of_a_ros_log_and_the_counts_fit_each_other() -> None:
    done = run("PING_PONG", *arguments(duration=1, ping_period=0.1))
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        assert LINE.match(line), line
    assert "Running experiment from now on for 1 seconds ..." in done.stdout
    pings = read_pings(done.stdout)
    assert pings.configured == 10
    pings.check()
    # A pong was received, so the thread that answers has worked for it.
    high_ms = number(RAN.format("High"), done.stdout)
    low_ms = number(RAN.format("Low"), done.stdout)
    assert high_ms >= 10 * pings.high.received
    assert low_ms >= 10 * pings.low.received


def read_until(text: str, running: subprocess.Popen[str]) -> str:
    """Reads lines up to the one with the text, and returns them."""
    assert running.stdout
    lines = ""
    for line in running.stdout:
        lines += line
        if text in line:
            return lines
    pytest.fail(f"ended without {text!r}: {lines}{running.communicate()[1]}")


def interrupt(running: subprocess.Popen[str]) -> tuple[str, str]:
    """Sends what Ctrl-C sends, and returns what comes after that on both streams."""
    running.send_signal(signal.SIGINT)
    return running.communicate(timeout=LIMIT_S)


def worker_cpu_ns(pid: int, name: str) -> int:
    """CPU time of an executor's threads."""
    sum_ns = 0
    for task in FilePath(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # it may have ended
            if (task / "comm").read_text().split()[0] == name:
                sum_ns += int((task / "schedstat").read_text().split()[0])
    return sum_ns


def test_ping_and_pong_find_each_other_from_two_processes() -> None:
    # Each runs until it is interrupted: one that ended by itself could be gone before the other,
    # on a slow machine, has found it.
    pong = start("PONG", *arguments(duration=100_000.0, high_busyloop=0.02, low_busyloop=0.001))
    ping = start("PING", *arguments(duration=100_000.0, ping_period=0.05))
    try:
        output = read_until("Running experiment", pong)
        sent = read_until("Running experiment", ping)
        wait_for(  # until pings have been answered
            lambda: (
                worker_cpu_ns(pong.pid, "high") >= 40_000_000
                or pong.poll() is not None
                or ping.poll() is not None
            )
        )
        assert pong.poll() is None
        assert ping.poll() is None
        sent_rest, ping_errors = interrupt(ping)
        output_rest, pong_errors = interrupt(pong)
    finally:
        ping.kill()
        pong.kill()
    assert ping.returncode == 0, ping_errors
    assert pong.returncode == 0, pong_errors
    sent += sent_rest
    output += output_rest
    pings = read_pings(sent)
    pings.check()
    # Neither prints what the other measures.
    assert "pong_node" not in sent
    assert "ping_node" not in output
    assert number(RAN.format("High"), output) >= 20 * pings.high.received
    assert number(RAN.format("Low"), output) >= pings.low.received


@pytest.mark.parametrize("program", ["PING", "PONG"])
def test_ctrl_c_ends_the_wait_for_the_other_node_without_an_error(program: str) -> None:
    # In an empty namespace: a leftover of another test could end the wait.
    waiting = start(program, "--ros-args", "-r", f"__ns:=/alone_{os.getpid()}")
    try:
        output = read_until("Waiting for", waiting)
        rest, errors = interrupt(waiting)
    finally:
        waiting.kill()
    assert waiting.returncode == 0, errors
    assert errors == ""
    assert LINE.match(output.strip())
    assert rest == ""


def workers(pid: int) -> dict[str, tuple[int, int, set[int]]]:
    """Policy, priority and CPUs of the executors' threads, by the executor's name."""
    found = {}
    for task in FilePath(f"/proc/{pid}/task").iterdir():
        tid = int(task.name)
        with contextlib.suppress(OSError):  # it may have ended
            name = (task / "comm").read_text().split()[0]
            if name in ("high", "low"):
                found[name] = (
                    os.sched_getscheduler(tid),
                    os.sched_getparam(tid).sched_priority,
                    os.sched_getaffinity(tid),
                )
    return found


def test_the_executors_run_at_49_and_1_on_cpu_0() -> None:
    running = start("PING_PONG", *arguments(duration=1000, ping_period=0.05))
    try:
        assert running.stdout
        assert "Running experiment" in running.stdout.readline()
        while len(found := workers(running.pid)) < 2:  # they come as the executors begin to spin
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=LIMIT_S)
    finally:
        running.kill()
    if "without real-time priorities" in errors:
        pytest.skip(errors)
    assert found == {"high": (os.SCHED_FIFO, 49, {0}), "low": (os.SCHED_FIFO, 1, {0})}


def test_ctrl_c_ends_the_experiment_with_the_statistics_up_to_then() -> None:
    running = start("PING_PONG", *arguments(duration=1000, ping_period=0.02))
    try:
        assert running.stdout
        first = running.stdout.readline()
        assert "Running experiment" in first
        running.send_signal(signal.SIGINT)
        output, errors = running.communicate(timeout=LIMIT_S)
    finally:
        running.kill()
    assert running.returncode == 0, errors
    read_pings(output).check()


@pytest.mark.parametrize(
    ("program", "value"),
    [
        *(("PING_PONG", value) for value in ("0", "-1.0", ".nan", ".inf", "1e7", "often")),
        ("PING", "0"),
        ("PONG", "0"),
    ],
)
def test_a_time_that_is_none_is_named_and_the_exit_code_is_2(program: str, value: str) -> None:
    done = run(program, *arguments(duration=value))
    assert done.returncode == 2
    assert "duration" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("PING", "ping_perod"),
        ("PONG", "ping_period"),
        ("PING", "high_busyloop"),
        ("PING_PONG", "busyloop"),
    ],
)
def test_a_parameter_that_the_program_has_not_is_refused_by_name(program: str, name: str) -> None:
    done = run(program, *arguments(**{name: 0.01}))
    assert done.returncode == 2
    assert f'unknown parameter "{name}"' in done.stderr
    assert "expected" in done.stderr


def test_an_argument_that_is_not_for_ros_is_refused() -> None:
    done = run("PING_PONG", "--duration", "5")
    assert done.returncode == 2
    assert 'unknown argument "--duration"' in done.stderr
