# SPDX-License-Identifier: Apache-2.0
"""The analysis of an application as a document: bounds, verdicts and their reasons."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NotRequired, TypedDict, final

from rclrt_py.analyses.advice import ChainAdvice
from rclrt_py.analyses.counter_example import ChainCounterExample, counter_example
from rclrt_py.analyses.links import Link, link_of
from rclrt_py.analyses.queues import Queue, queues
from rclrt_py.analyses.sensitivity import SensitivityResult
from rclrt_py.bounds.machine import overheads_us
from rclrt_py.native import analysis, judge
from rclrt_py.stats import ms_or_none

if TYPE_CHECKING:
    from rclrt_analysis import Assumption as NativeAssumption
    from rclrt_analysis import (
        CauseEffectBound,
        ChainBound,
        Contribution,
        CounterExample,
        Judgement,
        Machine,
    )
    from rclrt_model import Application
    from rclrt_model import CauseEffectChain as NativeChain


@final
class Part(TypedDict):
    """A term of a bound. `kind` is that of a Contribution of rclrt_analysis."""

    kind: str
    callback: str
    releases: int
    total_ms: float


@final
class Rest(TypedDict):
    """The sum of the shorter terms of a bound with many terms. `kind` is "rest"."""

    kind: str
    terms: int
    total_ms: float


class Assumption(TypedDict):
    """An assumption of every bound. Its id stays the same when its text changes."""

    id: str
    text: str
    relevant: bool
    """Whether the application has what the assumption is about."""


class Chain(TypedDict):
    """The verdict on one chain, and its reasons."""

    id: str
    bound_ms: float | None
    deadline_ms: float
    verdict: str
    assumptions: list[str]
    note: str
    why: list[Part | Rest]
    """The terms, the longest first. A Rest comes last."""
    # Only in the sound test:
    waited_ms: NotRequired[float]
    """Time from the start of the work in `why` to the release. Subtracted from the sum of `why`, it
    gives the bound."""
    reaction_ms: NotRequired[float | None]
    data_age_ms: NotRequired[float | None]
    level: NotRequired[int]
    stamp_error_ms: NotRequired[float]
    """Only for a chain that ends on another host than it starts on, if the clocks' errors are
    stated: how much a response that is judged by stamps may differ from the true one."""
    counter_example: NotRequired[ChainCounterExample]
    # Only in the thesis's test:
    workload_ms: NotRequired[float]
    # Only in PiCAS's test:
    sound_ms: NotRequired[float | None]
    unsafe: NotRequired[list[str]]


class SampledTerm(TypedDict):
    """A term of the bounds of a cause-effect chain. `kind` is that of a CauseEffectTerm of
    rclrt_analysis."""

    kind: str
    chain: str
    """The segment's chain."""
    callback: str
    """The callback of the segment that reads the variable; of the first one, its first."""
    reaction_ms: float
    age_ms: float


class CauseEffectChain(TypedDict):
    """The verdict on a path over messages and variables, and its reasons."""

    id: str
    segments: list[str]
    """The ids of their chains."""
    reaction_ms: float | None
    max_reaction_ms: float | None
    age_ms: float | None
    max_age_ms: float | None
    verdict: str
    assumptions: list[str]
    note: str
    why: list[SampledTerm]
    counter_example: NotRequired[ChainCounterExample]


class CallbackPriority(TypedDict):
    """The priority that the analysis used for a callback."""

    id: str
    priority: int


class Feasibility(TypedDict):
    """The thesis's feasibility test."""

    holds: bool
    assumptions: list[Assumption]


class Harmonic(TypedDict):
    """The thesis's harmonic test."""

    applies: bool
    why_not: str
    holds: bool
    assumptions: list[Assumption]


class Tests(TypedDict):
    """The thesis's two tests."""

    feasibility: Feasibility
    harmonic: Harmonic


