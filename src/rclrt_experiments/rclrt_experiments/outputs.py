# SPDX-License-Identifier: Apache-2.0
"""Figures and tables of reaction times and data ages: direct chains beside sampled ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from rclrt_py.stats import nearest_rank

from rclrt_experiments.bounds import name_of
from rclrt_experiments.experiment import Experiment
from rclrt_experiments.figures import value_plot
from rclrt_experiments.metrics import Estimate
from rclrt_experiments.parts import Figure, Part, Table, file_name
from rclrt_experiments.rows import OutputRow

OUTPUTS = (
    "Times are multiples of the chain's period: the longest of each chain in a run, of all chains "
    "and runs the median and the 95th percentile. The jitter is the longest less the shortest one."
)
Value = Callable[[OutputRow], float | None]
NONE: MappingProxyType[tuple[str, str], float] = MappingProxyType({})


@dataclass(frozen=True)
class Measure:
    """A time of the chains, in multiples of their periods."""

    name: str
    title: str
    seen: Value
    bound: Value | None = None


MEASURES = (
    Measure(
        "reaction",
        "Longest reaction time / period",
        lambda row: row.reaction_worst_ms,
        lambda row: row.reaction_bound_ms,
    ),
    Measure(
        "age",
        "Longest data age / period",
        lambda row: row.age_worst_ms,
        lambda row: row.age_bound_ms,
    ),
    Measure(
        "reaction_jitter",
        "Jitter of the reaction time / period",
        lambda row: difference(row.reaction_worst_ms, row.reaction_best_ms),
    ),
    Measure(
        "age_jitter",
        "Jitter of the data age / period",
        lambda row: difference(row.age_worst_ms, row.age_best_ms),
    ),
)


def difference(longest: float | None, shortest: float | None) -> float | None:
    return None if longest is None or shortest is None else longest - shortest


def output_parts(
    experiment: Experiment, executors: Sequence[str], rows: Sequence[OutputRow]
) -> Iterator[Part]:
    """Yields a table and a figure of each measure for each panel of the experiment."""
    of: dict[tuple[str, str], list[OutputRow]] = {}
    for row in rows:
        of.setdefault((row.varied, row.executor), []).append(row)
    for panel in dict.fromkeys(point.panel for point in experiment.points):
        labels = [
            point.label
            for point in experiment.points
            if point.panel == panel and any((point.label, each) in of for each in executors)
        ]
        in_panel = f" ({panel})" if panel else ""
        for measure in MEASURES:
            title = measure.title + in_panel
            yield _table(title, labels, executors, of, measure)
            yield _figure(experiment, panel, title, labels, executors, of, measure)


Rows = dict[tuple[str, str], list[OutputRow]]


def values(rows: Sequence[OutputRow], value: Value) -> list[float]:
    """Returns the values of the rows that have one, in multiples of their periods, sorted."""
    found = ((value(row), row.period_ms) for row in rows)
    return sorted(time_ms / period_ms for time_ms, period_ms in found if time_ms is not None)


def _text(rows: Sequence[OutputRow], value: Value) -> str:
    """Returns the median and, in parentheses, the 95th percentile."""
    found = values(rows, value)
    if not found:
        return "-"
    text = f"{nearest_rank(found, 50):.2f} ({nearest_rank(found, 95):.2f})"
    return text if len(found) == len(rows) else f"{text}, {len(found) / len(rows):.0%}"


def _table(
    title: str, labels: Sequence[str], executors: Sequence[str], of: Rows, measure: Measure
) -> Table:
    body = []
    for executor in executors:
        for what, value in (("", measure.seen), (", bound", measure.bound)):
            if value is not None:
                own = [_text(of.get((label, executor), ()), value) for label in labels]
                body.append([name_of(executor) + what, *own])
    return Table(
        f"{title}, median (95th percentile); a percentage is the share of chains that have one",
        ["", *labels],
        body,
    )


def _figure(
    experiment: Experiment,
    panel: str,
    title: str,
    labels: Sequence[str],
    executors: Sequence[str],
    of: Rows,
    measure: Measure,
) -> Figure:
    seen, bounds = {}, {}
    for key, own in of.items():
        if key[0] not in labels:
            continue
        if found := values(own, measure.seen):
            middle = nearest_rank(found, 50)
            seen[key] = Estimate(middle, middle, nearest_rank(found, 95))
        if measure.bound is not None and (found := values(own, measure.bound)):
            bounds[key] = nearest_rank(found, 50)
    diamonds = " Diamonds: medians of the bounds." if bounds else ""
    return Figure(
        file_name(experiment.name, panel, measure.name),
        f"{title}. Dots: medians; lines up to the 95th percentile.{diamonds}",
        value_plot(title, labels, seen, executors, experiment.varied, "", bounds or NONE),
    )
