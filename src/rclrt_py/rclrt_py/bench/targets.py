# SPDX-License-Identifier: Apache-2.0
"""The targets of `preemptive`, and the values that it reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rclrt_py.bench.rows import BARE, Benchmark, Row
from rclrt_py.bench.tables import Table
from rclrt_py.executors import BASELINE, FOCUS
from rclrt_py.text import number

HAND_SPLIT = "split"
Value = Callable[[Benchmark, int], float | None]


@dataclass(frozen=True)
class Target:
    """A figure that must be at most `limit`, or at least `limit` if `at_least` is set."""

    what: str
    limit: float
    value: Value
    at_least: bool = False

    def reached(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit


def _p50(row: Row | None) -> float | None:
    return row.p50 if row else None


def _p99(row: Row | None) -> float | None:
    return row.p99 if row else None


def _quotient(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def _over_floor(case: str, entity: str) -> Value:
    def value(benchmark: Benchmark, cpus: int) -> float | None:
        row = benchmark.find(case, entity, FOCUS, cpus)
        return _quotient(row.p50, row.floor) if row else None

    return value


def _over(case: str, entity: str, other: str, of: Callable[[Row | None], float | None]) -> Value:
    def value(benchmark: Benchmark, cpus: int) -> float | None:
        ours = benchmark.find(case, entity, FOCUS, cpus)
        return _quotient(of(ours), of(benchmark.find(case, entity, other, cpus)))

    return value


def _over_bare(case: str, entity: str, bare: str) -> Value:
    def value(benchmark: Benchmark, cpus: int) -> float | None:
        ours = benchmark.find(case, entity, FOCUS, cpus)
        return _quotient(_p50(ours), _p50(benchmark.find(case, bare, BARE, cpus)))

    return value


def _better_than_baseline(benchmark: Benchmark, cpus: int) -> float | None:
    return _quotient(
        _p99(benchmark.find("burner", "timer", BASELINE, cpus)),
        _p99(benchmark.find("burner", "timer", FOCUS, cpus)),
    )


def _lost(benchmark: Benchmark, cpus: int) -> float | None:
    row = benchmark.find("burner", "timer", FOCUS, cpus)
    return float(row.lost) if row and row.n else None


def _own_allocations(case: str, entity: str, middleware: str | None) -> Value:
    """Returns a function that computes how many heap allocations the executor itself makes in
    `case`.

    It subtracts the allocations of the middleware, which are measured in the row `middleware`
    (inline publish and take). None: there is nothing to subtract. The function rounds to one
    decimal: the allocations of the whole process are counted, and the middleware's own threads send
    announcements a few times a second. It returns None if the benchmark has no such row.
    """

    def value(benchmark: Benchmark, cpus: int) -> float | None:
        row = benchmark.find(case, entity, FOCUS, cpus)
        if row is None or row.allocations is None:
            return None
        if middleware is None:
            return round(row.allocations, 1)
        inline = benchmark.find(case, middleware, BARE, cpus)
        if inline is None or inline.allocations is None:
            return None
        return round(max(row.allocations - inline.allocations, 0.0), 1)

    return value


def _growth(entity: str) -> Value:
    def value(benchmark: Benchmark, cpus: int) -> float | None:
        rows = benchmark.select("entities", entity, FOCUS, cpus)
        if not rows:
            return None
        few = min(rows, key=lambda row: row.entities)
        many = max(rows, key=lambda row: row.entities)
        return _quotient(many.p50, few.p50) if many is not few else None

    return value


TARGETS = (
    Target("(a) guard condition, p50 / floor", 1.2, _over_floor("dispatch", "guard_condition")),
    Target("(a) subscription, p50 / floor", 1.2, _over_floor("dispatch", "subscription")),
    Target(
        "(a) subscription, p50 / by hand", 1.2, _over_bare("dispatch", "subscription", "wake_take")
    ),
    Target("(a) service, p50 / floor", 1.2, _over_floor("dispatch", "service")),
    Target(
        "(a) service, p50 / by hand",
        1.2,
        _over_bare("dispatch", "service", "wake_take_request"),
    ),
    Target("(a) client, p50 / floor", 1.2, _over_floor("dispatch", "client")),
    Target("(b) timer of 1 kHz, p50 / bare nanosleep", 1.05, _over_floor("timer", "timer")),
    Target(
        "(b) timer of 1 kHz, p50 / by hand", 1.05, _over_bare("timer", "timer", "futex_timeout")
    ),
    Target(
        f"(c) publish to callback, p50 / {BASELINE}",
        0.5,
        _over("publish", "subscription", BASELINE, _p50),
    ),
    Target(
        "(c) intra-process, p50 / bare futex wake",
        1.5,
        _over_floor("intra_process", "subscription"),
    ),
    Target(
        f"(d) beside the burner, p99 / {HAND_SPLIT}",
        1.0,
        _over("burner", "timer", HAND_SPLIT, _p99),
    ),
    Target(f"(d) p99 of {BASELINE} / p99", 20.0, _better_than_baseline, at_least=True),
    Target("(d) releases lost", 0.0, _lost),
    Target("(e) our allocations, timer", 0.0, _own_allocations("timer", "timer", None)),
    Target(
        "(e) our allocations, subscription",
        0.0,
        _own_allocations("publish", "subscription", "inline"),
    ),
    Target(
        "(e) our allocations, intra-process",
        0.0,
        _own_allocations("intra_process", "subscription", None),
    ),
    Target("(g) timers, p50 of 10 000 / of 10", 1.5, _growth("timer")),
    Target("(g) guard conditions, p50 of 10 000 / of 10", 1.5, _growth("guard_condition")),
)


def targets(benchmark: Benchmark) -> Table:
    """Returns a row for each measured target, and marks each target that was missed."""
    lines = []
    for target in TARGETS:
        values = [target.value(benchmark, cpus) for cpus in benchmark.cpu_counts]
        if all(value is None for value in values):
            continue
        sign = "≥" if target.at_least else "≤"
        cells = [
            "-"
            if value is None
            else f"{number(value, 2)} {'yes' if target.reached(round(value, 2)) else 'NO'}"
            for value in values
        ]
        lines.append((target.what, f"{sign} {target.limit:g}", *cells))
    columns = [f"{cpus} CPU{'s' if cpus > 1 else ''}" for cpus in benchmark.cpu_counts]
    return Table(f"targets of {FOCUS}", ("", "target", *columns), tuple(lines))
