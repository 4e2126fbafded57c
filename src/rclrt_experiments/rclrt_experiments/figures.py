# SPDX-License-Identifier: Apache-2.0
"""Makes SVG figures: box plots, and values with confidence intervals, one colour per executor."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from rclrt_py.executors import EXECUTORS
from rclrt_py.pages.svg import FAINT, GRID, INK, WIDTH, line, picture, text
from rclrt_py.stats import nearest_rank

from rclrt_experiments.metrics import Estimate

LABELS = {
    "wait_set": "wait set (standard)",
    "producer_consumer": "producer-consumer (PC)",
    "thread_dispatch": "thread-dispatch (TD)",
    "thread_dispatch+synthesis": "TD + synthesis",
    "preemptive+synthesis": "preemptive + synthesis",
    "preemptive+sampled": "preemptive, sampled",
    "preemptive+let": "preemptive, LET",
    "edf": "EDF",
    "picas": "PiCAS",
}
_OF_KINDS = (
    "#8a8a8a", "#e69f00", "#0072b2", "#009e73", "#cc79a7", "#d55e00", "#333333", "#a6761d",
    "#7f7f2a", "#4e79a7",
)  # fmt: skip
COLOURS = {
    **dict(zip(EXECUTORS, _OF_KINDS, strict=False)),
    "thread_dispatch+synthesis": "#56b4e9",
    "preemptive+synthesis": "#6b5b95",
    "preemptive+sampled": "#e69f00",
    "preemptive+let": "#0072b2",
}
SPARE = ("#1b9e77", "#7570b3", "#e7298a", "#66a61e", "#a6cee3", "#b15928", "#fb9a99", "#6a3d9a")
"""Colours of executors with options, and of new kinds."""
LATE = "#c0392b"
LEFT, RIGHT, TOP, HEIGHT = 62, 16, 66, 260
MOST = 5.0
"""Largest value of an axis, as in the thesis's figures. Values above it are counted, not drawn."""


@dataclass(frozen=True)
class Box:
    """Quartiles, the 2nd and 98th percentile, the best and the worst value."""

    low: float
    first: float
    middle: float
    third: float
    high: float
    best: float
    worst: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Box:
        ordered = sorted(values)
        low, first, middle, third, high = (
            nearest_rank(ordered, percent) for percent in (2, 25, 50, 75, 98)
        )
        return cls(low, first, middle, third, high, ordered[0], ordered[-1])


@dataclass(frozen=True)
class Frame:
    """The axes: groups along x, a linear scale from 0 along y."""

    title: str
    groups: Sequence[str]
    executors: Sequence[str]
    x_label: str
    y_label: str
    top: float
    """The largest value that is drawn."""

    def y(self, value: float) -> float:
        return TOP + HEIGHT * (1 - min(max(value, 0.0), self.top) / self.top)

    def x(self, group: int, executor: int) -> float:
        width = self.group_width
        return LEFT + width * (group + 0.12 + 0.76 * (executor + 0.5) / len(self.executors))

    @property
    def group_width(self) -> float:
        return (WIDTH - LEFT - RIGHT) / len(self.groups)

    @property
    def bar_width(self) -> float:
        return min(22.0, 0.76 * self.group_width / len(self.executors) * 0.7)

    def axes(self) -> Iterator[str]:
        yield text(LEFT - 46, 22, self.title, bold=True, size=15)
        x = float(LEFT - 46)
        for name in self.executors:
            label = LABELS.get(name, name)
            yield line(x, 42, x + 16, 42, colour_of(name), 5)
            yield text(x + 22, 46, label)
            x += 38 + 6.6 * len(label)
        step = tick_step(self.top)
        for n in range(int(self.top / step + 1e-9) + 1):
            yield line(LEFT, self.y(n * step), WIDTH - RIGHT, self.y(n * step), GRID)
            yield text(LEFT - 8, self.y(n * step) + 4, f"{n * step:g}", FAINT, "end")
        for number, group in enumerate(self.groups):
            middle = LEFT + self.group_width * (number + 0.5)
            yield text(middle, TOP + HEIGHT + 18, group, FAINT, "middle")
        below = TOP + HEIGHT + 38
        yield text((LEFT + WIDTH - RIGHT) / 2, below, self.x_label, INK, "middle")
        yield text(LEFT - 46, below, self.y_label, FAINT)

    def picture(self, parts: Sequence[str]) -> str:
        return picture([*self.axes(), *parts], TOP + HEIGHT + 50)


