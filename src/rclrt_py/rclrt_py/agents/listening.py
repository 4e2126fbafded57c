# SPDX-License-Identifier: Apache-2.0
"""An agent that waits for runs on a TCP address."""

from __future__ import annotations

import ipaddress
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

from rclrt_py.agents.token import Refused, accept
from rclrt_py.errors import BadInput
from rclrt_py.processes.parent_death import end_with_parent, wait_or_kill
from rclrt_py.processes.stop_signals import StopSignals

PROVE_S = 5.0
"""A connection that does not prove in this time that it knows the token is closed."""
_SILENCE_MS = 15_000
_AFTER_FAILURE_S = 0.2
_PATIENCE_S = 15.0


def serve(
    address: tuple[str, int], token: str, program: Sequence[str], environment: Mapping[str, str]
) -> None:
    """Starts the program for each run, one at a time, until the user stops it. The program has the
    connection as standard input and output. Throws BadInput if the address is none of this host."""
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with StopSignals() as stop, socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place = "{}:{}".format(*address)
        try:
            listener.bind(address)
            listener.listen(4)
        except OSError as error:
            raise BadInput(f"--listen {place}: {error.strerror or error}") from error
        if ipaddress.ip_address(listener.getsockname()[0]).is_unspecified:
            raise BadInput(
                f"--listen {place}: is every address of this host; expected the one in the network "
                "of the robot"
            )
        print(f"rclrt agent: listens on {place}; Ctrl-C ends it", flush=True)
        while not stop.requested:
            stop.wait(listener.fileno(), None)
            if not stop.requested:
                _serve_next(listener, token, program, environment, stop)


def _serve_next(
    listener: socket.socket,
    token: str,
    program: Sequence[str],
    environment: Mapping[str, str],
    stop: StopSignals,
) -> None:
    try:
        connection, peer = listener.accept()
    except OSError as error:  # it has gone meanwhile, or this process has no descriptor left
        print(f"rclrt agent: a connection failed: {error}", file=sys.stderr, flush=True)
        time.sleep(_AFTER_FAILURE_S)
        return
    with connection:
        try:
            accept(connection, token, PROVE_S)
        except (Refused, OSError) as error:
            print(f"rclrt agent: {peer[0]} was refused: {error}", file=sys.stderr, flush=True)
            return
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _SILENCE_MS)
        print(f"rclrt agent: a run of {peer[0]}", file=sys.stderr, flush=True)
        try:
            child = subprocess.Popen(
                program,
                stdin=connection.fileno(),
                stdout=connection.fileno(),
                env=environment,
                start_new_session=True,
                preexec_fn=end_with_parent(),
            )
        except OSError as error:
            print(f"rclrt agent: {program[0]}: {error}", file=sys.stderr, flush=True)
            return
    ended = os.pidfd_open(child.pid)
    try:
        while child.poll() is None and not stop.requested:
            stop.wait(ended, None)
    finally:
        os.close(ended)
        if child.poll() is None:
            child.terminate()
        wait_or_kill(child, _PATIENCE_S)
