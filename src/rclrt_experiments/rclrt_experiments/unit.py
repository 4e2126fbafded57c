# SPDX-License-Identifier: Apache-2.0
"""A unit of work: one application under one executor, analysed and simulated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from rclrt_py.executors import kind_of
from rclrt_py.native import analysis, judge
from rclrt_py.stats import ms_or_none, nearest_rank

from rclrt_experiments.experiment import LET, SAMPLED, SYNTHESIS, Experiment, base_of
from rclrt_experiments.generator.application import GeneratedApplication, draw_application
from rclrt_experiments.generator.draws import Draws
from rclrt_experiments.generator.feasibility import feasible_priorities, load
from rclrt_experiments.generator.graph import Kind
from rclrt_experiments.generator.rules import Rules
from rclrt_experiments.generator.timing import Infeasible
from rclrt_experiments.rows import OutputRow, OverheadRow, Row

if TYPE_CHECKING:
    from rclrt_analysis import Overheads
    from rclrt_model import Application

Instance = tuple[int, int, int, int]
"""Callback, and its ready, start and end times in nanoseconds."""


@dataclass(frozen=True, order=True)
class Unit:
    """One application under one executor. Units have the order of the rows."""

    experiment: int
    point: int
    trial: int
    """Number of the trial, from 1; also the seed."""
    executor: int

    def key(self) -> str:
        return f"{self.experiment}/{self.point}/{self.trial}/{self.executor}"


@dataclass(frozen=True)
class Done:
    """The result of a unit."""

    rows: tuple[Row, ...] = ()
    overheads: tuple[OverheadRow, ...] = ()
    infeasible: str = ""
    """The reason why the application cannot be generated; empty: it can."""
    run: dict[str, Any] = field(default_factory=dict)
    """For a run on ROS 2: its time, its machine, and the time that the host took."""
    outputs: tuple[OutputRow, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Done:
        return cls(
            tuple(Row(**row) for row in value["rows"]),
            tuple(OverheadRow(**row) for row in value["overheads"]),
            value["infeasible"],
            value["run"],
            tuple(OutputRow(**row) for row in value.get("outputs", ())),
        )


def units_of(
    number: int, experiment: Experiment, trials: int, executors: Sequence[str]
) -> Iterator[Unit]:
    """Yields the units. Executors are interleaved: all run one application, then the next one."""
    for point in range(len(experiment.points)):
        for trial in range(1, trials + 1):
            for executor in range(len(executors)):
                yield Unit(number, point, trial, executor)


class HasBound(Protocol):
    """A bound of a chain, and its verdict on the deadline."""

    @property
    def bound_ns(self) -> int | None: ...
    @property
    def verdict(self) -> str: ...


class HasOutputBounds(Protocol):
    """The bounds of a chain's reaction time and data age, and its verdict on their limits."""

    @property
    def reaction_ms(self) -> float | None: ...
    @property
    def age_ms(self) -> float | None: ...
    @property
    def verdict(self) -> str: ...


@dataclass(frozen=True)
class Drawn:
    """A generated application with the priorities of its callbacks, as text and as a model."""

    generated: GeneratedApplication
    priorities: dict[str, int]
    deadlines_ns: dict[str, int]
    model: Application


@dataclass(frozen=True)
class Bound:
    """A bound of the analysis. The default is for an executor for which it has no bound."""

    bound_ns: int | None = None
    verdict: str = "unknown"


@dataclass(frozen=True)
class OutputBounds:
    """The bounds of a path. The default is for an executor for which the analysis has none."""

    reaction_ms: float | None = None
    age_ms: float | None = None
    verdict: str = "unknown"


@lru_cache(maxsize=8)
def draw(experiment: Experiment, point: int, trial: int, executor: str) -> Drawn:
    """Generates the application of a trial. The application is the same for every executor; only
    the callbacks' priorities and deadlines are those that this executor needs, and the links of the
    chains are sampled if its name ends so. Throws Infeasible."""
    rules = replace(
        experiment.points[point].rules,
        random_seed=trial,
        use_priority_synthesis=executor.endswith(SYNTHESIS),
    )
    generated = draw_application(with_links(rules, executor))
    priorities = feasible_priorities(generated)
    deadlines = share_deadlines(generated) if kind_of(base_of(executor)).by_deadline else {}
    return Drawn(generated, priorities, deadlines, load(generated, priorities, deadlines))


def with_links(rules: Rules, executor: str) -> Rules:
    """Returns the rules for the links that the suffix of the executor's name states."""
    if not executor.endswith((SAMPLED, LET)):
        return rules
    let_p = 1.0 if executor.endswith(LET) else 0.0
    return replace(rules, sample_p=1.0, sample_share_period=True, let_p=let_p)


