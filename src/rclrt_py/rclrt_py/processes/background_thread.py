# SPDX-License-Identifier: Apache-2.0
"""A thread that runs while a `with` block does."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class BackgroundThread(ABC):
    """Runs _run() in a thread of its own, inside of a `with` block. The end of the block waits for
    the thread."""

    def __init__(self, name: str | None = None) -> None:
        self._ended = threading.Event()
        """Is set at the end of the block: _run() then has to return."""
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._after_end()

    @abstractmethod
    def _run(self) -> None:
        """Is the work of the thread."""

    def _after_end(self) -> None:  # noqa: B027 - a subclass may have nothing to do
        """Is called by __exit__() when the thread has ended."""
