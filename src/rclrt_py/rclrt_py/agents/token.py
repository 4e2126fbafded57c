# SPDX-License-Identifier: Apache-2.0
"""The secret that both ends of a TCP connection know, and how each proves that it knows it.

Each end sends a random number, and answers with an HMAC of both numbers. So the secret itself is
never sent, and an answer that was overheard is of no use later. The rest of the connection is
neither encrypted nor authenticated: a program that can change the packets of the network can take
the connection over. Use ssh outside of a network that is the robot's own.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import socket
import stat
import time
from collections.abc import Mapping
from pathlib import Path

from rclrt_py.errors import BadInput

VARIABLE = "RCLRT_AGENT_TOKEN"
SHORTEST = 16
_GREETING = "rclrt-agent-tcp 1"
_LONGEST_LINE = 200


class Refused(Exception):
    """The other end does not prove that it knows the token, or is no rclrt."""


def new_token() -> str:
    return secrets.token_hex(16)


def read_token(file: Path | None, environment: Mapping[str, str]) -> str | None:
    """Returns the token of the file, or that of the environment; None: there is neither. Throws
    BadInput if others may read the file, or if the token is short or no text."""
    if file is None:
        token = environment.get(VARIABLE) or None
        place = VARIABLE
    else:
        place = str(file)
        try:
            with file.open("r", encoding="utf-8") as opened:
                mode = os.fstat(opened.fileno()).st_mode
                token = opened.read(_LONGEST_LINE).strip()
        except OSError as error:
            raise BadInput(f"--token-file {file}: cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise _not_text(f"--token-file {file}") from error
        if stat.S_IMODE(mode) & (stat.S_IRWXG | stat.S_IRWXO):
            raise BadInput(f"--token-file {file}: others may read it\n  fix: chmod 600 {file}")
    if token is None:
        return None
    if len(token) < SHORTEST:
        raise BadInput(f"{place}: the token is shorter than {SHORTEST} characters")
    if not token.isprintable():
        raise _not_text(place)
    return token


def _not_text(place: str) -> BadInput:
    return BadInput(
        f"{place}: the token is no text in one line; expected one such as that of rclrt agent"
    )


def _proof(token: str, role: str, server: str, client: str) -> str:
    text = f"{role} {server} {client}".encode()
    return hmac.new(token.encode(), text, hashlib.sha256).hexdigest()


def _read_words(connection: socket.socket, count: int, end_s: float) -> list[str]:
    """Returns the words of the next line, which must have come before `end_s` of time.monotonic().
    Nothing after the line is read."""
    line = b""
    while not line.endswith(b"\n") and len(line) < _LONGEST_LINE:
        left_s = end_s - time.monotonic()
        if left_s <= 0:
            raise Refused("it took too long")
        connection.settimeout(left_s)
        try:
            byte = connection.recv(1)
        except TimeoutError as error:
            raise Refused("it took too long") from error
        if not byte:
            raise Refused("it closed the connection")
        line += byte
    words = line.decode("ascii", "ignore").split() if line.isascii() else []
    if len(words) != count:
        raise Refused("it is no rclrt of this version")
    return words


def accept(connection: socket.socket, token: str, limit_s: float) -> None:
    """Makes sure, for an agent, that the other end knows the token, within a time. Throws Refused
    or OSError."""
    end_s = time.monotonic() + limit_s
    server = secrets.token_hex(16)
    connection.settimeout(limit_s)
    connection.sendall(f"{_GREETING} {server}\n".encode())
    client, proof = _read_words(connection, 2, end_s)
    if not hmac.compare_digest(proof, _proof(token, "run", server, client)):
        raise Refused("it has another token")
    connection.sendall(f"{_proof(token, 'agent', server, client)}\n".encode())


def prove(connection: socket.socket, token: str, limit_s: float) -> None:
    """Proves to an agent that this end knows the token, and makes sure that the agent does, within
    a time. Throws Refused or OSError."""
    end_s = time.monotonic() + limit_s
    connection.settimeout(limit_s)
    *greeting, server = _read_words(connection, 3, end_s)
    if " ".join(greeting) != _GREETING:
        raise Refused("it is no rclrt agent of this version")
    client = secrets.token_hex(16)
    connection.sendall(f"{client} {_proof(token, 'run', server, client)}\n".encode())
    try:
        (proof,) = _read_words(connection, 1, end_s)
    except Refused as error:
        raise Refused("it has another token") from error
    if not hmac.compare_digest(proof, _proof(token, "agent", server, client)):
        raise Refused("it has another token")
