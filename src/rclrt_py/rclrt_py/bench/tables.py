# SPDX-License-Identifier: Apache-2.0
"""The tables of a benchmark, for the terminal and for a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rclrt_py.bench.rows import BARE, Benchmark, Row
from rclrt_py.terminal.table import fitted_lines, markdown_lines
from rclrt_py.text import number, ratio, shorten

LATENCIES = (
    ("dispatch", "guard_condition", "guard condition: trigger to callback"),
    ("dispatch", "subscription", "subscription: announced by the middleware to callback"),
    ("dispatch", "service", "service: request announced to callback"),
    ("dispatch", "client", "client: response announced to its handler"),
    ("timer", "timer", "timer of 1 kHz: nominal release to callback"),
    ("publish", "subscription", "a thread publishes: before the publish to callback"),
    ("publish_in_callback", "subscription", "a timer's callback publishes to a more urgent one"),
    ("intra_process", "subscription", "the same without the middleware (intra-process)"),
    ("burner", "timer", "timer of 10 ms beside a burner of 20 ms every 50 ms"),
)
FLOORS = (
    ("dispatch", "futex_wake"),
    ("timer", "nanosleep"),
    ("timer", "futex_timeout"),
    ("publish", "inline"),
    ("dispatch", "take"),
    ("dispatch", "rest_of_publish"),
    ("dispatch", "wake_take"),
    ("dispatch", "take_request"),
    ("dispatch", "rest_of_request"),
    ("dispatch", "wake_take_request"),
    ("dispatch", "take_response"),
    ("dispatch", "rest_of_response"),
)
COSTS = (
    ("timer", "timer", ("timer", "nanosleep"), "timer"),
    ("dispatch", "guard_condition", ("dispatch", "futex_wake"), "guard condition"),
    ("publish", "subscription", ("publish", "inline"), "message"),
    ("intra_process", "subscription", ("intra_process", "futex_wake"), "intra-process"),
    ("dispatch", "service", ("dispatch", "take_request"), "request + response"),
)
GROWTH = (
    ("entities", "timer", "timers that share 1000 releases a second, p50 in µs"),
    ("entities", "guard_condition", "guard conditions, one triggered each millisecond, p50 in µs"),
    ("levels", "timer", "levels of one timer each, p50 in µs"),
)


SAMPLES_FOR_P99 = 5_000
SAMPLES_FOR_P999 = 50_000
"""A percentile is only shown if at least 50 samples lie above it. With fewer, one disturbance of
the machine decides it."""
QUANTILES = ("n", "p50", "p99", "p99.9", "max")


@dataclass(frozen=True)
class Table:
    """Cells of text. The first column is left-aligned, the others right-aligned."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def text(self) -> Iterator[str]:
        yield self.title
        for line in fitted_lines([self.columns, *self.rows]):
            yield "  " + line

    def markdown(self) -> Iterator[str]:
        yield f"**{self.title}**"
        yield ""
        rows = ([shorten(cell, 60) for cell in row] for row in self.rows)
        yield from markdown_lines(self.columns, rows)


def all_tables(benchmark: Benchmark) -> Iterator[Table]:
    """Yields every table that is not empty."""
    candidates = [floors(benchmark)]
    candidates += [latency(benchmark, *names) for names in LATENCIES]
    candidates += [first_instances(benchmark), costs(benchmark), throughput(benchmark)]
    candidates += [growth(benchmark, *names) for names in GROWTH]
    return (table for table in candidates if table.rows)


def floors(benchmark: Benchmark) -> Table:
    """Returns the times of the bare kernel and middleware, which no executor can beat."""
    return _by_cpus(
        benchmark,
        "bare kernel and middleware: µs",
        QUANTILES,
        [(name, (case, name, BARE)) for case, name in FLOORS],
        quantiles,
    )


def latency(benchmark: Benchmark, case: str, entity: str, title: str) -> Table:
    return _by_cpus(
        benchmark,
        f"{title}: µs",
        (*QUANTILES, "/floor", "lost"),
        [(executor, (case, entity, executor)) for executor in benchmark.executors],
        lambda row: (*quantiles(row), ratio(row.p50, row.floor), str(row.lost)),
    )


def first_instances(benchmark: Benchmark) -> Table:
    """Compares the first 5 instances of new executors with the instances that follow them."""
    lines = []
    for executor in benchmark.executors:
        for cpus in benchmark.cpu_counts:
            first = benchmark.find("first", "first_5", executor, cpus)
            later = benchmark.find("first", "next", executor, cpus)
            if first and later:
                lines.append(
                    (
                        executor,
                        str(cpus),
                        *(str(first.n), micros(first.p50), micros(first.max)),
                        *(str(later.n), micros(later.p50), micros(later.p99)),
                        *(ratio(first.p50, later.p50), ratio(first.max, later.p99)),
                    )
                )
    columns = (
        "",
        "CPUs",
        "first 5: n",
        "p50",
        "max",
        "next: n",
        "p50",
        "p99",
        "p50/p50",
        "max/p99",
    )
    title = "first instances of a new executor: timer's release to the callback of its message, µs"
    return Table(title, columns, tuple(lines))


