# SPDX-License-Identifier: Apache-2.0
"""Children that end with the command that started them, even if that one is killed, and those
that must end soon."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Callable
from functools import partial

PR_SET_PDEATHSIG = 1


def end_with_parent() -> Callable[[], None]:
    """Returns a function for a child process to call before it runs its program, as `preexec_fn` of
    subprocess.Popen or after fork(). After that call, the kernel sends the child SIGTERM when the
    thread that started the child ends."""
    return partial(_end_with, os.getpid())


def _end_with(parent: int) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != parent:  # it ended before the line above
        os.kill(os.getpid(), signal.SIGTERM)


def wait_or_kill(child: subprocess.Popen[bytes], patience_s: float) -> None:
    """Waits until a child with a session of its own has ended. Kills it, with its children, if that
    takes longer."""
    try:
        child.wait(patience_s)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
