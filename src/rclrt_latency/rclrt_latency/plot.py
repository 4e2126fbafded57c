# SPDX-License-Identifier: Apache-2.0
"""A histogram as SVG, both axes logarithmic: a line per policy or slice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rclrt_py.pages.scale import COLOURS, LogScale
from rclrt_py.pages.svg import FAINT, GRID, INK, WIDTH, line, picture, text

LEFT, RIGHT, TOP, BOTTOM = 80.0, WIDTH - 24.0, 70.0, 370.0
STEPS_PER_DECADE = 20


@dataclass(frozen=True)
class Curve:
    """`bins`: whole microseconds, rounded down, and the number of samples."""

    name: str
    bins: Mapping[int, int]

    def steps(self) -> list[tuple[float, int]]:
        """The counts of equally wide steps on a logarithmic axis, by where each step begins."""
        counts: dict[int, int] = {}
        for time_us, count in self.bins.items():
            step = _step_of(time_us)
            counts[step] = counts.get(step, 0) + count
        return [(_start_of(step), count) for step, count in sorted(counts.items())]


def _step_of(time_us: int) -> int:
    """The last step that does not begin above the middle of the bin."""
    step = 0
    while _start_of(step + 1) <= time_us + 0.5:
        step += 1
    return step


def _start_of(step: int) -> float:
    return float(10 ** (step / STEPS_PER_DECADE))


def histogram_picture(title: str, curves: Sequence[Curve]) -> str:
    """The whole file; with no samples at all, only the title."""
    parts = [text(16, 24, title, INK, bold=True, size=15)]
    shown = [curve for curve in curves if curve.bins]
    if shown:
        parts += _curves(shown)
    return picture(parts, BOTTOM + 54)


def _curves(curves: Sequence[Curve]) -> Iterator[str]:
    x = LogScale.around([1.0, *(max(curve.bins) + 1.0 for curve in curves)], LEFT, RIGHT)
    most = max(count for curve in curves for _, count in curve.steps())
    y = LogScale.around([1.0, float(most)], BOTTOM, TOP)
    for tick in x.ticks():
        yield line(x(tick), TOP, x(tick), BOTTOM, GRID)
        label = f"{tick / 1000:g} ms" if tick >= 1000 else f"{tick:g} µs"
        yield text(x(tick), BOTTOM + 18, label, FAINT, "middle")
    for tick in y.ticks():
        yield line(LEFT, y(tick), RIGHT, y(tick), GRID)
        yield text(LEFT - 8, y(tick) + 4, f"{tick:g}", FAINT, "end")
    yield text(LEFT, BOTTOM + 40, f"samples, {STEPS_PER_DECADE} steps per decade", FAINT)
    place = LEFT
    for index, curve in enumerate(curves):
        paint = COLOURS[(index + 4) % len(COLOURS)]
        total = f"{curve.name} ({sum(curve.bins.values())})"
        yield line(place, 48, place + 18, 48, paint, 3)
        yield text(place + 24, 52, total)
        place += 44 + 7.2 * len(total)
        yield _outline(curve, x, y, paint)


def _outline(curve: Curve, x: LogScale, y: LogScale, paint: str) -> str:
    """Steps from one count to the next; between occupied steps it goes down to the axis."""
    ratio = _start_of(1)
    path = []
    for start, count in curve.steps():
        left, right, top = x(start), x(start * ratio), y(count)
        path.append(f"M {left:.1f} {BOTTOM:.1f} V {top:.1f} H {right:.1f} V {BOTTOM:.1f}")
    return (
        f'<path d="{" ".join(path)}" fill="{paint}" fill-opacity="0.25" stroke="{paint}" '
        'stroke-width="1.5"/>'
    )
