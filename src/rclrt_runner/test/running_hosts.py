# SPDX-License-Identifier: Apache-2.0
"""An application on two hosts, and an agent and a run of it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rclrt_py.processes.parent_death import end_with_parent
from rclrt_py.testing.namespaces import HOSTS
from running import GENEROUS_S, RUNNER

AGENT = os.environ["RCLRT_AGENT"]
LEFT, RIGHT = HOSTS
APPLICATION = """\
rclrt: 1
name: two
hosts: [{name: left}, {name: right}]
links: [{name: cable, between: [left, right], rate_kbit: 1000000}]
executors:
  - {name: eyes, host: left}
  - {name: hands, host: right}
nodes:
  - {name: camera, executor: eyes}
  - {name: control, executor: hands}
callbacks:
  - {id: look, node: camera, timer: {period_ms: 20}, wcet_ms: 0.2, publishes: [points]}
  - {id: move, node: control, subscription: {topic: points}, wcet_ms: 0.2, publishes: [moved]}
  - {id: check, node: camera, subscription: {topic: moved}, wcet_ms: 0.1}
  - {id: tick, node: control, timer: {period_ms: 20}, wcet_ms: 0.1, publishes: [ticks]}
  - {id: tock, node: camera, subscription: {topic: ticks}, wcet_ms: 0.1}
chains:
  - {id: there_and_back, callbacks: [look, move, check], priority: 2}
  - {id: back, callbacks: [tick, tock], priority: 1}
"""


def environment(discovery: str = "LOCALHOST") -> dict[str, str]:
    return os.environ | {"ROS_AUTOMATIC_DISCOVERY_RANGE": discovery}


@contextmanager
def agent(
    enter: Sequence[str] = (), discovery: str = "LOCALHOST"
) -> Iterator[tuple[socket.socket, subprocess.Popen[str]]]:
    """Starts an agent. Yields the other end of its connection."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            process = subprocess.Popen(
                [*enter, AGENT],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.PIPE,
                text=True,
                env=environment(discovery),
                start_new_session=True,
                preexec_fn=end_with_parent(),
            )
        try:
            yield ours, process
        finally:
            process.kill()
            process.communicate()


def runner(
    app: Path,
    out: Path,
    other: socket.socket,
    seconds: float = 1.0,
    enter: Sequence[str] = (),
    discovery: str = "LOCALHOST",
) -> subprocess.Popen[str]:
    """Starts the run; the host `right` is at the other end of the socket, which is closed here."""
    command = [*enter, RUNNER, str(app), "--executor", "preemptive", "--seconds", str(seconds)]
    number = other.fileno()
    process = subprocess.Popen(
        [*command, "--out", str(out), "--hosts", f"{RIGHT}={number}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(discovery),
        pass_fds=(number,),
        start_new_session=True,
        preexec_fn=end_with_parent(),
    )
    other.close()
    return process


def end_of(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, errors = process.communicate(timeout=GENEROUS_S)
    return process.returncode, errors


def results_of(out: Path) -> dict[str, Any]:
    results: dict[str, Any] = json.loads((out / "results.json").read_text())
    return results