def colour_of(executor: str) -> str:
    """Returns the executor's colour as "#rrggbb", the same in every figure. An executor with
    options gets a colour by a hash of its name, so two of them may have the same colour."""
    return COLOURS.get(executor) or SPARE[zlib.crc32(executor.encode()) % len(SPARE)]


def tick_step(top: float) -> float:
    """Returns 1, 2 or 5 times a power of ten, which gives four to ten ticks."""
    rough = top / 7
    power = 10.0 ** math.floor(math.log10(rough))
    return power * next(factor for factor in (1, 2, 5, 10) if factor * power >= rough)


def box_plot(
    title: str,
    groups: Sequence[str],
    boxes: Mapping[tuple[str, str], Box],
    executors: Sequence[str],
    x_label: str,
    y_label: str,
    *,
    deadline: float | None = None,
    most: float = MOST,
    published: Mapping[tuple[str, str], float] = MappingProxyType({}),
) -> str:
    """Draws a box plot as SVG, with a box for each group and executor in `boxes`. A box is from the
    first to the third quartile, its whiskers from the 2nd to the 98th percentile; a dot is the
    worst value, and a diamond the median in `published`, if there is one."""
    highest = max((box.worst for box in boxes.values()), default=1.0)
    top = min(most, max(highest * 1.05, 1e-9, (deadline or 0) * 1.1))
    frame = Frame(title, groups, executors, x_label, y_label, top)
    parts = []
    if deadline is not None:
        level = frame.y(deadline)
        parts.append(
            f'<line x1="{LEFT}" y1="{level:.1f}" x2="{WIDTH - RIGHT}" y2="{level:.1f}" '
            f'stroke="{LATE}" stroke-dasharray="6 4"/>'
        )
    for g, group in enumerate(groups):
        for e, executor in enumerate(executors):
            box = boxes.get((group, executor))
            if box is not None:
                parts += _box(frame, box, frame.x(g, e), colour_of(executor))
            if (group, executor) in published:
                parts.append(_diamond(frame, published[group, executor], frame.x(g, e), executor))
    return frame.picture(parts)


def _box(frame: Frame, box: Box, x: float, paint: str) -> Iterator[str]:
    half = frame.bar_width / 2
    yield line(x, frame.y(box.low), x, frame.y(box.high), paint, 1.5)
    top, bottom = frame.y(box.third), frame.y(box.first)
    yield (
        f'<rect x="{x - half:.1f}" y="{top:.1f}" width="{2 * half:.1f}" '
        f'height="{max(bottom - top, 1):.1f}" fill="{paint}" fill-opacity="0.35" stroke="{paint}"/>'
    )
    yield line(x - half, frame.y(box.middle), x + half, frame.y(box.middle), paint, 2.5)
    if box.worst <= frame.top:
        yield f'<circle cx="{x:.1f}" cy="{frame.y(box.worst):.1f}" r="2.2" fill="{paint}"/>'
    else:
        yield text(x, TOP + 10, "▲", paint, "middle", size=10)


def _diamond(frame: Frame, value: float, x: float, executor: str) -> str:
    """Draws a published value."""
    y, half = frame.y(value), 5.0
    corners = ((x, y - half), (x + half, y), (x, y + half), (x - half, y))
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)
    paint = colour_of(executor)
    return f'<polygon points="{points}" fill="#fff" stroke="{paint}" stroke-width="1.5"/>'


def value_plot(
    title: str,
    groups: Sequence[str],
    values: Mapping[tuple[str, str], Estimate],
    executors: Sequence[str],
    x_label: str,
    y_label: str,
    published: Mapping[tuple[str, str], float] = MappingProxyType({}),
) -> str:
    """Draws points joined by lines, with confidence intervals; diamonds are published values."""
    highest = max([each.high for each in values.values()] + list(published.values()), default=0.0)
    frame = Frame(title, groups, executors, x_label, y_label, highest * 1.08 or 1.0)
    parts = []
    for e, executor in enumerate(executors):
        paint = colour_of(executor)
        places = []
        for g, group in enumerate(groups):
            own = values.get((group, executor))
            if own is not None:
                x = frame.x(g, e)
                places.append((x, frame.y(own.value)))
                parts.append(line(x, frame.y(own.low), x, frame.y(own.high), paint, 1.5))
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{paint}" stroke-width="1.5"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{paint}"/>' for x, y in places]
        parts += [
            _diamond(frame, published[group, executor], frame.x(g, e), executor)
            for g, group in enumerate(groups)
            if (group, executor) in published
        ]
    return frame.picture(parts)