class Analysis(TypedDict):
    """The document that `rclrt analyze APP --json` prints."""

    application: str
    test: str
    utilisation: float
    callbacks: list[CallbackPriority]
    feasible: bool
    assumptions: list[Assumption]
    chains: list[Chain]
    # Only in the sound test:
    executor: NotRequired[str]
    overheads: NotRequired[dict[str, float]]
    queues: NotRequired[list[Queue]]
    links: NotRequired[list[Link]]
    """Only for an application with hosts."""
    cause_effect_chains: NotRequired[list[CauseEffectChain]]
    not_searched: NotRequired[str]
    searched_without: NotRequired[list[str]]
    sensitivity: NotRequired[SensitivityResult]
    advice: NotRequired[list[ChainAdvice]]
    # Only in the thesis's test:
    tests: NotRequired[Tests]


def sound(
    application: Application,
    executor: str,
    machine: Machine,
    *,
    search: bool,
    all_terms_of: int | None = None,
) -> tuple[Analysis, list[CounterExample]]:
    """Returns the document of `rclrt analyze --json` with safe bounds and verdicts, and the
    counter-examples that were found. The chain with the index `all_terms_of` has all terms of its
    bound, however many there are.

    If `search` is true, a simulation searches, for each chain without a proof, for a schedule that
    misses the deadline. A chain with such a schedule has the verdict "refuted". Under an executor
    without bounds, each chain is unknown or refuted. In the document, `feasible` is
    true if every deadline is proved or conditional.
    """
    module = analysis()
    judgement = judge(application, executor, machine, all_terms_of=all_terms_of, with_queues=True)
    refutation = None
    if search:
        refutation = module.refute(application, judgement, executor, machine)
        judgement = refutation.judgement
    ids = [callback.id for callback in application.callbacks]
    result: Analysis = {
        "application": application.name,
        "test": "sound",
        "utilisation": application.utilisation(),
        "callbacks": _priorities(application),
        "executor": executor,
        "feasible": judgement.feasible,
        "overheads": overheads_us(machine),
        "queues": queues(application, judgement),
        "assumptions": _assumptions(judgement.assumptions),
        "chains": [
            _sound_chain(chain.id, chain.deadline_ns, bound, ids)
            for chain, bound in zip(application.chains, judgement.chains, strict=True)
        ],
    }
    _add_parts(result, application, judgement)
    if refutation is None:
        return result, []
    found: list[tuple[Chain | CauseEffectChain, CounterExample | None]] = [
        *zip(result["chains"], refutation.examples, strict=True),
        *zip(result.get("cause_effect_chains", []), refutation.cause_effect_examples, strict=True),
    ]
    for chain, example in found:
        if example is not None:
            chain["counter_example"] = counter_example(application, example)
    if refutation.not_searched:
        result["not_searched"] = refutation.not_searched
    if refutation.left_out:
        result["searched_without"] = refutation.left_out
    return result, [example for _, example in found if example is not None]


def _add_parts(result: Analysis, application: Application, judgement: Judgement) -> None:
    """Adds what only applications with links or chains that sample have."""
    if application.hosts:
        result["links"] = [link_of(application, bound) for bound in judgement.links]
    if application.cause_effect_chains:
        result["cause_effect_chains"] = [
            _cause_effect_chain(application, chain, bound)
            for chain, bound in zip(
                application.cause_effect_chains, judgement.cause_effect_chains, strict=True
            )
        ]


def _sound_chain(name: str, deadline_ns: int, bound: ChainBound, ids: list[str]) -> Chain:
    result: Chain = {
        "id": name,
        "bound_ms": ms_or_none(bound.bound_ns),
        "deadline_ms": deadline_ns / 1e6,
        "waited_ms": bound.waited_ns / 1e6,
        "reaction_ms": ms_or_none(bound.reaction_ns),
        "data_age_ms": ms_or_none(bound.data_age_ns),
        "verdict": bound.verdict,
        "assumptions": [*bound.assumptions],
        "level": bound.level,
        "note": bound.note,
        "why": [_term(part, ids) for part in bound.why],
    }
    if bound.stamp_error_ns is not None:
        result["stamp_error_ms"] = bound.stamp_error_ns / 1e6
    return result


def _term(part: Contribution, ids: list[str]) -> Part | Rest:
    if part.kind == "rest":
        return {"kind": "rest", "terms": part.releases, "total_ms": part.total_ns / 1e6}
    return {
        "kind": part.kind,
        "callback": ids[part.callback],
        "releases": part.releases,
        "total_ms": part.total_ns / 1e6,
    }