def costs(benchmark: Benchmark) -> Table:
    """Allocations, system calls and CPU time of the whole process, per dispatch."""
    named = [names for names in COSTS if benchmark.select(names[0], names[1])]
    lines = []
    for executor in (BARE, *benchmark.executors):
        for cpus in benchmark.cpu_counts:
            cells = []
            for case, entity, bare, _ in named:
                row = (
                    benchmark.find(*bare, BARE, cpus)
                    if executor == BARE
                    else benchmark.find(case, entity, executor, cpus)
                )
                cells.append(_three(row) if row else "-")
            if any(cell != "-" for cell in cells):
                lines.append((executor, str(cpus), *cells))
    title = "whole process per dispatch at 1 kHz: allocations / system calls / CPU µs"
    columns = ("", "CPUs", *(name for *_, name in named))
    return Table(title, columns, tuple(lines) if named else ())


def _three(row: Row) -> str:
    return f"{number(row.allocations, 1)} / {number(row.system_calls, 1)} / {micros(row.cpu)}"


def throughput(benchmark: Benchmark) -> Table:
    return _by_cpus(
        benchmark,
        "saturated: a thread publishes without a pause",
        ("messages/s", "lost", "CPU µs/message"),
        [("bare inline", ("saturated", "inline", BARE))]
        + [(name, ("saturated", "subscription", name)) for name in benchmark.executors],
        lambda row: (number(row.per_second, 0), str(row.lost), micros(row.cpu)),
    )


def growth(benchmark: Benchmark, case: str, entity: str, title: str) -> Table:
    rows = benchmark.select(case, entity)
    sizes = sorted({row.entities for row in rows})
    lines = []
    for executor in benchmark.executors:
        for cpus in benchmark.cpu_counts:
            found = {
                row.entities: row.p50
                for row in rows
                if row.executor == executor and row.cpus == cpus
            }
            if found:
                p50 = [found.get(size) for size in sizes]
                cells = [micros(value) for value in p50]
                lines.append((executor, str(cpus), *cells, ratio(p50[-1], p50[0])))
    columns = ("", "CPUs", *(str(size) for size in sizes), "last/first")
    counts = sorted({row.n for row in rows})
    samples = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0]) if rows else "0"
    return Table(f"{title} (n: {samples})", columns, tuple(lines))


def quantiles(row: Row) -> tuple[str, ...]:
    """Returns the cells below `QUANTILES`. A percentile of too few samples is left out."""
    return (
        str(row.n),
        micros(row.p50),
        micros(row.p99 if row.n >= SAMPLES_FOR_P99 else None),
        micros(row.p999 if row.n >= SAMPLES_FOR_P999 else None),
        micros(row.max),
    )


def micros(value: float | None) -> str:
    """Formats three significant digits, or all digits before the point if there are more."""
    if value is None:
        return "-"
    return number(value, 1 if value < 1000 else 0)


def _by_cpus(
    benchmark: Benchmark,
    title: str,
    columns: Sequence[str],
    lines: Sequence[tuple[str, tuple[str, str, str]]],
    cells: object,
) -> Table:
    """Returns a table with a row per name, and the columns repeated for each number of CPUs."""
    assert callable(cells)
    made = []
    for name, (case, entity, executor) in lines:
        found = [benchmark.find(case, entity, executor, cpus) for cpus in benchmark.cpu_counts]
        if any(found):
            values: list[str] = [name]
            for row in found:
                values += cells(row) if row else ["-"] * len(columns)
            made.append(tuple(values))
    header = [""]
    for cpus in benchmark.cpu_counts:
        header += [f"{cpus} CPU{'s' if cpus > 1 else ''}: {columns[0]}", *columns[1:]]
    return Table(title, tuple(header), tuple(made))


def conditions(benchmark: Benchmark) -> str:
    """Describes in one paragraph where and how the benchmark was measured."""
    how = "SCHED_FIFO" if benchmark.realtime else "normal priority (realtime: false)"
    return (
        f"{benchmark.cpu or 'unknown CPU'}, Linux {benchmark.kernel}; {how}"
        f"{', quiet' if benchmark.quiet else ''}; {benchmark.rounds} round"
        f"{'' if benchmark.rounds == 1 else 's'} of {benchmark.samples_per_round} samples in "
        f"{benchmark.seconds:.0f} s; load {benchmark.load_before:.1f} before, steal "
        f"{benchmark.steal_ms:.0f} ms"
    )
