# SPDX-License-Identifier: Apache-2.0
"""Whether this process may be real-time."""

from __future__ import annotations

import os
import threading

RTPRIO = 99
"""Of the probe for the host's stalls in `rclrt latency`, above all that is measured."""


def fifo_permitted(priority: int = RTPRIO) -> str | None:
    """None when a thread may run under SCHED_FIFO with this priority, else why not."""
    problem: list[str | None] = [None]

    def attempt() -> None:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
        except OSError as error:
            problem[0] = error.strerror

    # A thread of its own: it takes the policy with it when it ends.
    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return problem[0]
