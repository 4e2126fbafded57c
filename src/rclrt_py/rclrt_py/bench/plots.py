# SPDX-License-Identifier: Apache-2.0
"""Pictures of a benchmark as SVG: lateness beside the burner, and growth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from pathlib import Path

from rclrt_py.bench.rows import BARE, Benchmark, Row
from rclrt_py.executors import BASELINE
from rclrt_py.files.atomic import write_atomically
from rclrt_py.pages.scale import LogScale
from rclrt_py.pages.svg import FAINT, GRID, INK, WIDTH, dashed, line, picture, text

BURNER, GROWTH = "executors_burner.svg", "executors_growth.svg"
MARGIN, ROW = 16, 30


def write_plots(benchmark: Benchmark, directory: Path) -> None:
    """Writes each picture for which the benchmark measured the cases."""
    for name, made in ((BURNER, burner(benchmark)), (GROWTH, growth(benchmark))):
        if made:
            write_atomically(directory / name, made)


@dataclass(frozen=True)
class Look:
    """How a picture shows an executor."""

    paint: str
    dash: str = ""
    """The dashes of its line, as in stroke-dasharray. Empty: a continuous line."""
    mark: str = "M -3 0 a 3 3 0 1 0 6 0 a 3 3 0 1 0 -6 0 z"
    """The path of the mark of a value, around the origin."""


# Okabe and Ito's colours without yellow and black: readers with any colour vision tell them apart
# on white. Executors of one colour have other dashes and other marks.
PAINTS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
DASHES = ("", "7 5", "1 5")
MARKS = (
    Look.mark,
    "M -3 -3 h 6 v 6 h -6 z",
    "M 0 -4.5 l 4.5 4.5 l -4.5 4.5 l -4.5 -4.5 z",
    "M 0 -4 l 4 7 h -8 z",
)


def look(benchmark: Benchmark, executor: str) -> Look:
    if executor == BARE:
        return Look(FAINT)
    index = benchmark.executors.index(executor)
    dash = DASHES[index // len(PAINTS) % len(DASHES)]
    return Look(PAINTS[index % len(PAINTS)], dash, MARKS[index % len(MARKS)])


def burner(benchmark: Benchmark) -> str:
    """Draws the results of the CPU burner benchmark as an SVG with one panel per CPU count. Each
    executor is a line from the median to the maximum of its times, with a mark at the 99th
    percentile. Empty text: this was not measured."""
    rows = [row for row in benchmark.select("burner", "timer") if row.p50]
    if not rows:
        return ""
    left, right = 170, 130
    scale = LogScale.around([x for row in rows for x in _times(row)], left, WIDTH - right)
    parts: list[str] = []
    y = 62.0
    for cpus in sorted({row.cpus for row in rows}):
        panel = [row for row in rows if row.cpus == cpus]
        top, bottom = y + 12, y + 12 + ROW * len(panel)
        parts.append(text(MARGIN, y + 4, _cpus(cpus), bold=True))
        for tick in scale.ticks():
            parts.append(line(scale(tick), top, scale(tick), bottom, GRID))
            parts.append(text(scale(tick), bottom + 16, _time(tick), FAINT, "middle"))
        for index, row in enumerate(panel):
            parts += _range(
                scale, row, top + ROW * (index + 0.5), look(benchmark, row.executor).paint
            )
            parts.append(text(left - 12, top + ROW * (index + 0.5) + 4, row.executor, INK, "end"))
            lost = f"{row.lost} of {row.n + row.lost} lost" if row.lost else "none lost"
            parts.append(
                text(
                    WIDTH - MARGIN,
                    top + ROW * (index + 0.5) + 4,
                    lost,
                    "#c0392b" if row.lost else FAINT,
                    "end",
                    bold=bool(row.lost),
                )
            )
        y = bottom + 46
    key = "bar: median to worst · ● median · ◆ 99th percentile · | worst"
    head = [
        text(MARGIN, 24, "Lateness of an urgent 10 ms timer beside a burner (20 ms of work every "
              "50 ms)", bold=True, size=15),
        text(MARGIN, 42, key, FAINT),
    ]  # fmt: skip
    return picture([*head, *parts], y - 14)


def growth(benchmark: Benchmark) -> str:
    """Draws p50 over the number of entities or levels on one CPU, with a panel per case."""
    panels = [
        ("entities", "timer", "timers"),
        ("entities", "guard_condition", "guard conditions"),
        ("levels", "timer", "levels"),
    ]
    rows = [
        row
        for case, entity, _ in panels
        for row in benchmark.select(case, entity, cpus=1)
        if row.p50
    ]
    if not rows:
        return ""
    legend, below = _legend(benchmark, {row.executor for row in rows}, 46.0)
    top, bottom, gap = below + 40, below + 440, 56.0
    width = (WIDTH - 2 * MARGIN - 3 * gap - 12) / 3
    y = LogScale.around([row.p50 for row in rows if row.p50], bottom, top)
    parts = [text(MARGIN, 24, "Median latency by number of entities, one CPU", bold=True, size=15)]
    parts += legend
    for index, (case, entity, name) in enumerate(panels):
        start = MARGIN + gap + index * (width + gap)  # the gap holds the scale
        parts += _growth_panel(
            benchmark, benchmark.select(case, entity, cpus=1), name, y, start, start + width
        )
    return picture(parts, bottom + 44)


def _legend(benchmark: Benchmark, drawn: Set[str], y: float) -> tuple[list[str], float]:
    """Returns the drawn executors with their marks, from line `y` on, and the last line."""
    parts: list[str] = []
    x = float(MARGIN)
    for executor in filter(drawn.__contains__, benchmark.executors):
        width = 36 + 7.2 * len(executor)
        if x + width > WIDTH - MARGIN:
            x, y = float(MARGIN), y + 20
        shown = look(benchmark, executor)
        parts.append(line(x, y, x + 30, y, shown.paint, _stroke(executor), dash=shown.dash))
        parts.append(_mark(x + 15, y, shown))
        parts.append(text(x + 36, y + 4, executor))
        x += width + 20
    return parts, y


def _growth_panel(
    benchmark: Benchmark, rows: Iterable[Row], name: str, y: LogScale, left: float, right: float
) -> Iterator[str]:
    rows = [row for row in rows if row.p50]
    if not rows:
        return
    sizes = sorted({row.entities for row in rows})
    places = {
        size: left + (right - left) * index / max(len(sizes) - 1, 1)
        for index, size in enumerate(sizes)
    }
    for tick in y.ticks():
        yield line(left, y(tick), right, y(tick), GRID)
        yield text(left - 8, y(tick) + 4, _time(tick), FAINT, "end")
    for size in sizes:
        yield text(places[size], y.start + 18, f"{size}", FAINT, "middle")
    yield text((left + right) / 2, y.start + 36, name, INK, "middle", bold=True)
    for executor in benchmark.executors:
        points = [
            (places[row.entities], y(row.p50))
            for row in rows
            if row.executor == executor and row.p50
        ]
        shown = look(benchmark, executor)
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        yield (
            f'<polyline points="{path}" fill="none" stroke="{shown.paint}" '
            f'stroke-width="{_stroke(executor)}"{dashed(shown.dash)}/>'
        )
        for px, py in points:
            yield _mark(px, py, shown)


def _stroke(executor: str) -> int:
    return 5 if executor == BASELINE else 2  # visible under the line of its pair


def _mark(x: float, y: float, shown: Look) -> str:
    return f'<path transform="translate({x:.1f} {y:.1f})" d="{shown.mark}" fill="{shown.paint}"/>'


def _range(scale: LogScale, row: Row, y: float, paint: str) -> Iterator[str]:
    p50, p99, worst = (scale(value) for value in _times(row))
    yield line(p50, y, worst, y, paint, 5, 0.45)
    yield line(worst, y - 8, worst, y + 8, paint, 2)
    yield f'<circle cx="{p50:.1f}" cy="{y:.1f}" r="5.5" fill="{paint}"/>'
    yield (
        f'<path d="M {p99:.1f} {y - 7:.1f} l 7 7 l -7 7 l -7 -7 z" fill="{paint}" '
        'stroke="#ffffff"/>'
    )


def _times(row: Row) -> tuple[float, float, float]:
    return row.p50 or 0.0, row.p99 or 0.0, row.max or 0.0


def _time(us: float) -> str:
    return f"{us / 1000:g} ms" if us >= 1000 else f"{us:g} µs"


def _cpus(count: int) -> str:
    return "on one CPU" if count == 1 else f"on {count} CPUs"
