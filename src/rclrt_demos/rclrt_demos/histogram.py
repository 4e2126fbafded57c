# SPDX-License-Identifier: Apache-2.0
"""The picture of an exercise: a histogram of the slice for each variant, on one scale."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rclrt_py.pages.svg import FAINT, GRID, INK, WIDTH, line, picture, text

from rclrt_demos.exercises import BASELINE, SOLUTION, Exercise, Measure
from rclrt_demos.measured import NS_PER_US, Statistics
from rclrt_demos.rounds import Outcome
from rclrt_demos.scales import Scale, time_label

COLOURS = {BASELINE: "#d55e00", SOLUTION: "#009e73"}
LATE = "#c0392b"
LEFT, RIGHT, TOP, PANEL, GAP = 62.0, 32.0, 44.0, 110.0, 42.0
BINS = 110
LABEL = 90.0
"""The width of a mark's label."""


@dataclass(frozen=True)
class Histogram:
    """How many values lie in each of the bins, which are equally wide as drawn."""

    scale: Scale
    counts: Sequence[int]

    @classmethod
    def of(cls, values: Sequence[int], scale: Scale, bins: int = BINS) -> Histogram:
        counts = [0] * bins
        for value in values:
            part = (scale(value) - scale.start) / (scale.end - scale.start)
            counts[min(int(part * bins), bins - 1)] += 1
        return cls(scale, counts)


def draw(outcome: Outcome) -> str:
    """An SVG. Counts have a logarithmic scale, so that a single large value is seen."""
    exercise = outcome.exercise
    values = {
        variant: outcome.pooled(variant).slices[exercise.slice_name] for variant in outcome.variants
    }
    marks = [mark for marks in _marks(exercise).values() for mark, _ in marks]
    everything = [float(value) for own in values.values() for value in own] + marks
    # Where the spread is judged the values lie close together, and a linear scale shows it.
    logarithmic = exercise.measure is not Measure.SPREAD
    scale = Scale.of_times(everything, LEFT, WIDTH - RIGHT, logarithmic)
    histograms = {variant: Histogram.of(own, scale) for variant, own in values.items()}
    most = max(max(each.counts) for each in histograms.values())
    under = f"under stress ({outcome.stress})" if outcome.stress else "without stress"
    title = f"Exercise {exercise.name}: {exercise.slice_name}, {under}"
    parts = [text(16, 24, title, bold=True, size=15)]
    top = TOP
    for variant in outcome.variants:
        found = outcome.statistics(variant)
        if found is not None:
            parts += _panel(exercise, variant, histograms[variant], found, most, top)
        top += PANEL + GAP
    parts += [
        text(scale(tick), top - GAP + 16 + 18, time_label(tick), FAINT, "middle")
        for tick in scale.ticks()
    ]
    parts.append(text(16, top + 12, "count, logarithmic", FAINT))
    return picture(parts, top + 24)


def _panel(
    exercise: Exercise,
    variant: str,
    histogram: Histogram,
    found: Statistics,
    most: int,
    top: float,
) -> Iterator[str]:
    paint, scale = COLOURS[variant], histogram.scale
    base = top + 18 + PANEL
    yield text(LEFT, top + 10, exercise.variant_label(variant), paint, bold=True)
    yield text(WIDTH - RIGHT, top + 10, _figures(found), INK, "end")

    def height(count: float) -> float:
        return PANEL * math.log1p(count) / math.log1p(most)

    for tick in scale.ticks():
        yield line(scale(tick), base - PANEL, scale(tick), base, GRID)
    for power in range(math.floor(math.log10(most)) + 1):
        y = base - height(10**power)
        yield line(LEFT, y, WIDTH - RIGHT, y, GRID)
        yield text(LEFT - 8, y + 4, f"{10**power:g}", FAINT, "end")
    width = (scale.end - scale.start) / len(histogram.counts)
    for number, count in enumerate(histogram.counts):
        if count:
            yield (
                f'<rect x="{scale.start + number * width:.1f}" y="{base - height(count):.1f}" '
                f'width="{width * 0.92:.1f}" height="{height(count):.1f}" fill="{paint}"/>'
            )
    if exercise.limit_us is not None and exercise.limit_us * NS_PER_US < scale.high:
        x = scale(exercise.limit_us * NS_PER_US)
        yield _dashed(x, base - PANEL, base, LATE)
        yield text(x + 4, base - PANEL + 11, exercise.limit_name, LATE, size=11)
    for place, words in _marks(exercise).get(variant, ()):
        x = scale(place)
        outside = words.endswith("min") and x - LEFT > LABEL
        left = outside or x + LABEL > WIDTH - RIGHT
        yield _dashed(x, base - PANEL, base, FAINT)
        yield text(
            x - 4 if left else x + 4,
            base - PANEL + 24,
            words,
            FAINT,
            "end" if left else "start",
            size=11,
        )
    yield line(LEFT, base, WIDTH - RIGHT, base, FAINT)


def _marks(exercise: Exercise) -> dict[str, list[tuple[float, str]]]:
    """The workshop's smallest and largest values in nanoseconds, and their labels."""
    return {
        variant: [
            (place * NS_PER_US, f"workshop's {which}")
            for place, which in ((published.min_us, "min"), (published.max_us, "max"))
            if place is not None
        ]
        for variant, published in exercise.published.items()
    }


def _figures(found: Statistics) -> str:
    named = {
        "min": found.min_us,
        "mean": found.mean_us,
        "p99": found.p99_us,
        "max": found.max_us,
    }
    figures = (f"{name} {time_label(value * NS_PER_US)}" for name, value in named.items())
    return f"{', '.join(figures)}, count {found.n}"


def _dashed(x: float, y1: float, y2: float, paint: str) -> str:
    return (
        f'<line x1="{x:.1f}" y1="{y1:.1f}" x2="{x:.1f}" y2="{y2:.1f}" stroke="{paint}" '
        'stroke-dasharray="5 4"/>'
    )
