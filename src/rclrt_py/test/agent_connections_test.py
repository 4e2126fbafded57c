# SPDX-License-Identifier: Apache-2.0
"""How a run reaches agents on other hosts: addresses, tokens, connections."""

from __future__ import annotations

import argparse
import os
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from rclrt_py.agents import connections
from rclrt_py.agents.connections import (
    Agent,
    agent_argument,
    check_agents,
    connected,
    hosts_environment,
)
from rclrt_py.agents.token import Refused, accept, prove, read_token
from rclrt_py.errors import BadInput, RunFailed
from rclrt_py.processes.runner import run_environment

TOKEN = "0123456789abcdef"
GENEROUS_S = 60.0


def test_an_agent_is_an_address_or_a_command() -> None:
    assert agent_argument("arm=10.0.0.2:7400") == Agent("arm", ("10.0.0.2", 7400))
    assert agent_argument("arm=[fe80::1]:7400") == Agent("arm", ("fe80::1", 7400))
    command = ("ssh", "robot@arm", "rclrt", "agent")
    assert agent_argument("arm=ssh 'robot@arm' rclrt agent") == Agent("arm", None, command)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("arm", "expected HOST=ADDRESS:PORT or HOST='ssh USER@MACHINE rclrt agent'"),
        ("=10.0.0.2:7400", "is no agent"),
        ("arm,leg=10.0.0.2:7400", "is no agent"),
        ("arm=10.0.0.2", "neither ADDRESS:PORT nor a command such as 'ssh 10.0.0.2 rclrt agent'"),
        ("arm=10.0.0.2:99999", "arm=10.0.0.2:99999: the port is 99999; expected 1 to 65535"),
        ("arm=10.0.0.2:65536", "the port is 65536; expected 1 to 65535"),
        ("arm=[fe80::1]:0", "the port is 0; expected 1 to 65535"),
        ("arm=10.0.0.2:" + "9" * 5000, "expected 1 to 65535"),
        ("arm=ssh 'robot", "is no command: No closing quotation"),
    ],
)
def test_what_is_no_agent_is_refused(text: str, expected: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=expected.replace("(", r"\(")):
        agent_argument(text)


def test_a_host_has_one_agent_and_an_address_needs_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RCLRT_AGENT_TOKEN", raising=False)
    at = Agent("arm", ("127.0.0.1", 7400))
    with pytest.raises(BadInput, match="host 'arm' has two agents"):
        check_agents([at, Agent("arm", None, ("ssh", "arm"))], None)
    with pytest.raises(BadInput, match="RCLRT_AGENT_TOKEN=TOKEN rclrt run"):
        check_agents([at], None)
    assert check_agents([Agent("arm", None, ("ssh", "arm"))], None) is None
    file = tmp_path / "token"
    file.write_text(TOKEN + "\n")
    file.chmod(0o644)
    with pytest.raises(BadInput, match=f"others may read it\n  fix: chmod 600 {file}"):
        check_agents([at], file)
    file.chmod(0o600)
    assert check_agents([at], file) == TOKEN
    with pytest.raises(BadInput, match="shorter than 16 characters"):
        read_token(None, {"RCLRT_AGENT_TOKEN": "short"})


@pytest.mark.parametrize("content", [b"\0" * 3000, b"\xfe" * 40, b"x" * 20 + b"\n" + b"y" * 20])
def test_a_token_that_is_no_text_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    file.chmod(0o600)
    with pytest.raises(BadInput) as refused:
        read_token(file, {})
    assert f"{file}: the token is no text in one line; expected one" in str(refused.value)


def test_errors_about_tokens_and_addresses_are_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CONNECT_S", 0.1)
    with pytest.raises(BadInput) as refused:
        read_token(tmp_path, {})
    assert str(refused.value) == f"--token-file {tmp_path}: cannot be read: Is a directory"
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    at = Agent("arm", ("127.0.0.1", port))
    with pytest.raises(RunFailed) as failed, connected([at], TOKEN):
        pass
    said = f"host 'arm': 127.0.0.1:{port} does not answer: Connection refused\n"
    assert str(failed.value).startswith(said)


