# SPDX-License-Identifier: Apache-2.0
"""Children that end with the command that started them, even if that one is killed."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

PR_SET_PDEATHSIG = 1


def end_with_parent() -> Callable[[], None]:
    """Returns what a child of this process does before it becomes its program, as `preexec_fn` of
    subprocess.Popen: from then on the kernel sends it SIGTERM when this process ends."""
    parent = os.getpid()
    prctl = ctypes.CDLL(None).prctl

    def prepare() -> None:
        prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != parent:  # it ended before the line above
            os.kill(os.getpid(), signal.SIGTERM)

    return prepare
