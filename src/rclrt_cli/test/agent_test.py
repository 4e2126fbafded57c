# SPDX-License-Identifier: Apache-2.0
"""`rclrt agent`: an agent that waits for runs, and its command line."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from rclrt_py.agents.token import prove
from rclrt_py.processes.parent_death import end_with_parent
from rclrt_py.testing.command import python_path

TOKEN = "0123456789abcdef"
GENEROUS_S = 60.0
ECHO = '#!/bin/sh\nread -r line\necho "got $line"\n'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace in which the agent's program answers a line and ends."""
    program = tmp_path / "prefix/lib/rclrt_runner/rclrt_agent"
    program.parent.mkdir(parents=True)
    program.write_text(ECHO)
    program.chmod(0o755)
    return tmp_path


def start(place: Path, *arguments: str, **variables: str) -> subprocess.Popen[str]:
    own = {"AMENT_PREFIX_PATH": str(place / "prefix"), "PYTHONPATH": python_path()}
    return subprocess.Popen(
        [sys.executable, "-m", "rclrt_cli", "agent", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | own | variables,
        preexec_fn=end_with_parent(),
    )


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def listening(place: Path, **variables: str) -> Iterator[tuple[subprocess.Popen[str], int, str]]:
    """Yields an agent that listens, its port, and what it printed before."""
    port = free_port()
    agent = start(place, "--listen", f"127.0.0.1:{port}", **variables)
    try:
        assert agent.stdout is not None
        lines = ""
        for line in agent.stdout:
            lines += line
            if "listens on" in line:
                break
        yield agent, port, lines
    finally:
        agent.kill()
        agent.communicate()


def asked(port: int, token: str) -> bytes:
    with socket.create_connection(("127.0.0.1", port), GENEROUS_S) as connection:
        prove(connection, token, GENEROUS_S)
        connection.sendall(b"hello\n")
        return connection.recv(100)


def test_an_agent_that_listens_serves_one_run_after_another(place: Path) -> None:
    with listening(place, RCLRT_AGENT_TOKEN=TOKEN) as (agent, port, _):
        assert asked(port, TOKEN) == b"got hello\n"
        assert asked(port, TOKEN) == b"got hello\n"
        with pytest.raises(Exception, match="it has another token"):
            asked(port, "another" + TOKEN)
        with socket.create_connection(("127.0.0.1", port)) as silent:
            silent.sendall(b"x \xff\n")
            with suppress(ConnectionResetError):
                while silent.recv(4096):
                    pass
        assert asked(port, TOKEN) == b"got hello\n"
        agent.send_signal(signal.SIGINT)
        _, errors = agent.communicate(timeout=GENEROUS_S)
    assert agent.returncode == 0
    assert "rclrt agent: 127.0.0.1 was refused: it has another token" in errors


def test_without_a_token_a_new_one_is_made_and_printed(place: Path) -> None:
    with listening(place, RCLRT_AGENT_TOKEN="") as (_, _, lines):
        assert "shorter" not in lines
    with listening(place) as (_, port, lines):
        token = lines.split("RCLRT_AGENT_TOKEN=")[1].split()[0]
        assert len(token) == 32
        assert asked(port, token) == b"got hello\n"


def test_without_an_address_it_serves_one_run_on_standard_input_and_output(place: Path) -> None:
    agent = start(place)
    out, _ = agent.communicate("hello\n", timeout=GENEROUS_S)
    assert agent.returncode == 0
    assert out == "got hello\n"


@pytest.mark.parametrize(
    ("listen", "expected"),
    [
        ("0.0.0.0:7400", "is every address of this host"),
        ("0:7400", "is every address of this host"),
        ("[::]:7400", "is every address of this host"),
        ("10.0.0.2", "expected ADDRESS:PORT, such as 10.0.0.2:7400"),
        ("127.0.0.1:99999", "--listen 127.0.0.1:99999: the port is 99999; expected 1 to 65535"),
        ("192.0.2.1:7400", "--listen 192.0.2.1:7400: Cannot assign requested address"),
    ],
)
def test_an_address_that_is_none_of_this_host_is_refused(
    place: Path, listen: str, expected: str
) -> None:
    agent = start(place, "--listen", listen, RCLRT_AGENT_TOKEN=TOKEN)
    _, errors = agent.communicate(timeout=GENEROUS_S)
    assert agent.returncode == 2
    assert expected in errors
