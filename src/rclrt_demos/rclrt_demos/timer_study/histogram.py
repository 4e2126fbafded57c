# SPDX-License-Identifier: Apache-2.0
"""A histogram as the programs write it, and the picture of several side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rclrt_py.errors import BadInput
from rclrt_py.files.json_reader import read_text
from rclrt_py.pages.svg import FAINT, GRID, WIDTH, line, picture, text

HEAD = "latency,count"
OVERFLOW = "overflow"
BARS = "#2f6f9f"
BEYOND = "#b5442f"
BAND = "#e6b450"
COLUMNS = 2
PANEL_HEIGHT, TOP, GAP, LEFT = 190.0, 34.0, 46.0, 44.0


@dataclass(frozen=True)
class Histogram:
    """Counts of latencies in bins of 1 µs from 0, and of those above."""

    counts: tuple[int, ...]
    overflow: int

    @property
    def n(self) -> int:
        return sum(self.counts) + self.overflow

    @property
    def last(self) -> int:
        """The last bin that is not empty."""
        return max((i for i, count in enumerate(self.counts) if count), default=0)


def read_histogram(path: Path) -> Histogram:
    """Throws BadInput that names the line."""
    lines = read_text(path).splitlines()
    if not lines or lines[0] != HEAD:
        raise BadInput(f"{path}:1: expected the line {HEAD}")
    counts: list[int] = []
    overflow: int | None = None
    for number, row in enumerate(lines[1:], start=2):
        name, _, count = row.partition(",")
        if not count.isdecimal() or overflow is not None:
            raise BadInput(f"{path}:{number}: '{row}'; expected LATENCY,COUNT and one overflow row")
        if name == OVERFLOW:
            overflow = int(count)
        elif name == str(len(counts)):
            counts.append(int(count))
        else:
            raise BadInput(f"{path}:{number}: the latency is {name}; expected {len(counts)}")
    if overflow is None:
        raise BadInput(f"{path}: ends without a row {OVERFLOW},COUNT; expected it as the last")
    return Histogram(tuple(counts), overflow)


@dataclass(frozen=True)
class Panel:
    title: str
    histogram: Histogram
    published_us: tuple[int, int] | None


def side_by_side(panels: Sequence[Panel]) -> str:
    """Draws the histograms as an SVG with a panel for each, with the same axes. The axis of counts
    is logarithmic, so that one late wake-up among thousands is visible."""
    published = max((each.published_us[1] for each in panels if each.published_us), default=0)
    widest = max((each.histogram.last for each in panels), default=0)
    longest_us = _round_up(max(widest + 1, published, 10))
    most = max((max(each.histogram.counts, default=1) for each in panels), default=1)
    rows = math.ceil(len(panels) / COLUMNS)
    parts: list[str] = []
    for index, panel in enumerate(panels):
        width = WIDTH / COLUMNS
        left = (index % COLUMNS) * width + LEFT
        top = TOP + (index // COLUMNS) * (PANEL_HEIGHT + TOP + GAP)
        parts += _panel(panel, left, top, width - LEFT - 16, longest_us, max(most, 10))
    return picture(parts, rows * (PANEL_HEIGHT + TOP + GAP))


def _round_up(value: float) -> int:
    """1, 2 or 5 times a power of ten."""
    power = 10 ** math.floor(math.log10(value))
    return int(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= value))


def _panel(
    panel: Panel, left: float, top: float, width: float, longest_us: int, most: int
) -> Iterator[str]:
    bottom = top + PANEL_HEIGHT
    decades = math.ceil(math.log10(most)) if most > 1 else 1

    def x(us: float) -> float:
        return left + width * us / longest_us

    def y(count: float) -> float:
        return bottom - PANEL_HEIGHT * math.log10(max(count, 1) * 2) / (decades + math.log10(2))

    yield text(left, top - 12, panel.title, bold=True)
    if panel.published_us:
        low, high = panel.published_us
        yield (
            f'<rect x="{x(low):.1f}" y="{top:.1f}" width="{x(high) - x(low):.1f}" '
            f'height="{PANEL_HEIGHT:.1f}" fill="{BAND}" fill-opacity="0.25"/>'
        )
        label = f"published {low} to {high} µs"
        if high < longest_us / 2:  # beside the band, where bars are few
            yield text(x(high) + 4, top + 12, label, FAINT, size=10)
        else:
            yield text(x(high) - 4, top + 12, label, FAINT, "end", size=10)
    for decade in range(decades + 1):
        yield line(left, y(10**decade), left + width, y(10**decade), GRID)
        yield text(left - 5, y(10**decade) + 4, f"1e{decade}", FAINT, "end", size=10)
    for step in range(6):
        us = longest_us * step / 5
        anchor = "end" if step == 5 else "middle"
        yield text(
            x(us), bottom + 14, f"{us:g} µs" if step == 5 else f"{us:g}", FAINT, anchor, size=10
        )
    for us, count in enumerate(panel.histogram.counts):
        if count:
            yield line(x(us + 0.5), bottom, x(us + 0.5), y(count), BARS, max(width / longest_us, 1))
    beyond = panel.histogram.overflow
    note = f"{beyond} of {panel.histogram.n} took 1 ms or longer" if beyond else ""
    yield text(left + width, bottom + 28, note, BEYOND, "end", size=11)
    yield line(left, bottom, left + width, bottom, FAINT)