def handshake(own: str, theirs: str) -> tuple[BaseException | None, BaseException | None]:
    """Returns how an agent and a run end that have these tokens."""
    left, right = socket.socketpair()
    ends: list[BaseException | None] = [None, None]

    def side(number: int, act: Callable[[socket.socket, str, float], None], token: str) -> None:
        with (left, right)[number] as end:
            try:
                act(end, token, GENEROUS_S)
            except (Refused, OSError) as error:
                ends[number] = error

    agent = threading.Thread(target=side, args=(0, accept, own))
    agent.start()
    side(1, prove, theirs)
    agent.join()
    return ends[0], ends[1]


def test_both_ends_prove_that_they_know_the_token() -> None:
    assert handshake(TOKEN, TOKEN) == (None, None)
    refused, told = handshake(TOKEN, "another" + TOKEN)
    assert str(refused) == "it has another token"
    assert str(told) == "it has another token"


def test_the_token_itself_is_not_sent_and_an_answer_cannot_be_repeated() -> None:
    def answers(challenge: bytes) -> bytes:
        left, right = socket.socketpair()
        with left, right:
            left.sendall(b"rclrt-agent-tcp 1 " + challenge + b"\n")
            left.shutdown(socket.SHUT_WR)
            with pytest.raises(Refused):
                prove(right, TOKEN, GENEROUS_S)
            return left.recv(4096)

    first, second = answers(b"a" * 32), answers(b"a" * 32)
    assert TOKEN.encode() not in first
    assert first != second


@pytest.mark.parametrize(
    "sent", [b"", b"hello\n", b"x" * 5000, b"rclrt-agent-tcp 9 abc\n", b"rclrt-agent-tcp 1 \xff\n"]
)
def test_what_is_no_agent_gets_no_run(sent: bytes) -> None:
    left, right = socket.socketpair()
    with left, right:
        left.sendall(sent)
        left.shutdown(socket.SHUT_WR)
        with pytest.raises(Refused):
            prove(right, TOKEN, GENEROUS_S)


def test_a_command_gets_the_connection_as_standard_input_and_output() -> None:
    code = "import sys; sys.stdout.write(sys.stdin.readline().upper()); sys.stdout.flush()"
    with connected([Agent("arm", None, (sys.executable, "-c", code))], None) as sockets:
        sockets["arm"].sendall(b"hello\n")
        assert sockets["arm"].recv(100) == b"HELLO\n"


def test_an_agent_that_is_not_there_is_named_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "CONNECT_S", 0.5)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = closed.getsockname()
        with (
            pytest.raises(RunFailed, match=f"rclrt agent --listen 127.0.0.1:{address[1]} on"),
            connected([Agent("arm", address)], TOKEN),
        ):
            pass
    with (
        pytest.raises(RunFailed, match="host 'arm': /no/program cannot be started"),
        connected([Agent("arm", None, ("/no/program", "x"))], None),
    ):
        pass


def test_other_hosts_are_searched_unless_discovery_is_off() -> None:
    searched = {"ROS_LOCALHOST_ONLY": "1", "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    assert hosts_environment(searched) == {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}
    # A program that measures alone gets LOCALHOST by default; with other hosts it must not.
    alone = run_environment(hosts_environment({"RCLRT_AGENT_TOKEN": TOKEN}), 7)
    assert alone["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "SUBNET"
    assert "RCLRT_AGENT_TOKEN" not in alone
    off = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF"}
    assert hosts_environment(off) == off
    assert hosts_environment(os.environ).get("PATH") == os.environ.get("PATH")


@pytest.mark.parametrize("sent", [b"", b"x \xff\n", b"\0\n", b"a b c\n", b"x" * 200, b"\n"])
def test_an_agent_refuses_what_is_no_proof(sent: bytes) -> None:
    left, right = socket.socketpair()
    with left, right:
        left.sendall(sent)
        left.shutdown(socket.SHUT_WR)
        with pytest.raises(Refused):
            accept(right, TOKEN, GENEROUS_S)


def test_a_proof_has_one_limit_of_time_however_its_bytes_come() -> None:
    left, right = socket.socketpair()
    end = threading.Event()

    def drip() -> None:
        with left:
            while not end.wait(0.01):
                try:
                    left.sendall(b"x")
                except OSError:
                    return

    dripping = threading.Thread(target=drip)
    dripping.start()
    with right, pytest.raises(Refused, match="it took too long"):
        accept(right, TOKEN, 0.3)
    end.set()
    dripping.join()
