# SPDX-License-Identifier: Apache-2.0
"""Runs the program that measures. Its standard error is the user's, for the live line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from rclrt_py.errors import EXIT_BAD_INPUT, BadInput, RunFailed
from rclrt_py.processes.parent_death import end_with_parent
from rclrt_py.processes.stop_signals import StopSignals


def measure(command: Sequence[str], stop: StopSignals) -> tuple[int, str]:
    """Runs the program; returns its exit code, and the document that it wrote.

    A request to stop is passed on to the program; the document then has the measurements until that
    time. Throws BadInput or RunFailed if there is no document; the program has then reported the
    cause.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        try:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                start_new_session=True,
                preexec_fn=end_with_parent(),
            )
        except OSError as error:
            raise RunFailed(f"{command[0]}: cannot be started: {error.strerror}") from error
        try:
            _wait(child, stop)
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
        output.seek(0)
        text = output.read()
    if text:
        return child.returncode, text
    sys.stderr.flush()
    if child.returncode == EXIT_BAD_INPUT:
        raise BadInput("nothing was measured")
    raise RunFailed(f"the program measured nothing and ended with exit code {child.returncode}")


def _wait(child: subprocess.Popen[bytes], stop: StopSignals) -> None:
    descriptor = os.pidfd_open(child.pid)
    passed_on = 0
    try:
        while child.poll() is None:
            if stop.count > passed_on:
                child.send_signal(signal.SIGINT)
                passed_on += 1
            stop.wait(descriptor, None)
    finally:
        os.close(descriptor)
