# SPDX-License-Identifier: Apache-2.0
"""Runs the program that pings, and reads its lines."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence

from rclrt_py.errors import EXIT_BAD_INPUT, BadInput, RunFailed
from rclrt_py.processes.parent_death import end_with_parent
from rclrt_py.processes.stop_signals import StopSignals

PACKAGE = "rclrt_clock"
_CHUNK = 1 << 16


def lines_of(
    command: Sequence[str], environment: Mapping[str, str], stop: StopSignals
) -> Iterator[str]:
    """Yields the lines that the program writes, until it ends. A request to stop is passed on to
    it. Its standard error is the user's. Throws BadInput or RunFailed if it fails."""
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=end_with_parent(),
            env=environment,
        )
    except OSError as error:
        raise RunFailed(f"{command[0]}: cannot be started: {error.strerror}") from error
    try:
        yield from _read(child, stop)
        child.wait()
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
        if child.stdout is not None:
            child.stdout.close()
    if child.returncode == EXIT_BAD_INPUT:
        raise BadInput("nothing was measured")
    if child.returncode != 0 and not stop.requested:
        raise RunFailed(f"the program ended with exit code {child.returncode}")


def _read(child: subprocess.Popen[bytes], stop: StopSignals) -> Iterator[str]:
    assert child.stdout is not None
    descriptor = child.stdout.fileno()
    os.set_blocking(descriptor, False)
    begun = b""
    passed_on = 0
    while True:
        if stop.count > passed_on:
            child.send_signal(signal.SIGINT)
            passed_on = stop.count
        stop.wait(descriptor, None)
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            continue
        if not data:
            return
        *whole, begun = (begun + data).split(b"\n")
        yield from (line.decode(errors="replace") for line in whole)
