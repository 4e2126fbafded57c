# SPDX-License-Identifier: Apache-2.0
"""Checks proved bounds by simulation: a simulated response above a proved bound refutes the proof.

The bounds become the deadlines of the application. The search for counter-examples of `rclrt
analyze` then looks for a schedule that misses one of these deadlines. It tries adversarial offsets
first, then random ones, then changes of the best ones. A second search looks for reaction times and
data ages of cause-effect chains above their bounds. Every second application is checked on a
machine with overheads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rclrt_py.native import analysis, judge
from rclrt_py.runs.application import NO_DEADLINE_NS

from rclrt_experiments.generator.application import GeneratedApplication, draw_application
from rclrt_experiments.generator.draws import Draws
from rclrt_experiments.generator.feasibility import feasible_priorities, load
from rclrt_experiments.generator.rules import Rules
from rclrt_experiments.generator.timing import Infeasible
from rclrt_experiments.verification.looseness import Loose, cause_of
from rclrt_experiments.verification.sampled import (
    Sampling,
    as_limit,
    attack_sampled,
    sampling_total,
)
from rclrt_experiments.verification.search import search
from rclrt_experiments.verification.shrink import smaller_ones
from rclrt_experiments.verification.verdicts import differences
from rclrt_experiments.verification.violation import Violation, violation_of
from rclrt_experiments.verification.waits import with_waits

if TYPE_CHECKING:
    from rclrt_analysis import Overheads
    from rclrt_model import Application

Judge = Callable[..., Any]
CPU_COUNTS = (2, 3, 4, 8, 16)


@dataclass(frozen=True)
class Outcome:
    """The results of one application under one executor."""

    chains: int = 0
    proved: int = 0
    """Number of chains that are proved with their bound as the deadline: these were attacked."""
    violation: Violation | None = None
    difference: str = ""
    """The difference of the verdicts of library and command on a drawn machine. Empty: none."""
    unbounded: int = 0
    """Number of chains without a bound."""
    looseness: tuple[float, ...] = ()
    """For each proved chain of which an instance ended: its bound divided by the longest response
    that the search found."""
    load: float = 0.0
    """The utilisation of the application with the overheads: the sum over all its CPUs or, if
    executors have several or the rules state more than one CPU could do, the mean."""
    cpus: int = 1
    """Number of CPUs that its executors state together. 0: they state none."""
    loose: tuple[Loose, ...] = ()
    """The same chains, with what makes their bounds large."""
    sampling: Sampling = field(default_factory=Sampling)


@dataclass(frozen=True)
class Attack:
    """The search for a response above a bound, and its effort."""

    instances: int = 200_000
    """Number of instances to simulate for each application and executor."""
    on_machines: bool = True
    """Whether verdicts are compared on drawn machines, and every second application is attacked
    with the overheads of one."""
    judge: Judge | None = None
    """Replaces the verdicts of rclrt_analysis. Tests give wrong ones."""

    def outcome(
        self,
        application: GeneratedApplication,
        priorities: dict[str, int],
        executor: str,
        overheads: Overheads | None = None,
    ) -> Outcome:
        """Judges and attacks one application. The result is deterministic."""
        module = analysis()
        judged = self.judge or judge
        overheads_used = overheads or module.Overheads()
        machine = module.Machine(overheads=overheads_used)
        bounds = judged(load(application, priorities), executor, machine).chains
        deadlines = [as_limit(None if bound.assumptions else bound.bound_ns) for bound in bounds]
        attacked = replace(application, deadlines_ns=deadlines)
        model = load(attacked, priorities)
        verdicts = judged(model, executor, machine)
        wanted = [
            chain.verdict == "proved" and deadline < NO_DEADLINE_NS
            for chain, deadline in zip(verdicts.chains, deadlines, strict=True)
        ]
        outcome = Outcome(
            chains=len(bounds),
            proved=sum(wanted),
            unbounded=sum(bound.bound_ns is None for bound in bounds),
            load=load_on(model, overheads_used) / cpus_at_once(application.rules),
            cpus=len(application.rules.cpus),
        )
        if any(wanted):
            searched = search(model, executor, wanted, overheads_used, self.instances)
            loose = _loose(application, model, verdicts.chains, searched.closest)
            looseness = tuple(each.ratio for each in loose)
            outcome = replace(outcome, looseness=looseness, loose=loose)
            for found in searched.examples:
                if found is not None:
                    violation = violation_of(found, attacked, priorities, executor)
                    return replace(outcome, violation=violation)
        if application.logical:
            attacked = replace(attacked, deadlines_ns=_with_logical(application, deadlines))
            verdicts = judged(load(attacked, priorities), executor, machine)
        sampling, exceeded = attack_sampled(
            *(attacked, priorities, executor, overheads_used),
            *(verdicts.cause_effect_chains, self.instances),
        )
        return replace(outcome, sampling=sampling, violation=exceeded)

    def smallest(self, violation: Violation, overheads: Overheads | None = None) -> Violation:
        """Returns a violation of a bound by an application that is as small as possible: none of
        the smaller ones that smaller_ones() makes of it has a violation. The executor and the
        overheads stay."""
        found = True
        while found:
            found = False
            for smaller in smaller_ones(violation.application):
                known = {smaller.id_of(callback) for callback in smaller.order}
                kept = {name: p for name, p in violation.priorities.items() if name in known}
                outcome = self.outcome(smaller, kept, violation.executor, overheads)
                if outcome.violation is not None:
                    violation, found = outcome.violation, True
                    break
        return violation


def _loose(
    application: GeneratedApplication,
    model: Application,
    bounds: Sequence[Any],
    closest: Sequence[float],
) -> tuple[Loose, ...]:
    """Returns the bounds of chains of which an instance ended. `closest`: the longest response of
    each chain divided by its bound; 0 if none ended."""
    result = []
    for chain, bound, close in zip(model.chains, bounds, closest, strict=True):
        if close > 0:
            cause, time_ns = cause_of(getattr(bound, "why", ()))
            result.append(
                Loose(
                    ratio=1 / close,
                    bound_ns=bound.bound_ns,
                    chain=chain.id,
                    seed=application.rules.random_seed,
                    cpus=len(application.rules.cpus),
                    cause=cause,
                    share=time_ns / max(bound.bound_ns, 1),
                )
            )
    return tuple(result)


def _with_logical(application: GeneratedApplication, deadlines: Sequence[int]) -> list[int]:
    """Returns these deadlines, which are bounds where there are any. A chain with logical execution
    time keeps its own deadline, at which its values move, unless its bound is later."""
    result = list(deadlines)
    for number in application.logical:
        own, bound = application.deadlines_ns[number], deadlines[number]
        result[number] = max(own, bound) if bound < NO_DEADLINE_NS else own
    return result


def cpus_at_once(rules: Rules) -> int:
    """Returns the number of CPUs, if executors have several of them or the utilisation is above 1;
    otherwise 1."""
    several = rules.cpus_per_executor > 1 or rules.util_total > 1
    return max(len(rules.cpus), 1) if several else 1


def load_on(application: Application, overheads: Overheads) -> float:
    """Returns the utilisation of an application with the overheads of a machine."""
    each_ns = overheads.dispatch_ns + overheads.scheduler_ns + overheads.polling_ns
    instances: float = sum(application.rates())
    background = overheads.background_ns / 1e6
    return application.utilisation() + instances * each_ns / 1e9 + background


def attack_seed(
    rules: Rules, seed: int, executors: Sequence[str], attack: Attack, vary: bool, cpus: int = 1,
    across: bool = False, hosts: int = 1, waits: bool = False,
) -> dict[str, Outcome] | None:  # fmt: skip
    """Searches, under each executor, for a response above a bound in the application of one seed,
    and compares the verdicts of the command and the library on a drawn machine. Returns the
    outcomes by executor.

    Returns None if the rules and the seed give no feasible application. With `vary`, the seed also
    draws the rules that varied() changes, for executors on up to this number of CPUs. `across`:
    back_and_forth() changes them, too, and so does on_hosts() for several `hosts`.
    `waits`: with_waits() does.
    """
    own = replace(rules, random_seed=seed)
    if vary:
        own = with_messages(varied(own, cpus))
    own = back_and_forth(own) if across else own
    if waits:
        own = with_waits(own)
    try:
        application = draw_application(on_hosts(own, hosts) if hosts > 1 else own)
        priorities = feasible_priorities(application)
    except Infeasible:
        return None
    differing: dict[str, str] = {}
    machines: dict[str, Overheads] = {}
    if attack.on_machines:
        differing, machines = differences(application, priorities, executors)
    outcomes = {}
    for executor in executors:
        on_machine = machines.get(executor) if seed % 2 else None
        outcome = attack.outcome(application, priorities, executor, on_machine)
        outcome = replace(outcome, difference=differing.get(executor, ""))
        if outcome.violation is not None:
            outcome = replace(outcome, violation=attack.smallest(outcome.violation, on_machine))
        outcomes[executor] = outcome
    return outcomes


def varied(rules: Rules, cpus: int = 1) -> Rules:
    """Returns `rules` with drawn values for most rules, so that many seeds give applications of
    every kind: few chains or many, merged or not, with services or not, sampled or not, with
    logical execution time or not, in phase or not, on one executor or several. Above 1, `cpus` is
    the most CPUs that the executors have: each has one of them or several, and may share them with
    others. Some applications then state no CPUs."""
    draws = Draws(rules.random_seed, "varied")
    executors = draws.one_of((1, 1, 1, 2, 3))
    result = replace(
        rules,
        chain_count=1 + draws.index(5),
        chain_avg_len=Decimal(1 + draws.index(5)),
        chain_variance=Decimal("0.3"),
        chain_merge_p=draws.one_of((0.0, 0.05, 0.2)),
        chain_sync_p=draws.one_of((0.0, 0.2, 0.7)),
        sync_inputs=draws.one_of((2, 2, 4)),
        sync_window_us=draws.one_of((1_000, 10_000, 1_000_000)),
        sync_share_period=draws.chance(0.6),
        util_total=Decimal(1 + draws.index(19)) / 20,
        min_period_us=1_000,
        max_period_us=draws.one_of((10_000, 100_000)),
        period_step_us=draws.one_of((500, 1_000)),
        offsets=draws.one_of(("unstated", "unstated", "zero", "random")),
        group_p=draws.one_of((0.0, 0.0, 0.4)),
        use_priority_synthesis=draws.chance(0.4),
        executor_count=executors,
        cpus=tuple(range(1 + draws.index(executors))),
        event_p=draws.one_of((0.0, 0.0, 0.4)),
        max_event_interval=Decimal(2),
        service_p=draws.one_of((0.0, 0.0, 0.5)),
        event_jitter=draws.one_of((Decimal(0), Decimal("0.3"), Decimal("0.9"), Decimal("2.5"))),
        sample_p=draws.one_of((0.0, 0.3, 0.6)),
        let_p=draws.one_of((0.0, 0.0, 0.5, 1.0)),
        topic_p=draws.one_of((0.0, 0.5)),
    )
    if result.let_p > 0:
        result = replace(result, min_deadline=Decimal("0.1"), max_deadline=Decimal("1.5"))
    if cpus == 1:
        return result
    if Draws(rules.random_seed, "no CPUs").chance(0.2):
        return replace(result, cpus=())
    return on_several_cpus(result, cpus)


def on_several_cpus(rules: Rules, most: int) -> Rules:
    """Returns rules for executors on 2, 3, 4, 8, 16 or `most` CPUs, but no more than `most`. They
    have more chains and a higher utilisation."""
    draws = Draws(rules.random_seed, "CPUs")
    cpus = draws.one_of(tuple(sorted({each for each in CPU_COUNTS if each < most} | {most})))
    chains = rules.chain_count + draws.index(2 * cpus)
    return replace(
        rules,
        cpus=tuple(range(cpus)),
        cpus_per_executor=1 + draws.index(cpus),
        chain_count=chains,
        utilisation="randfixedsum",
        util_total=min(rules.util_total * cpus, chains * Decimal("0.8")),
    )


def back_and_forth(rules: Rules) -> Rules:
    """Returns rules for long chains between executors on two or three CPUs of their own, each with
    the utilisation that all had together."""
    draws = Draws(rules.random_seed, "back and forth")
    executors = 2 + draws.index(2)
    chains = 1 + draws.index(3)
    return replace(
        rules,
        executor_count=executors,
        cpus=tuple(range(executors)),
        chain_count=chains,
        chain_avg_len=Decimal(3 + draws.index(3)),
        utilisation="randfixedsum",
        util_total=min(rules.util_total * executors, chains * Decimal("0.9")),
    )


def on_hosts(rules: Rules, hosts: int) -> Rules:
    """Returns rules for executors on this number of hosts, which exchange messages."""
    draws = Draws(rules.random_seed, "hosts")
    executors = max(rules.executor_count, hosts + draws.index(2))
    return replace(
        rules,
        host_count=hosts,
        executor_count=executors,
        topic_p=1.0 if draws.chance(0.8) else rules.topic_p,
        min_message_bytes=1,
        max_message_bytes=draws.one_of((100, 4096, 50_000)),
    )


def with_messages(rules: Rules) -> Rules:
    """Returns rules for messages of several sizes."""
    return replace(rules, max_message_bytes=4096)


def total(outcomes: Sequence[Outcome]) -> Outcome:
    """Returns the sum of the counts, and the looseness of all chains in ascending order."""
    return Outcome(
        chains=sum(each.chains for each in outcomes),
        proved=sum(each.proved for each in outcomes),
        unbounded=sum(each.unbounded for each in outcomes),
        looseness=tuple(sorted(ratio for each in outcomes for ratio in each.looseness)),
        loose=tuple(loose for each in outcomes for loose in each.loose),
        sampling=sampling_total([each.sampling for each in outcomes]),
    )


def violations(outcomes: Sequence[dict[str, Outcome]]) -> Iterator[Violation]:
    for each in outcomes:
        for outcome in each.values():
            if outcome.violation is not None:
                yield outcome.violation