def _cause_effect_chain(
    application: Application, chain: NativeChain, bound: CauseEffectBound
) -> CauseEffectChain:
    chains = [application.chains[segment.chain] for segment in chain.segments]
    readers = [
        application.callbacks[path.callbacks[segment.entry]].id
        for path, segment in zip(chains, chain.segments, strict=True)
    ]
    return {
        "id": chain.id,
        "segments": [each.id for each in chains],
        "reaction_ms": ms_or_none(bound.reaction_ns),
        "max_reaction_ms": ms_or_none(chain.max_reaction_ns),
        "age_ms": ms_or_none(bound.age_ns),
        "max_age_ms": ms_or_none(chain.max_age_ns),
        "verdict": bound.verdict,
        "assumptions": [*bound.assumptions],
        "note": bound.note,
        "why": [
            {
                "kind": term.kind,
                "chain": chains[term.segment].id,
                "callback": readers[term.segment],
                "reaction_ms": term.reaction_ns / 1e6,
                "age_ms": term.age_ns / 1e6,
            }
            for term in bound.why
        ],
    }


def thesis(application: Application) -> Analysis:
    """Returns the thesis's feasibility and harmonic tests, which are conditional at most."""
    found = analysis().judge_by_thesis(application)
    feasibility, harmonic = found.feasibility, found.harmonic
    chains: list[Chain] = [
        {
            "id": chain.id,
            "bound_ms": ms_or_none(task.response_ns) if harmonic.applies else None,
            "workload_ms": work.workload_ns / 1e6,
            "deadline_ms": chain.deadline_ns / 1e6,
            "verdict": verdict,
            "assumptions": [],
            "note": "" if work.holds else "not feasible: the workload exceeds the deadline",
            "why": [],
        }
        for chain, work, task, verdict in zip(
            application.chains, feasibility.chains, harmonic.chains, found.verdicts, strict=True
        )
    ]
    return {
        "application": application.name,
        "test": "thesis",
        "utilisation": application.utilisation(),
        "callbacks": _priorities(application),
        "feasible": found.feasible,
        "tests": {
            "feasibility": {
                "holds": feasibility.holds,
                "assumptions": _assumptions(feasibility.assumptions),
            },
            "harmonic": {
                "applies": harmonic.applies,
                "why_not": harmonic.why_not,
                "holds": harmonic.holds,
                "assumptions": _assumptions(harmonic.assumptions),
            },
        },
        "assumptions": _assumptions([*feasibility.assumptions, *harmonic.assumptions]),
        "chains": chains,
    }


def picas(application: Application) -> Analysis:
    """Returns PiCAS's own bounds beside the sound ones; they are conditional at most."""
    module = analysis()
    judgement = judge(application, "picas", module.Machine())
    published = module.picas_bounds(application)
    chains: list[Chain] = [
        {
            "id": chain.id,
            "bound_ms": ms_or_none(own.bound_ns),
            "sound_ms": ms_or_none(bound.bound_ns),
            "unsafe": [*own.unsafe],
            "deadline_ms": chain.deadline_ns / 1e6,
            "verdict": own.verdict,
            "assumptions": [*bound.assumptions],
            "note": own.note,
            "why": [],
        }
        for chain, bound, own in zip(application.chains, judgement.chains, published, strict=True)
    ]
    return {
        "application": application.name,
        "test": "picas",
        "utilisation": application.utilisation(),
        "callbacks": _priorities(application),
        "executor": "picas",
        "feasible": all(own.holds for own in published),
        "assumptions": _assumptions(judgement.assumptions),
        "chains": chains,
    }


def _assumptions(found: Iterable[NativeAssumption]) -> list[Assumption]:
    return [{"id": each.id, "text": each.text, "relevant": each.relevant} for each in found]


def _priorities(application: Application) -> list[CallbackPriority]:
    return [
        {"id": callback.id, "priority": application.effective_priority(index)}
        for index, callback in enumerate(application.callbacks)
    ]
