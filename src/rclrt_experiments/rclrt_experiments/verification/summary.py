# SPDX-License-Identifier: Apache-2.0
"""The tables of `rclrt verify`, and its JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from rclrt_py.terminal.table import Columns

from rclrt_experiments.verification.looseness import Loose, causes_of, worst_of
from rclrt_experiments.verification.verify import Outcome, total
from rclrt_experiments.verification.violation import Violation

MOST_LOAD = 0.85
"""The bounds of applications with a higher load count in no statistic."""


@dataclass(frozen=True)
class Tightness:
    """Quantiles of bound / longest time that the search found. None: nothing was found."""

    median: float | None
    p95: float | None
    largest: float | None

    @classmethod
    def of(cls, ratios: Sequence[float]) -> Tightness:
        """Returns the quantiles of sorted ratios."""
        return cls(*(
            ratios[min(len(ratios) - 1, int(rank * len(ratios)))] if ratios else None
            for rank in (0.5, 0.95, 1)
        ))  # fmt: skip

    def cells(self) -> list[str]:
        values = (self.median, self.p95, self.largest)
        return ["-" if value is None else f"{value:.2f}" for value in values]


@dataclass(frozen=True)
class Statistics:
    """The chains, or the cause-effect chains, below the largest load that counts."""

    chains: int
    unbounded: int
    tightness: dict[str, Tightness]
    """By what is bounded: `response`, or `reaction` and `age`."""

    def cells(self) -> list[str]:
        share = f"{self.unbounded / self.chains:.1%}" if self.chains else "-"
        ratios = [cell for each in self.tightness.values() for cell in each.cells()]
        return [str(self.chains), share, *ratios]


@dataclass(frozen=True)
class Row:
    """The results of all applications under one executor."""

    executor: str
    chains: int
    proved: int
    sampled: int
    """Number of cause-effect chains."""
    attacked: int
    """Number of these with bounds that were attacked."""
    logical: int
    """Number of the attacked ones of which a segment has logical execution time."""
    violated: int
    """Number of applications with a time above its bound."""
    differing: int
    below_load: Statistics
    sampled_below_load: Statistics
    by_cpus: dict[int, Statistics]
    """`below_load` by the number of CPUs that the executors of an application state together. 0:
    they state none."""


def row_of(executor: str, outcomes: Sequence[dict[str, Outcome]]) -> Row:
    own = [each[executor] for each in outcomes]
    counts = total(own)
    light = total([each for each in own if each.load < MOST_LOAD])
    by_cpus: dict[int, list[Outcome]] = {}
    for each in own:
        if each.load < MOST_LOAD:
            by_cpus.setdefault(each.cpus, []).append(each)
    sampling = light.sampling
    return Row(
        executor=executor,
        chains=counts.chains,
        proved=counts.proved,
        sampled=counts.sampling.chains,
        attacked=counts.sampling.attacked,
        logical=counts.sampling.logical,
        violated=sum(each.violation is not None for each in own),
        differing=sum(bool(each.difference) for each in own),
        below_load=_statistics(light),
        by_cpus={cpus: _statistics(total(some)) for cpus, some in sorted(by_cpus.items())},
        sampled_below_load=Statistics(
            sampling.chains,
            sampling.unbounded,
            {"reaction": Tightness.of(sampling.reaction), "age": Tightness.of(sampling.age)},
        ),
    )


def _statistics(light: Outcome) -> Statistics:
    return Statistics(light.chains, light.unbounded, {"response": Tightness.of(light.looseness)})


def worst_bounds(outcomes: Sequence[dict[str, Outcome]], executor: str, count: int) -> list[Loose]:
    """Returns the proved bounds of the executor with the largest ratios of bound and longest
    response, below the largest load that counts."""
    own = [each[executor] for each in outcomes]
    return worst_of([loose for each in own if each.load < MOST_LOAD for loose in each.loose], count)


def print_tables(rows: Sequence[Row]) -> None:
    """Prints how many bounds were attacked, how many are missing, and how far they are above what
    was found."""
    columns = Columns(18, 9, 9, 9, 9, 10, 10, 10)
    heads = (
        *("executor", "chains", "proved", "sampled", "attacked"),
        *("with LET", "violated", "differing"),
    )
    print(columns.line(*heads))
    for row in rows:
        attacked = (row.chains, row.proved, row.sampled, row.attacked, row.logical)
        cells = (*attacked, row.violated, row.differing)
        print(columns.line(row.executor, *map(str, cells)))
    print(
        f"\nbelow a load of {MOST_LOAD:.0%} with overheads, "
        "bound / longest response that the search found:"
    )
    columns = Columns(18, 9, 9, 9, 9, 9)
    print(columns.line("executor", "chains", "no bound", "median", "p95", "largest"))
    for row in rows:
        print(columns.line(row.executor, *row.below_load.cells()))
    if any(set(row.by_cpus) - {1} for row in rows):
        _print_by_cpus(rows)
    if not any(row.sampled for row in rows):
        return
    print("\nthe same of the reaction times and data ages of sampled chains:")
    columns = Columns(18, 9, 9, 9, 9, 9, 9, 9, 9)
    ratios = ("reaction", "p95", "largest", "age", "p95", "largest")
    print(columns.line("executor", "chains", "no bound", *ratios))
    for row in rows:
        print(columns.line(row.executor, *row.sampled_below_load.cells()))


def _print_by_cpus(rows: Sequence[Row]) -> None:
    print("\nthe same by the number of CPUs that the executors state together (any: none):")
    columns = Columns(18, 5, 9, 9, 9, 9, 9)
    print(columns.line("executor", "CPUs", "chains", "no bound", "median", "p95", "largest"))
    for row in rows:
        for cpus, statistics in row.by_cpus.items():
            print(columns.line(row.executor, str(cpus or "any"), *statistics.cells()))


def print_worst(executor: str, worst: Sequence[Loose]) -> None:
    """Prints the bounds with the largest ratios, also after a longer search if there was one, and
    how often each term is the longest one."""
    print(f"\n{executor}: the {len(worst)} largest ratios, by the longest term of the bound:")
    columns = Columns(42, 6)
    for cause, count in causes_of(worst):
        print(columns.line(cause, str(count)))
    columns = Columns(8, 8, 8, 5, 10, 12, 7)
    heads = ("ratio", "longer", "seed", "CPUs", "chain", "bound ms", "share")
    print(columns.line(*heads) + "  longest term")
    for each in worst:
        longer = "-" if each.longer is None else f"{each.longer:.2f}"
        place = (str(each.seed), str(each.cpus or "any"), each.chain)
        cells = (f"{each.ratio:.2f}", longer, *place)
        share = (f"{each.bound_ns / 1e6:.3f}", f"{each.share:.0%}")
        print(columns.line(*cells, *share) + f"  {each.cause}")


def json_of(
    rows: Sequence[Row],
    violations: Sequence[Violation],
    differing: Sequence[str],
    worst: Mapping[str, Sequence[Loose]],
) -> dict[str, object]:
    """Returns what print_tables() and print_worst() print, and the violations and differences."""
    return {
        "worst": [
            {
                "executor": executor,
                "causes": [
                    {"cause": cause, "bounds": bounds} for cause, bounds in causes_of(found)
                ],
                "bounds": [asdict(each) for each in found],
            }
            for executor, found in worst.items()
        ],
        "most_load": MOST_LOAD,
        "executors": [
            asdict(row)
            | {
                "by_cpus": [
                    {"cpus": cpus, "statistics": asdict(statistics)}
                    for cpus, statistics in row.by_cpus.items()
                ]
            }
            for row in rows
        ],
        "violations": [
            {
                "seed": each.application.rules.random_seed,
                "executor": each.executor,
                "chain": each.chain,
                "what": each.what,
                "time_ms": each.response_ns / 1e6,
                "bound_ms": each.bound_ns / 1e6,
            }
            for each in violations
        ],
        "differing": list(differing),
    }
