# SPDX-License-Identifier: Apache-2.0
"""Tables on the terminal, at most 120 columns wide, and in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TextIO

LINE_WIDTH = 120
GAP = 2
"""Minimum number of blanks between columns, if the widths come from the cells."""
_COLOUR = re.compile(r"\x1b\[\d+m")


class Paint:
    """ANSI colours, or nothing."""

    def __init__(self, on: bool) -> None:
        self._on = on

    @classmethod
    def of(cls, stream: TextIO, environment: Mapping[str, str]) -> Paint:
        """Returns colours for a terminal, unless NO_COLOR is set."""
        return cls(stream.isatty() and not environment.get("NO_COLOR"))

    def bold(self, text: str) -> str:
        return f"\x1b[1m{text}\x1b[0m" if self._on else text

    def red(self, text: str) -> str:
        return f"\x1b[31m{text}\x1b[0m" if self._on else text

    def dim(self, text: str) -> str:
        return f"\x1b[2m{text}\x1b[0m" if self._on else text


class Columns:
    """The widths of a table's columns: the first `left` are aligned left, the others right."""

    def __init__(self, *widths: int, left: int = 1) -> None:
        self.widths = widths
        self.left = left

    @classmethod
    def named(cls, names: Iterable[str], *widths: int) -> Columns:
        """Returns columns of which the first is as wide as the longest of `names` and a gap."""
        return cls(max(map(len, names), default=0) + GAP, *widths)

    @classmethod
    def fitted(cls, rows: Sequence[Sequence[str]], left: int = 1) -> Columns:
        """Returns columns as wide as their longest cell, with a gap before the next column."""
        longest = [max(map(len, column)) for column in zip(*rows, strict=True)]
        between = [
            GAP * (index >= left) + GAP * (index + 1 < left) for index in range(len(longest))
        ]
        return cls(*(width + gap for width, gap in zip(longest, between, strict=True)), left=left)

    @property
    def indent(self) -> str:
        """Returns blanks as wide as the first column."""
        return " " * self.widths[0]

    def line(self, *cells: str) -> str:
        """Returns a table row from the texts of its cells, without blanks at the end. Each cell is
        padded to the width of its column; cells beyond the last column are not. Colour codes do not
        count as width."""
        count = len(self.widths)
        padded = [
            _padded(cell, width, index < self.left)
            for index, (cell, width) in enumerate(zip(cells, self.widths, strict=False))
        ]
        return "".join([*padded, *cells[count:]]).rstrip()


def _padded(cell: str, width: int, left: bool) -> str:
    blanks = " " * (width - len(_COLOUR.sub("", cell)))
    return cell + blanks if left else blanks + cell


def fitted_lines(rows: Sequence[Sequence[str]], left: int = 1) -> Iterator[str]:
    """Yields the rows as lines. Every column is as wide as its longest cell."""
    columns = Columns.fitted(rows, left)
    return (columns.line(*row) for row in rows)


def markdown_lines(
    heads: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1
) -> Iterator[str]:
    """Yields a table in Markdown: the first `left` columns are aligned left, the others right."""
    yield _markdown_line(heads)
    yield _markdown_line(["---" if index < left else "--:" for index in range(len(heads))])
    for row in rows:
        yield _markdown_line(row)


def _markdown_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
