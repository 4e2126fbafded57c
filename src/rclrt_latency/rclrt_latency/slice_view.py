# SPDX-License-Identifier: Apache-2.0
"""The latency view of a trace: how long the slices of one name on one track took."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from rclrt_py.errors import BadInput, did_you_mean
from rclrt_py.stats import nearest_rank
from rclrt_py.terminal.table import Columns
from rclrt_py.text import shorten

from rclrt_latency.trace_slices import Slices

BAR_WIDTH, BAR_ROWS = 60, 16
NAME_WIDTH = 34


def overview(slices: Slices, track: str | None, name: str | None) -> list[str]:
    """A table of all tracks and slices, or of the given track or slice. Throws BadInput."""
    if not slices.durations:
        raise BadInput(
            f"{slices.file}: has no finished slice of a track event"
            + (f" ({slices.unfinished} have no end)" if slices.unfinished else "")
        )
    for option, stated, known in _named(slices, track, name):
        if stated is not None and stated not in known:
            _refuse(slices, option, stated, known)
    heads = ("n", "min", "mean", "p99", "max")
    columns = Columns(NAME_WIDTH, NAME_WIDTH, *[10] * len(heads), left=2)
    lines = [columns.line("track", "slice", *heads, "  µs")]
    for (on, called), durations in sorted(slices.durations.items()):
        if track in (None, on) and name in (None, called):
            view = SliceView(on, called, sorted(durations), 0)
            cells = (
                str(view.n),
                *(_us(time) for time in (view.min, view.mean, view.p99, view.max)),
            )
            names = (shorten(each, NAME_WIDTH - 2) for each in (on, called))
            lines.append(columns.line(*names, *cells))
    return lines


def select(slices: Slices, track: str, name: str) -> SliceView:
    """Throws BadInput, with what there is, for a track or slice that the trace does not have."""
    if (track, name) not in slices.durations:
        overview(slices, track, None)  # refuses an unknown track
        on_track = sorted(called for on, called in slices.durations if on == track)
        _refuse(slices, f"--track {track} --slice", name, on_track)
    return SliceView(track, name, sorted(slices.durations[track, name]), slices.unfinished)


def _named(
    slices: Slices, track: str | None, name: str | None
) -> Iterator[tuple[str, str | None, list[str]]]:
    yield "--track", track, sorted({on for on, _ in slices.durations})
    yield "--slice", name, sorted({called for _, called in slices.durations})


def _refuse(slices: Slices, option: str, stated: str, known: Sequence[str]) -> NoReturn:
    raise BadInput(
        f"{option} {stated}: is not in {slices.file}{did_you_mean(stated, known)}\n"
        f"  expected one of: {shorten(', '.join(known), 400)}"
    )


@dataclass(frozen=True)
class SliceView:
    """Durations in nanoseconds, ascending, at least one."""

    track: str
    name: str
    durations: list[int]
    unfinished: int

    @property
    def n(self) -> int:
        return len(self.durations)

    @property
    def min(self) -> int:
        return self.durations[0]

    @property
    def max(self) -> int:
        return self.durations[-1]

    @property
    def mean(self) -> float:
        return math.fsum(self.durations) / self.n

    @property
    def p99(self) -> int:
        """Nearest rank, as everywhere in rclrt."""
        return nearest_rank(self.durations, 99)

    def lines(self) -> list[str]:
        figures = (("min", self.min), ("mean", self.mean), ("p99", self.p99), ("max", self.max))
        lines = [f"{shorten(self.track, 50)}: {shorten(self.name, 50)}, µs"]
        lines.append("  ".join(f"{key} {_us(value)}" for key, value in figures) + f"  n {self.n}")
        lines.append("")
        lines += self._bars()
        if self.unfinished:
            lines += ["", f"{self.unfinished} slices of the trace have no end and do not count."]
        return lines

    def _bars(self) -> Iterator[str]:
        """Equal steps from the smallest to the 99th percentile, then all that is above."""
        width = max(1, math.ceil((self.p99 - self.min + 1) / BAR_ROWS))
        counts = Counter((time - self.min) // width for time in self.durations if time <= self.p99)
        rows = [(self.min + row * width, counts[row]) for row in range(max(counts) + 1)]
        above = sum(time > self.p99 for time in self.durations)
        most = max(count for _, count in rows)
        columns = Columns(12, 9, left=0)
        for start, count in rows:
            bar = "█" * math.ceil(BAR_WIDTH * count / most)
            yield columns.line(_us(start), str(count), f" {bar}")
        if above:
            yield columns.line(f"> {_us(self.p99)}", str(above), f" up to {_us(self.max)}")

    def bins(self) -> dict[int, int]:
        """Whole microseconds, rounded down, and the number of slices."""
        return dict(sorted(Counter(time // 1000 for time in self.durations).items()))

    def to_json(self) -> dict[str, object]:
        return {
            "rclrt_latency_of_slices": 1,
            "track": self.track,
            "slice": self.name,
            "n": self.n,
            "min_us": self.min / 1e3,
            "mean_us": round(self.mean) / 1e3,
            "p99_us": self.p99 / 1e3,
            "max_us": self.max / 1e3,
            "histogram": [[time, count] for time, count in self.bins().items()],
        }


def _us(time_ns: float) -> str:
    return f"{time_ns / 1e3:.1f}" if time_ns < 1e9 else f"{time_ns / 1e3:.0f}"
