# SPDX-License-Identifier: Apache-2.0
"""The figures of an exercise beside the workshop's: on the terminal, in Markdown and as rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rclrt_py.terminal.table import Columns
from rclrt_py.text import number

from rclrt_demos.exercises import Published
from rclrt_demos.measured import Statistics
from rclrt_demos.rounds import Outcome

HEADS = ("µs", "count", "min", "mean", "p99", "max")
COLUMNS = Columns(52, *[11] * (len(HEADS) - 1))


def cells(outcome: Outcome) -> Iterator[list[str]]:
    """A row for each variant, each followed by the workshop's if there is one."""
    for variant in outcome.variants:
        found = outcome.statistics(variant)
        if found is None:
            continue
        label = f"{variant}: {outcome.exercise.variant_label(variant)}"
        yield [label, str(found.n), *map(_us, _times(found))]
        published = outcome.exercise.published.get(variant)
        if published is not None:
            yield ["workshop's", "-", *(number(each, 0) for each in _published(published))]


def table_lines(outcome: Outcome) -> Iterator[str]:
    exercise = outcome.exercise
    under = f"under stress ({outcome.stress})" if outcome.stress else "without stress"
    yield f"Exercise {exercise.name}, {exercise.title}: {exercise.slice_name}, {under}"
    for row in (list(HEADS), *cells(outcome)):
        indent = "  " if row[0] == "workshop's" else ""
        yield COLUMNS.line(indent + row[0], *row[1:])


def rows(outcome: Outcome) -> list[dict[str, Any]]:
    """A row for every slice of each variant: that of the exercise first."""
    made = []
    for variant in outcome.variants:
        measured = outcome.pooled(variant)
        names = sorted(measured.slices, key=lambda name: name != outcome.exercise.slice_name)
        for name in names:
            found = measured.statistics(name)
            if found is not None:
                made.append(
                    {
                        "exercise": outcome.exercise.name,
                        "variant": variant,
                        "slice": name,
                        "n": found.n,
                        "min_us": found.min_us,
                        "mean_us": found.mean_us,
                        "p99_us": found.p99_us,
                        "max_us": found.max_us,
                    }
                )
    return made


def _times(found: Statistics) -> list[float | None]:
    return [found.min_us, found.mean_us, found.p99_us, found.max_us]


def _published(published: Published) -> list[float | None]:
    return [published.min_us, published.mean_us, None, published.max_us]


def _us(value: float | None) -> str:
    return number(value, 2 if value is not None and value < 100 else 0)
