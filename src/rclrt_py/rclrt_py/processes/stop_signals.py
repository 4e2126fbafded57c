# SPDX-License-Identifier: Apache-2.0
"""Counts the signals that ask to stop, so that they do not interrupt at any point."""

from __future__ import annotations

import os
import select
import signal
from types import FrameType, TracebackType
from typing import Any

_PATIENCE = 3
"""The signal with this number ends the command at once."""


class StopSignals:
    """A context manager that counts SIGINT, SIGTERM and SIGHUP in its block instead of ending the
    process; the third signal raises KeyboardInterrupt. SIGHUP stays ignored if it was ignored
    before (under nohup)."""

    def __init__(self) -> None:
        self.count = 0
        self.signal: int | None = None
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> StopSignals:
        self._read, self._write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN:
                continue
            self._previous[number] = signal.signal(number, self._received)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._read)
        os.close(self._write)

    @property
    def requested(self) -> bool:
        return self.count > 0

    @property
    def exit_code(self) -> int:
        """Returns 128 + the signal's number, as shells do: 130 for Ctrl-C."""
        return 128 + (self.signal or signal.SIGINT)

    def wait(self, descriptor: int, timeout: float | None) -> None:
        """Returns when `descriptor` is readable, a signal came, or the time is over."""
        ready, _, _ = select.select([descriptor, self._read], [], [], timeout)
        if self._read in ready:
            os.read(self._read, 4096)

    def _received(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        self.signal = self.signal or number
        if self.count >= _PATIENCE:
            raise KeyboardInterrupt
