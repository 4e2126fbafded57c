# SPDX-License-Identifier: Apache-2.0
"""Tests whether this process may be real-time."""

from __future__ import annotations

import os

from rclrt_py.processes.realtime import fifo_permitted


def test_the_attempt_leaves_this_thread_as_it_was() -> None:
    before = os.sched_getscheduler(0)
    fifo_permitted()
    assert os.sched_getscheduler(0) == before
