# SPDX-License-Identifier: Apache-2.0
"""A test waits for a condition, with a generous limit, and never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable

GENEROUS_S = 600.0
"""Only a test that hangs takes as long."""


def wait_for(condition: Callable[[], bool]) -> None:
    """Returns when the condition holds. Throws TimeoutError if it does not hold for very long."""
    deadline = time.monotonic() + GENEROUS_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("the condition did not come true")
        time.sleep(0.01)
