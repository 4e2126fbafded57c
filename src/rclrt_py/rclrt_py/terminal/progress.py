# SPDX-License-Identifier: Apache-2.0
"""The progress of a measurement: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from typing import TextIO

BAR_WIDTH = 24


class Progress:
    """Progress over steps of known length. `total_s` is the sum of all lengths."""

    def __init__(self, stream: TextIO, total_s: float) -> None:
        self._stream = stream
        self._total = total_s
        self._before = 0.0
        self._seconds = 0.0
        self._label = ""
        self._width = 0
        self._started = time.monotonic()
        self.live = stream.isatty()

    def step(self, label: str, seconds: float) -> None:
        self._label, self._seconds = label, seconds
        if self.live:
            self.tick(0.0)

    def tick(self, elapsed: float) -> None:
        """Redraws the bar. The step's part never exceeds its length."""
        done = self._before + min(elapsed, self._seconds)
        self.show(done, f"{done:5.1f} of {self._total:.1f} s  {self._label}")

    def show(self, done: float, text: str) -> None:
        """Redraws the bar, filled as far as `done` is of the total, with a text of the caller."""
        filled = int(BAR_WIDTH * done / self._total) if self._total else BAR_WIDTH
        bar = "█" * filled + "░" * (BAR_WIDTH - filled)
        self._redraw(f"{bar} {text}")

    def finished(self, outcome: str) -> None:
        """Ends the step with a line that stays."""
        self._before += self._seconds
        self.say(f"{self._label}  {outcome}")

    def say(self, line: str) -> None:
        self.clear()
        print(line, file=self._stream, flush=True)

    def clear(self) -> None:
        if self._width:
            self._redraw("")
            self._stream.write("\r")
            self._width = 0

    def _redraw(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)
