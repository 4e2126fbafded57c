# SPDX-License-Identifier: Apache-2.0
"""Tests whether this process may be real-time."""

from __future__ import annotations

import os
import threading

RTPRIO = 99
"""Priority of the host-stall probe of `rclrt latency`, above everything that is measured."""


def fifo_permitted(priority: int = RTPRIO) -> str | None:
    """Returns None if this user's threads may run under SCHED_FIFO with this priority; otherwise
    the reason as text."""
    problem: list[str | None] = [None]

    def attempt() -> None:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
        except OSError as error:
            problem[0] = error.strerror

    # A thread of its own: the policy ends with the thread.
    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return problem[0]
