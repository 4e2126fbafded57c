# SPDX-License-Identifier: Apache-2.0
"""The page's section of each experiment: figures, and tables with the published values beside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from rclrt_experiments.bounds import name_of
from rclrt_experiments.experiment import Experiment
from rclrt_experiments.figures import Box, box_plot, value_plot
from rclrt_experiments.metrics import Estimate, Results, Sample
from rclrt_experiments.outputs import OUTPUTS, output_parts
from rclrt_experiments.parts import Figure, Part, Table, file_name
from rclrt_experiments.published import (
    LENGTHS,
    LEVELS,
    SYNC_LENGTHS,
    TABLE_7_4,
    TABLE_7_6,
    TABLE_7_9,
    TRIALS,
)
from rclrt_experiments.rows import OutputRow, OverheadRow

CHAIN_RUNS = 5 * TRIALS
"""Chain-runs at each point of table 7.4."""
FEW = 5
"""Instances of a chain in a run; with fewer, the page has a note."""
WORST = "worst response / period"
Published = Mapping[tuple[str, str], float]
"""Published values by point and executor."""
DIAMONDS = " Diamonds: published"


def _of_table(
    table: Mapping[str, Sequence[float]], labels: Sequence[str], share: float = 1.0
) -> Published:
    return {
        (label, executor): value * share
        for executor, values in table.items()
        for label, value in zip(labels, values, strict=True)
    }


MEDIANS: Mapping[str, Published] = {
    "chain-length": _of_table(TABLE_7_6, LENGTHS),
    "synthesis": _of_table(TABLE_7_9, SYNC_LENGTHS),
}
"""Medians of worst response / period over all chains, by experiment."""
MISSES: Mapping[str, Published] = {"utilisation": _of_table(TABLE_7_4, LEVELS, 1 / TRIALS)}
"""Chains per application that missed, by experiment."""


@dataclass(frozen=True)
class Section:
    """One experiment and its rows."""

    experiment: Experiment
    results: Results
    overheads: Sequence[OverheadRow]
    outputs: Sequence[OutputRow] = ()
    """The reaction times and data ages of this experiment. Empty: its chains have no limits."""

    @property
    def executors(self) -> list[str]:
        return self.results.executors.get(self.experiment.name, [])

    @property
    def labels(self) -> list[str]:
        """Returns the labels of the points that have rows."""
        name = self.experiment.name
        return [
            point.label
            for point in self.experiment.points
            if any(self.sample(point.label, each).rows for each in self.results.executors[name])
        ]

    def sample(self, label: str, executor: str, chain: str = "") -> Sample:
        return self.results.sample(self.experiment.name, label, executor, chain)

    def notes(self) -> Iterator[str]:
        """Yields the file's note, and the number of instances in each run."""
        if self.experiment.note:
            yield self.experiment.note
        counts = {
            label: [row.n for each in self.executors for row in self.sample(label, each).rows]
            for label in self.labels
        }
        if counts:
            shown = "; ".join(
                f"{median(found):g} ({min(found)}) at {label}" for label, found in counts.items()
            )
            yield f"Median (and least) number of instances of a chain that ended in a run: {shown}."
            if min(map(min, counts.values())) < FEW:
                yield f"With fewer than {FEW} instances, worst case and jitter are not meaningful."
        if self.outputs:
            yield OUTPUTS
        elif not self.experiment.section and len(self.labels) > 1:
            yield self._change()

    def _change(self) -> str:
        """Describes the change from the first point to the last."""
        first, last = self.labels[0], self.labels[-1]
        lines = []
        for executor in self.executors:
            before, after = (self.sample(label, executor) for label in (first, last))
            shares = [f"{100 * each.misses / len(each.rows):.1f} %" for each in (before, after)]
            middles = [each.median_worst for each in (before, after)]
            line = f"{name_of(executor)} {shares[0]} to {shares[1]}"
            if all(middles):
                values = [f"{each.value:.3f}" for each in middles if each is not None]
                line += f" ({' to '.join(values)})"
            lines.append(line)
        return (
            f"From '{first}' to '{last}' ({self.experiment.varied}), chain-runs that missed a "
            f"deadline (median of worst response / period): {'; '.join(lines)}."
        )

    def parts(self) -> Iterator[Part]:
        """Yields all parts of the section in order."""
        name = self.experiment.name
        if name == "overhead":
            yield from self._overhead()
            return
        if self.outputs:
            yield from output_parts(self.experiment, self.executors, self.outputs)
            return
        if name == "utilisation":
            title = "Chain-runs that missed a deadline, and how many there were (table 7.4)"
            yield self._table(
                title,
                TABLE_7_4,
                lambda sample: f"{sample.misses} of {len(sample.rows)}",
                lambda value: f"{value:g} of {CHAIN_RUNS}",
            )
        if name == "chain-length":
            title = "Median of worst response / period (table 7.6)"
            yield self._table(title, TABLE_7_6, lambda sample: estimate(sample.median_worst))
        if name == "synthesis":
            title = "Median of worst response / period (table 7.9)"
            yield self._table(
                title, TABLE_7_9, lambda sample: estimate(sample.median_worst), last=3
            )
        chains = [f"chain{n}" for n in self.experiment.chains]
        for chain in chains:
            title = f"{chain}: runs in which it missed; worst response / period, mean; jitter, mean"
            yield self._table(title, {}, _summary, chain=chain)
        for chain in chains or [""]:
            yield from self._figures(chain)

    def _overhead(self) -> Iterator[Part]:
        for measure, what in (
            ("launch", "launch of a callback: from when nothing earlier ran"),
            ("ready", "from ready to the first instruction"),
        ):
            for number, label in enumerate(self.labels):
                boxes = self._overhead_boxes(measure, label)
                caption = f"{label}: {what}"
                yield Figure(
                    f"overhead_{measure}_{number + 1}",
                    f"{caption}. Box: quartiles; whiskers: 2nd to 98th percentile; of each the "
                    "median of the trials.",
                    box_plot(caption, [label], boxes, self.executors, "", "µs", most=float("inf")),
                )
        heads = ["executor", *self.labels]
        for measure in ("launch", "ready"):
            yield Table(
                f"Median of {measure}, µs, of each trial, and of these the median",
                heads,
                [
                    [name_of(e), *(self._overhead_text(measure, label, e) for label in self.labels)]
                    for e in self.executors
                ],
            )

    def _overhead_rows(self, measure: str, label: str, executor: str) -> list[OverheadRow]:
        wanted = (self.experiment.name, measure, label, executor)
        return [
            row
            for row in self.overheads
            if (row.experiment, row.measure, row.varied, row.executor) == wanted
        ]

    def _overhead_text(self, measure: str, label: str, executor: str) -> str:
        rows = self._overhead_rows(measure, label, executor)
        if not rows:
            return "-"
        middle = median(row.p50_us for row in rows)
        worst = max(row.worst_us for row in rows)
        return f"{middle:.1f} (worst {worst:.0f}; {sum(row.n for row in rows)} callbacks)"

    def _overhead_boxes(self, measure: str, label: str) -> dict[tuple[str, str], Box]:
        """Returns boxes of the trials' percentiles (medians). The table has the worst value."""
        boxes = {}
        for executor in self.executors:
            rows = self._overhead_rows(measure, label, executor)
            if rows:
                p2, p25, p50, p75, p98 = (
                    median(getattr(row, name) for row in rows)
                    for name in ("p2_us", "p25_us", "p50_us", "p75_us", "p98_us")
                )
                boxes[label, executor] = Box(p2, p25, p50, p75, p98, p2, p98)
        return boxes

    def _table(
        self,
        title: str,
        published: Mapping[str, Sequence[float]],
        cell: Callable[[Sample], str],
        of_published: Callable[[float], str] = "{:g}".format,
        last: int | None = None,
        chain: str = "",
    ) -> Table:
        """Returns a row for each executor, and below it the published one if there is one."""
        labels = self.labels[-last:] if last else self.labels
        rows = []
        for executor in self.executors:
            own = [cell(self.sample(label, executor, chain)) for label in labels]
            rows.append([name_of(executor), *own])
            if executor in published and len(published[executor]) == len(labels):
                rows.append(["published", *map(of_published, published[executor])])
        return Table(title, [self.experiment.varied, *labels], rows)

    def _figures(self, chain: str) -> Iterator[Figure]:
        panels = list(dict.fromkeys(point.panel for point in self.experiment.points))
        for panel in panels:
            groups = [
                point.label
                for point in self.experiment.points
                if point.panel == panel and point.label in self.labels
            ]
            of = ", ".join(word for word in (chain, panel) if word)
            name = file_name(self.experiment.name, of)
            of = f" ({of})" if of else ""
            boxes = {
                (label, executor): Box.of(values)
                for label in groups
                for executor in self.executors
                if (values := self.sample(label, executor, chain).normalised_worst)
            }
            title = f"Worst response / period{of}"
            published = self._published(MEDIANS, groups, chain)
            medians = f"{DIAMONDS} medians." if published else ""
            yield Figure(
                f"{name}_worst",
                f"{title}. Box: quartiles; whiskers: 2nd to 98th percentile; dot: the worst; "
                f"dashed: the deadline.{medians}",
                box_plot(
                    title, groups, boxes, self.executors, self.experiment.varied, WORST,
                    deadline=1.0, published=published,
                ),
            )  # fmt: skip
            for what, title, metric, known in (
                ("misses", "Chains of an application that missed a deadline, mean", _mean_misses,
                 MISSES),
                ("jitter", "(Worst - best response) / period, mean", _mean_jitter, {}),
            ):  # fmt: skip
                published = self._published(known, groups, chain)
                means = f"{DIAMONDS} means." if published else ""
                yield Figure(
                    f"{name}_{what}",
                    f"{title}{of}, with 95 % confidence intervals.{means}",
                    value_plot(
                        f"{title}{of}",
                        groups,
                        self._values(groups, chain, metric),
                        self.executors,
                        self.experiment.varied,
                        "",
                        published,
                    ),
                )

    def _published(
        self, known: Mapping[str, Published], groups: Sequence[str], chain: str
    ) -> Published:
        """Returns the published values to draw: none for one chain, as they are of all chains."""
        values = {} if chain else known.get(self.experiment.name, {})
        return {
            key: value
            for key, value in values.items()
            if key[0] in groups and key[1] in self.executors
        }

    def _values(
        self, groups: Sequence[str], chain: str, metric: Callable[[Sample], Estimate | None]
    ) -> dict[tuple[str, str], Estimate]:
        found = {
            (label, executor): metric(self.sample(label, executor, chain))
            for label in groups
            for executor in self.executors
        }
        return {key: value for key, value in found.items() if value is not None}


def _summary(sample: Sample) -> str:
    means = (sample.mean_worst, sample.mean_jitter)
    texts = ["-" if each is None else f"{each.value:.3f}" for each in means]
    return "; ".join([f"{sample.misses} of {len(sample.rows)}", *texts])


def estimate(value: Estimate | None) -> str:
    return "-" if value is None else value.text()


def _mean_misses(sample: Sample) -> Estimate | None:
    return sample.mean_misses


def _mean_jitter(sample: Sample) -> Estimate | None:
    return sample.mean_jitter
