# SPDX-License-Identifier: Apache-2.0
"""`rclrt run` and `rclrt agent` on two hosts: network namespaces, and real ROS 2 in each."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rclrt_py.processes.parent_death import end_with_parent
from rclrt_py.testing.command import python_path
from rclrt_py.testing.namespaces import HOSTS, TwoHosts, two_hosts
from sources import ROOT, SCHEMA

LEFT, RIGHT = HOSTS
GENEROUS_S = 120.0
APP = ROOT / "examples/two_hosts/app.yaml"
TOKEN = "0123456789abcdef0123"
RCLRT = [sys.executable, "-m", "rclrt_cli"]


@pytest.fixture(scope="module")
def hosts() -> Iterator[TwoHosts]:
    with two_hosts() as made:
        yield made


def environment(**variables: str) -> dict[str, str]:
    own = os.environ | {"PYTHONPATH": python_path()} | variables
    own.pop("ROS_AUTOMATIC_DISCOVERY_RANGE", None)  # as in a shell outside of a checkout
    return own


@contextmanager
def listening(hosts: TwoHosts, address: str, token: str = TOKEN) -> Iterator[None]:
    """An agent on the host `right`."""
    agent = subprocess.Popen(
        hosts.command(RIGHT, [*RCLRT, "agent", "--listen", address]),
        env=environment(RCLRT_AGENT_TOKEN=token),
        stdout=subprocess.DEVNULL,
        preexec_fn=end_with_parent(),
    )
    try:
        yield
    finally:
        agent.terminate()
        agent.wait(GENEROUS_S)


def run(
    hosts: TwoHosts, out: Path, *more: str, seconds: float = 1.0, **variables: str
) -> subprocess.CompletedProcess[str]:
    command = [*RCLRT, "run", str(APP), "--executor", "preemptive", "--seconds", str(seconds)]
    return subprocess.run(
        hosts.command(LEFT, [*command, "--out", str(out), *more]),
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=GENEROUS_S,
        check=False,
    )


def check(out: Path, said: str) -> dict[str, Any]:
    results: dict[str, Any] = json.loads((out / "results.json").read_text())
    jsonschema.validate(results, json.loads(SCHEMA.read_text()))
    assert results["chains"][0]["released"] == 50
    assert results["chains"][0]["completed"] > 10
    here, host = results["hosts"]
    assert here["name"] == host["compared_with"] == LEFT
    assert host["lost"] is None
    assert results["chains"][0]["unknown"] >= 0
    assert results["chains"][0]["error_ms"] >= 0
    assert host["name"] == host["machine"] == RIGHT
    assert f"Clock of right: times within ±{host['least_error_ms']:.3f} to ±" in said
    assert "scan -> brake" in said
    assert "Clock of right" in (out / "report.html").read_text()
    return results


def test_a_run_over_hosts_by_an_agent_that_listens(hosts: TwoHosts, tmp_path: Path) -> None:
    at = f"{RIGHT}=10.99.0.2:7400"
    with listening(hosts, "10.99.0.2:7400"):
        for number in (1, 2):  # one run after another
            out = tmp_path / f"out{number}"
            done = run(hosts, out, "--agent", at, RCLRT_AGENT_TOKEN=TOKEN)
            assert done.returncode == 0, done.stderr
            check(out, done.stdout)
        refused = run(hosts, tmp_path / "no", "--agent", at, RCLRT_AGENT_TOKEN="another" + TOKEN)
    assert refused.returncode == 1
    assert "10.99.0.2:7400 refuses: it has another token" in refused.stderr
    assert not (tmp_path / "no" / "results.json").exists()


def test_a_run_over_hosts_by_a_command_as_over_ssh(hosts: TwoHosts, tmp_path: Path) -> None:
    command: Sequence[str] = hosts.command(RIGHT, [*RCLRT, "agent"])
    out = tmp_path / "out"
    done = run(hosts, out, "--agent", f"{RIGHT}={shlex.join(command)}")
    assert done.returncode == 0, done.stderr
    check(out, done.stdout)
    assert "rclrt agent: runs 1 process of 'two_hosts' as host 'right'" in done.stderr


def test_ros_arguments_and_unknown_hosts_are_refused(hosts: TwoHosts, tmp_path: Path) -> None:
    command = shlex.join([sys.executable, "-c", "input()"])
    done = run(hosts, tmp_path / "out", "--agent", f"{RIGHT}={command}", "--", "-r", "__ns:=/a")
    assert done.returncode == 2
    assert "ROS arguments do not reach the other hosts" in done.stderr
    done = run(hosts, tmp_path / "out", "--agent", f"arm={command}")
    assert done.returncode == 2
    assert "the application has no executor on host 'arm'" in done.stderr
