# SPDX-License-Identifier: Apache-2.0
"""The live table, and what other programs state about the clock meanwhile."""

from __future__ import annotations

import os
import sys
from collections import deque
from typing import Any

from rclrt_py.clocks.sources import ClockSource, clock_sources
from rclrt_py.processes.background_thread import BackgroundThread
from rclrt_py.terminal.table import Paint

from rclrt_clock.offsets import Offsets
from rclrt_clock.table import TEST_CLOCK, event_line, lines

_CLEAR = "\x1b[H\x1b[2J"
_EVENTS_SHOWN = 5
_ASK_EVERY_S = 10.0


class Sources(BackgroundThread):
    """Asks chrony, ptp4l and the kernel every ten seconds, on a thread of its own, because they may
    answer slowly."""

    def __init__(self) -> None:
        super().__init__()
        self.known: list[ClockSource] = []

    def _after_end(self) -> None:
        self.known = clock_sources()  # as of the end

    def _run(self) -> None:
        while True:
            self.known = clock_sources()
            if self._ended.wait(_ASK_EVERY_S):
                return


class View:
    """Shows events as they come and, on a terminal, the table once per report."""

    def __init__(self, offsets: Offsets, sources: Sources, is_live: bool) -> None:
        self._offsets = offsets
        self._sources = sources
        self._is_live = is_live
        self._events: deque[str] = deque(maxlen=_EVENTS_SHOWN)

    def take(self, line: dict[str, Any]) -> None:
        """Shows a line that the offsets have taken."""
        if "rclrt_clock" in line:
            if line.get("test_clock"):
                print(f"rclrt: {TEST_CLOCK}", file=sys.stderr)
        elif "event" in line:
            text = event_line(line, self._offsets.start.get("drift_ppm", 0.0))
            self._events.append(text)
            if not self._is_live:
                print(f"rclrt: {text}", file=sys.stderr)
        elif "report" in line and self._is_live:
            self._draw()

    def _draw(self) -> None:
        paint = Paint.of(sys.stdout, os.environ)
        table = lines(self._offsets, self._sources.known, paint)
        print(_CLEAR + "\n".join([*table, *(paint.dim(each) for each in self._events)]))
        sys.stdout.flush()
