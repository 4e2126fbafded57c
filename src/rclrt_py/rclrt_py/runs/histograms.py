# SPDX-License-Identifier: Apache-2.0
"""The histograms of a run that streamed (histograms.csv), and percentiles of several runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rclrt_py.errors import BadInput
from rclrt_py.runs.csv_reader import rows_of
from rclrt_py.stats import Summary, summarise, to_ms

COLUMNS = ["kind", "id", "times", "lowest_ns", "highest_ns", "count"]
CHAIN, CALLBACK, CAUSE_EFFECT = "chain", "callback", "cause_effect_chain"
TIMES = {
    CHAIN: ("response",),
    CALLBACK: ("response", "dispatch", "execution"),
    CAUSE_EFFECT: ("reaction", "age"),
}

Key = tuple[str, str, str]
"""Kind, id and times, as the first columns of the file."""


@dataclass
class Histogram:
    """How many times lie in each bucket; nanoseconds."""

    lowest: list[int] = field(default_factory=list)
    """The smallest time of each bucket, ascending."""
    highest: list[int] = field(default_factory=list)
    """The largest time of each bucket."""
    counts: list[int] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(self.counts)

    def above(self, limit: int) -> int:
        """Returns the number of times that are certainly above the limit: the bucket with the limit
        itself is left out."""
        return sum(
            count for lowest, count in zip(self.lowest, self.counts, strict=True) if lowest > limit
        )


def read_histograms(path: Path) -> dict[Key, Histogram]:
    """Reads the file. Throws BadInput with the place of a wrong row."""
    found: dict[Key, Histogram] = {}
    for cells in rows_of(path, COLUMNS):
        kind = cells.one_of("kind", tuple(TIMES))
        key = (kind, cells.text("id"), cells.one_of("times", TIMES[kind]))
        lowest, highest = cells.integer("lowest_ns"), cells.integer("highest_ns")
        count, own = cells.integer("count"), found.setdefault(key, Histogram())
        if not (own.highest or [-1])[-1] < lowest <= highest:
            raise BadInput(
                f"{cells.place}: the range is {lowest} to {highest}; expected one above the row "
                "before"
            )
        if count < 1:
            raise BadInput(f"{cells.place}: count is {count}; expected at least 1")
        own.lowest.append(lowest)
        own.highest.append(highest)
        own.counts.append(count)
    return found


@dataclass(frozen=True)
class Times:
    """The times of one run: every value, or their histogram with the summary of the run."""

    values: Sequence[int] = ()
    histogram: Histogram | None = None
    summary: Summary | None = None

    def weighted(self) -> Iterator[tuple[int, int]]:
        """Yields times and how often each occurs. The times of a bucket count as its largest, but
        at most as the longest time."""
        if self.histogram is None:
            yield from ((value, 1) for value in self.values)
        elif self.summary is not None:
            worst, best = round(self.summary.worst * 1e6), round(self.summary.best * 1e6)
            for highest, count in zip(self.histogram.highest, self.histogram.counts, strict=True):
                yield max(best, min(worst, highest)), count


def total_of(times: Iterable[Times]) -> int:
    return sum(
        len(each.values) if each.histogram is None else each.histogram.total for each in times
    )


def ranked(times: Sequence[Times], ranks: Sequence[int]) -> list[int]:
    """Returns the times with these ranks, ascending from 1, among all times together."""
    if all(each.histogram is None for each in times):
        ordered = sorted(value for each in times for value in each.values)
        return [ordered[rank - 1] for rank in ranks]
    weighted = sorted(pair for each in times for pair in each.weighted())
    found: list[int] = []
    passed = 0
    for value, count in weighted:
        passed += count
        while len(found) < len(ranks) and ranks[len(found)] <= passed:
            found.append(value)
    return found


def summarise_times(times: Sequence[Times]) -> Summary | None:
    """Returns the summary of the times of several runs together. Exact if every value is known;
    otherwise its percentiles have the resolution of the histograms."""
    if all(each.histogram is None for each in times):
        return summarise(value for each in times for value in each.values)
    if len(times) == 1:
        return times[0].summary
    parts = [
        (each.summary or summarise(each.values), total_of([each]))
        for each in times
        if total_of([each])
    ]
    total = sum(count for _, count in parts)
    if not total:
        return None
    known = [(summary, count) for summary, count in parts if summary is not None]
    p50, p99 = ranked(times, [-(-percent * total // 100) for percent in (50, 99)])
    return Summary(
        best=min(summary.best for summary, _ in known),
        mean=round(sum(summary.mean * count for summary, count in known) / total, 6),
        p50=to_ms(p50),
        p99=to_ms(p99),
        worst=max(summary.worst for summary, _ in known),
    )
