# SPDX-License-Identifier: Apache-2.0
"""Tables on the terminal, at most 120 columns wide."""

from __future__ import annotations

LINE_WIDTH = 120


class Paint:
    """ANSI colours, or nothing."""

    def __init__(self, on: bool) -> None:
        self._on = on

    def bold(self, text: str) -> str:
        return f"\x1b[1m{text}\x1b[0m" if self._on else text

    def red(self, text: str) -> str:
        return f"\x1b[31m{text}\x1b[0m" if self._on else text

    def dim(self, text: str) -> str:
        return f"\x1b[2m{text}\x1b[0m" if self._on else text
