# SPDX-License-Identifier: Apache-2.0
"""The connections of a run to the agents on other hosts."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rclrt_py.agents.token import VARIABLE, Refused, prove, read_token
from rclrt_py.errors import BadInput, RunFailed
from rclrt_py.processes.parent_death import end_with_parent, wait_or_kill

CONNECT_S = 10.0
_PATIENCE_S = 5.0
_AGAIN_S = 0.2
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_ADDRESS = re.compile(r"(?P<host>[^\s:]+|\[[0-9A-Fa-f:.%a-z]+\]):(?P<port>[0-9]+)")
_LAST_PORT = 65_535


@dataclass(frozen=True)
class Agent:
    """The way to the agent of a host: a TCP address, or a command with standard input and output
    that lead to it."""

    host: str
    address: tuple[str, int] | None = None
    command: tuple[str, ...] = ()


def parse_address(text: str) -> tuple[str, int] | None:
    """Returns the address and port of a text such as 10.0.0.2:7400 or [fe80::1]:7400. None: the
    text has another form. Throws BadInput if the port is out of range."""
    found = _ADDRESS.fullmatch(text)
    if found is None:
        return None
    port = found["port"].lstrip("0")
    if not 0 < len(port) <= len(str(_LAST_PORT)) or int(port) > _LAST_PORT:
        raise BadInput(f"{text}: the port is {found['port'][:20]}; expected 1 to {_LAST_PORT}")
    return found["host"].strip("[]"), int(port)


def agent_argument(text: str) -> Agent:
    """Reads HOST=ADDRESS:PORT or HOST=COMMAND. The command is split as a shell does, and started
    without one."""
    host, equals, place = text.partition("=")
    if not equals or not _NAME.fullmatch(host) or not place.strip():
        raise argparse.ArgumentTypeError(
            f"'{text}' is no agent; expected HOST=ADDRESS:PORT or "
            "HOST='ssh USER@MACHINE rclrt agent'"
        )
    try:
        address = parse_address(place)
    except BadInput as error:
        raise argparse.ArgumentTypeError(f"{host}={error}") from error
    if address is not None:
        return Agent(host, address)
    try:
        command = tuple(shlex.split(place))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{place}' is no command: {error}") from error
    if len(command) == 1:
        raise argparse.ArgumentTypeError(
            f"'{place}' is neither ADDRESS:PORT nor a command such as 'ssh {place} rclrt agent'"
        )
    return Agent(host, None, command)


def check_agents(
    agents: Sequence[Agent],
    token_file: Path | None,
    option: str = "--agent",
    command: str = "rclrt run",
) -> str | None:
    """Throws BadInput if a host has two agents, or if a token is missing. Returns the token.
    `option` and `command`: what named the agents."""
    names = [each.host for each in agents]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"{option}: host '{name}' has two agents; expected one")
    token = read_token(token_file, os.environ)
    if token is None and any(each.address for each in agents):
        raise BadInput(
            f"{option} with an address needs the token that the agent prints\n"
            f"  fix: {VARIABLE}=TOKEN {command} ..., or --token-file FILE"
        )
    return token


def hosts_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment of a program that communicates with other hosts, which ROS 2 does not
    do if ROS_AUTOMATIC_DISCOVERY_RANGE is LOCALHOST, as in a checkout of rclrt. The token is not in
    it."""
    result = dict(environment)
    result.pop(VARIABLE, None)
    result.pop("ROS_LOCALHOST_ONLY", None)  # the older variable, which wins
    if result.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST") == "LOCALHOST":
        result["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "SUBNET"
    return result


@contextmanager
def connected(agents: Sequence[Agent], token: str | None) -> Iterator[dict[str, socket.socket]]:
    """Connects to all agents. Yields a socket for each host. Throws RunFailed."""
    with ExitStack() as stack:
        sockets: dict[str, socket.socket] = {}
        for agent in agents:
            opened = _dialled(agent, token) if agent.address else _started(agent)
            sockets[agent.host] = stack.enter_context(opened)
        yield sockets


def _connection_to(address: tuple[str, int], limit_s: float) -> socket.socket:
    """Returns a connection. Tries again until the time is over: the agent may be starting."""
    end_s = time.monotonic() + limit_s
    while True:
        try:
            return socket.create_connection(address, max(end_s - time.monotonic(), _AGAIN_S))
        except OSError:
            if time.monotonic() + _AGAIN_S >= end_s:
                raise
        time.sleep(_AGAIN_S)


@contextmanager
def _dialled(agent: Agent, token: str | None) -> Iterator[socket.socket]:
    assert agent.address is not None
    assert token is not None
    place = "{}:{}".format(*agent.address)
    try:
        connection = _connection_to(agent.address, CONNECT_S)
    except OSError as error:
        raise RunFailed(
            f"host '{agent.host}': {place} does not answer: {error.strerror or error}\n"
            f"  fix: rclrt agent --listen {place} on that host"
        ) from error
    with connection:
        try:
            prove(connection, token, CONNECT_S)
        except (Refused, OSError) as error:
            raise RunFailed(f"host '{agent.host}': {place} refuses: {error}") from error
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield connection


@contextmanager
def _started(agent: Agent) -> Iterator[socket.socket]:
    """Starts the command. Its standard error is the user's."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            try:
                child = subprocess.Popen(
                    agent.command,
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    env={key: value for key, value in os.environ.items() if key != VARIABLE},
                    start_new_session=True,  # Ctrl-C is for the run, which then ends the agent
                    preexec_fn=end_with_parent(),
                )
            except OSError as error:
                raise RunFailed(
                    f"host '{agent.host}': {agent.command[0]} cannot be started: {error.strerror}"
                ) from error
        try:
            yield ours
        finally:
            ours.close()
            wait_or_kill(child, _PATIENCE_S)
