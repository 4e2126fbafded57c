# SPDX-License-Identifier: Apache-2.0
"""Messages that agents, and hosts that coordinate a run, refuse."""

from __future__ import annotations

import socket
import struct
import subprocess
from pathlib import Path

import pytest
from running import GENEROUS_S, without_fork
from running_hosts import AGENT, APPLICATION, RIGHT, agent, end_of, runner

pytestmark = without_fork


@pytest.fixture
def app(tmp_path: Path) -> Path:
    path = tmp_path / "two.yaml"
    path.write_text(APPLICATION)
    return path


@pytest.mark.parametrize(
    ("greeting", "expected"),
    [
        ("rclrt-agent 1 9.9.9 little-endian arm", "has rclrt 9.9.9 (protocol 1), and this host "),
        ("rclrt-agent 99 9.9.9 little-endian arm", "has rclrt 9.9.9 (protocol 99), and this host "),
        ("Welcome to Ubuntu\x1b[2J", "sends 'Welcome to Ubuntu?[2J'; expected 'rclrt-agent 1 "),
    ],
)
def test_an_agent_of_another_version_is_refused(
    app: Path, tmp_path: Path, greeting: str, expected: str
) -> None:
    ours, theirs = socket.socketpair()
    with ours:
        ours.sendall(greeting.encode() + b"\n")
        code, errors = end_of(runner(app, tmp_path / "out", theirs))
    assert code == 1
    assert "host 'right': " + expected in errors
    assert not (tmp_path / "out" / "results.json").exists()


def greeted(other: socket.socket) -> str:
    """Reads the greeting of an agent, and greets it with the same version. Returns the version."""
    line = b""
    while not line.endswith(b"\n"):
        line += other.recv(1)
    words = line.decode().split()
    assert words[0] == "rclrt-agent"
    other.sendall(" ".join(["rclrt-run", *words[1:4]]).encode() + b"\n")
    return words[2]


def frame(kind: int, body: bytes) -> bytes:
    return struct.pack("<IB", len(body), kind) + body


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


WORKLOAD = "wcet_ms: 1, workload: {name: rm, iterations: 1}}"


def request(application: str, host: str = RIGHT, executor: str = "preemptive") -> bytes:
    rest = struct.pack("<q??I", 1_000_000_000, False, True, 0)
    return frame(0, text(host) + text(application) + text(executor) + rest)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (request("name: [broken"), "the application: "),
        (request(APPLICATION, "arm"), "the application has no executor on host 'arm'"),
        (request(APPLICATION, executor="fast"), "unknown executor 'fast'"),
        (
            request(
                APPLICATION.replace(
                    "wcet_ms: 0.1}", "wcet_ms: 1, workload: {name: rm, iterations: 1}}"
                )
            ),
            "unknown workload 'rm'",
        ),
        (frame(0, b"\xff" * 40), "the data are not complete"),
        (frame(0, request(APPLICATION)[5:] + b"more"), "the data are longer than expected"),
        (struct.pack("<IB", 0xFFFFFFFF, 0), "sends a message of 4294967295 bytes"),
    ],
)
def test_an_agent_refuses_what_is_no_run(sent: bytes, expected: str) -> None:
    with agent() as (other, served):
        greeted(other)
        other.sendall(sent)
        _, errors = served.communicate(timeout=GENEROUS_S)
        assert served.returncode in (1, 2)
    assert expected in errors


def test_an_agent_refuses_another_version() -> None:
    with agent() as (other, served):
        other.sendall(b"rclrt-run 1 9.9.9 little-endian\n")
        _, errors = served.communicate(timeout=GENEROUS_S)
        assert served.returncode == 2
    assert "the other end has rclrt 9.9.9 (protocol 1), and this host " in errors


NOBODY = 0xFFFFFFFF


def instance(**changed: int) -> bytes:
    """An instance of `move`, as the host `right` sends it, or with other values."""
    one = {
        "id": 1, "callback": 1, "level": 2, "release": 10, "ready": 10, "start": 11, "end": 12,
        "cpu": 1, "preemptions": 0, "first_cpu": 0, "last_cpu": 0, "outcome": 0, "input": 0,
        "stamp": 5, "read": 0, "stored": 0, "executor": 1, "slot": 0, "published": 9,
        "publisher": 0, "tokens": 0, "chain": 0,
    } | changed  # fmt: skip
    tokens = one.pop("tokens")
    chain = one.pop("chain")
    token = struct.pack("<IQq", chain, 0, 5)
    return struct.pack("<QIi5qI2iBI3q2IqI", *one.values()) + bytes([tokens]) + tokens * token


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"\xff" * 200, "the data have an unknown number"),
        (instance()[:-1], "the data are not complete"),
        *(
            (instance(**wrong), "an instance is none of this application")
            for wrong in (
                {"callback": 99},
                {"callback": 0, "executor": 0},
                {"executor": 0},
                {"slot": 5000},
                {"publisher": 99},
                {"input": 1},
                {"start": 13},
                {"end": -1},
                {"stamp": -1},
                {"tokens": 1, "chain": 9},
                {"tokens": 17},
            )
        ),
        (instance(outcome=9), "the data have an unknown number"),
        (instance(publisher=NOBODY) + instance(tokens=16), "sends an unknown message"),
    ],
)
def test_instances_that_the_host_cannot_have_are_refused(
    app: Path, tmp_path: Path, body: bytes, expected: str
) -> None:
    """A host that lies about an index must not be believed."""
    ours, theirs = socket.socketpair()
    with ours:
        version = subprocess.run([AGENT, "--version"], capture_output=True, text=True, check=True)
        ours.sendall(f"rclrt-agent 1 {version.stdout.split()[-1]} little-endian arm\n".encode())
        run = runner(app, tmp_path / "out", theirs)
        # After a right instance, a message of the other direction is refused.
        ours.sendall(frame(7, body) + frame(0, b""))
        code, errors = end_of(run)
    assert code == 1
    assert f"host 'right': {expected}" in errors


def test_a_host_that_the_application_does_not_have_is_refused(app: Path, tmp_path: Path) -> None:
    app.write_text(APPLICATION.replace("right", "arm"))
    ours, theirs = socket.socketpair()
    with ours:
        code, errors = end_of(runner(app, tmp_path / "out", theirs))
    assert code == 2
    assert "the application has no executor on host 'right'" in errors