def share_deadlines(application: GeneratedApplication) -> dict[str, int]:
    """Returns relative deadlines of callbacks for EDF, in nanoseconds by callback id: the deadline
    of the chain divided by its number of callbacks; a callback of several chains gets the shortest.
    A callback's deadline counts from its own release, so the shares add up along the chain (equal
    flexibility for equal work: Kao and Garcia-Molina, "Deadline assignment in a distributed soft
    real-time system", IEEE TPDS, 1997)."""
    shares: dict[str, int] = {}
    for chain, deadline_ns in zip(application.graph.chains, application.deadlines_ns, strict=True):
        for callback in chain:
            name = application.id_of(callback)
            share = max(1, deadline_ns // len(chain))
            shares[name] = min(share, shares.get(name, share))
    return shares


def bounds_of(
    model: Application, executor: str, overheads: Overheads
) -> tuple[Sequence[HasBound], Sequence[HasOutputBounds]]:
    """Returns the bounds of each chain, and of each path with limits of its reaction time and data
    age, on a machine with these overheads."""
    if analysis().why_no_bounds(executor) is not None:
        none = OutputBounds()
        return [Bound()] * len(model.chains), [none] * len(model.cause_effect_chains)
    found = judge(model, executor, analysis().Machine(overheads=overheads))
    return found.chains, [
        OutputBounds(ms_or_none(each.reaction_ns), ms_or_none(each.age_ns), each.verdict)
        for each in found.cause_effect_chains
    ]


def simulate_unit(
    experiment: Experiment, executors: Sequence[str], seconds: float, unit: Unit
) -> Done:
    """Analyses and simulates one application under one executor. Deterministic."""
    name = executors[unit.executor]
    try:
        drawn = draw(experiment, unit.point, unit.trial, name)
    except Infeasible as why:
        return Done(infeasible=str(why))
    module = analysis()
    overheads = experiment.machine.native()
    bounds, of_outputs = bounds_of(drawn.model, base_of(name), overheads)
    simulated = drawn.model
    if experiment.machine.random_phases:
        phased = with_phases(drawn.generated, unit.trial)
        simulated = load(phased, drawn.priorities, drawn.deadlines_ns)
    machine = {
        "seed": unit.trial,
        "lowest_execution": experiment.machine.lowest_execution,
        "overheads": overheads,
        "cpus": experiment.machine.cpus,
    }
    horizon_ns = round(seconds * 1e9)
    chains, instances = module.simulate(
        simulated, base_of(name), horizon_ns, keep_instances=True, **machine
    )
    rows = [
        row_of(experiment, name, unit, drawn, chain, bound, outcome.completed, outcome.missed,
               outcome.best_ns, outcome.mean_ns, outcome.worst_ns,
               (outcome.from_start_best_ns, outcome.from_start_worst_ns))
        for chain, (outcome, bound) in enumerate(zip(chains, bounds, strict=True))
    ]  # fmt: skip
    outputs: list[OutputRow] = []
    if of_outputs:
        found = module.simulate_outputs(simulated, base_of(name), horizon_ns, **machine)
        for number, (own, bound_of_outputs) in enumerate(zip(found, of_outputs, strict=True)):
            outputs.append(
                output_row(experiment, name, unit, drawn, number, bound_of_outputs,
                           len(own.ages_ns), spread(own.reactions_ns), spread(own.ages_ns))
            )  # fmt: skip
    return Done(
        tuple(rows), tuple(overhead_rows(experiment, name, unit, instances)), outputs=tuple(outputs)
    )


def with_phases(application: GeneratedApplication, trial: int) -> GeneratedApplication:
    """Returns the application with a random offset for each timer that states none. In one trial,
    a timer has the same one under each executor, whatever else is in the application."""
    offsets = {}
    for timer, kind in application.graph.kinds.items():
        if kind is Kind.TIMER and timer not in application.events:
            period_us = application.period_ns(timer) // 1000
            offsets[timer] = Draws(trial, f"phase {timer}").index(period_us)
    return replace(application, offsets_us=offsets | application.offsets_us)


@dataclass(frozen=True)
class Spread:
    """The shortest, the median and the longest of some times, in milliseconds. None: there are no
    times."""

    best_ms: float | None = None
    p50_ms: float | None = None
    worst_ms: float | None = None


def spread(times_ns: Sequence[int]) -> Spread:
    ordered = sorted(times_ns)
    if not ordered:
        return Spread()
    return Spread(ordered[0] / 1e6, nearest_rank(ordered, 50) / 1e6, ordered[-1] / 1e6)


def output_row(
    experiment: Experiment,
    executor: str,
    unit: Unit,
    drawn: Drawn,
    number: int,
    bound: HasOutputBounds,
    outputs: int,
    reaction: Spread,
    age: Spread,
) -> OutputRow:
    """Returns the result row of a path with limits. The row has the name of the drawn chain of
    which the path consists."""
    path = drawn.generated.paths[number]
    first = path[0].chain
    return OutputRow(
        experiment=experiment.name,
        executor=executor,
        varied=experiment.points[unit.point].label,
        trial=unit.trial,
        seed=unit.trial,
        chain=f"chain{first}",
        period_ms=drawn.generated.times[first].period_us / 1000,
        segments=len(path),
        n=outputs,
        reaction_best_ms=reaction.best_ms,
        reaction_p50_ms=reaction.p50_ms,
        reaction_worst_ms=reaction.worst_ms,
        age_best_ms=age.best_ms,
        age_p50_ms=age.p50_ms,
        age_worst_ms=age.worst_ms,
        reaction_bound_ms=bound.reaction_ms,
        age_bound_ms=bound.age_ms,
        verdict=bound.verdict,
    )


def row_of(
    experiment: Experiment,
    executor: str,
    unit: Unit,
    drawn: Drawn,
    chain: int,
    bound: HasBound,
    completed: int,
    missed: int,
    best_ns: float,
    mean_ns: float,
    worst_ns: float,
    from_start_ns: tuple[float, float] | None,
) -> Row:
    """Returns the result row of one chain. Times are in nanoseconds. `from_start_ns`: the best and
    the worst time from the start of the chain's first callback to the end of the chain; None: not
    recorded."""
    time = drawn.generated.times[chain]
    period_ns = time.period_us * 1000
    ran = completed > 0
    return Row(
        experiment=experiment.name,
        executor=executor,
        varied=experiment.points[unit.point].label,
        trial=unit.trial,
        seed=unit.trial,
        chain=drawn.model.chains[chain].id,
        period_ms=period_ns / 1e6,
        utilisation=float(time.utilisation),
        n=completed,
        best_ms=best_ns / 1e6 if ran else None,
        mean_ms=mean_ns / 1e6 if ran else None,
        worst_ms=worst_ns / 1e6 if ran else None,
        normalised_worst=worst_ns / period_ns if ran else None,
        jitter=(worst_ns - best_ns) / period_ns if ran else None,
        missed=missed,
        bound_ms=ms_or_none(bound.bound_ns),
        verdict=bound.verdict,
        from_start_worst=from_start_ns[1] / period_ns if ran and from_start_ns else None,
        from_start_jitter=(
            (from_start_ns[1] - from_start_ns[0]) / period_ns if ran and from_start_ns else None
        ),
    )


def overhead_rows(
    experiment: Experiment, executor: str, unit: Unit, instances: Sequence[Instance]
) -> Iterator[OverheadRow]:
    """Yields the distribution of two times over all instances of a run. "ready" is the time from
    the release of a callback to its first instruction. "launch" is only the part of it in which no
    earlier callback ran: the time that the executor takes to launch a callback."""
    for measure, times in (("ready", waits(instances)), ("launch", launches(instances))):
        if times:
            ordered = sorted(times)
            p2, p25, p50, p75, p98 = (nearest_rank(ordered, p) / 1e3 for p in (2, 25, 50, 75, 98))
            yield OverheadRow(
                experiment.name, executor, experiment.points[unit.point].label, unit.trial,
                unit.trial, measure, len(ordered), p2, p25, p50, p75, p98, ordered[-1] / 1e3,
            )  # fmt: skip


def waits(instances: Sequence[Instance]) -> list[int]:
    """Returns the times from ready to the first instruction."""
    return [start - ready for _, ready, start, _ in instances]


def launches(instances: Sequence[Instance]) -> list[int]:
    """Returns, for each instance, how long the executor took to launch it, in nanoseconds: the time
    to its first instruction, from its release or from the last end of another instance, whichever
    is later. All callbacks of an experiment share one CPU, so the executor could launch it from
    then on."""
    ends = sorted(end for *_, end in instances)
    times = []
    last, place = 0, 0
    for _, ready, start, _ in sorted(instances, key=lambda instance: instance[2]):
        while place < len(ends) and ends[place] <= start:
            last = ends[place]
            place += 1
        times.append(start - max(ready, last))
    return times
