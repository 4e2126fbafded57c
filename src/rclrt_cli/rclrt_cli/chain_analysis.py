# SPDX-License-Identifier: Apache-2.0
"""An application's analysis as JSON and as a table."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NotRequired, TypedDict

from rclrt_py.native import analysis, judge

from rclrt_cli.bounds.machine import overheads_us
from rclrt_cli.sensitivity import SensitivityResult

if TYPE_CHECKING:
    from rclrt_analysis import Assumption as NativeAssumption
    from rclrt_analysis import Machine
    from rclrt_model import Application

HOLDS = ("proved", "conditional")
WIDTH = 12
SHOWN = 4
"""Number of terms and reasons that are shown. --json has all of them."""
BOUNDS = {"picas": ("PiCAS ms", "sound ms")}
CONTRIBUTIONS = {
    "own": "its own work, {releases} releases of {id}",
    "interference": "{releases} releases of {id}",
    "sets": "{releases} sets of {id}, and what follows them",
    "started": "{id} had started, and what follows it",
    "other_input": "until the other input of {id} comes",
    "callback": "{id}, from being ready to its end",
    "hop": "the message to {id}",
    "segment": "{releases} callbacks on one CPU up to {id}, from ready to end",
    "ready_sets": "{releases} ready sets, until {id} has ended",
    "late": "{id} is released late",
    "background": "in the background, {releases} milliseconds",
    "stall": "while the CPU stood still",
}


class Part(TypedDict):
    """A term of a bound; `kind` is a key of CONTRIBUTIONS."""

    kind: str
    callback: str
    releases: int
    total_ms: float


class Assumption(TypedDict):
    """An assumption of every bound. Its id stays the same when its text changes."""

    id: str
    text: str
    relevant: bool
    """Whether the application has what the assumption is about."""


class ChainCounterExample(TypedDict):
    """A schedule in which a chain misses; see `rclrt simulate --replay`."""

    executor: str
    offsets_ms: dict[str, float]
    seed: int
    execution_from: float
    delays_from: float
    horizon_ms: float
    instance: int
    release_ms: float
    response_ms: float


class Chain(TypedDict):
    """The verdict on one chain, and its reasons."""

    id: str
    bound_ms: float | None
    deadline_ms: float
    verdict: str
    assumptions: list[str]
    note: str
    why: list[Part]
    # Only in the sound test:
    reaction_ms: NotRequired[float | None]
    data_age_ms: NotRequired[float | None]
    level: NotRequired[int]
    counter_example: NotRequired[ChainCounterExample]
    # Only in the thesis's test:
    workload_ms: NotRequired[float]
    # Only in PiCAS's test:
    sound_ms: NotRequired[float | None]
    unsafe: NotRequired[list[str]]


class CallbackPriority(TypedDict):
    """The priority that the analysis used for a callback."""

    id: str
    priority: int


class Queue(TypedDict):
    """Whether a callback's queue is deep enough."""

    id: str
    pending_bound: int | None
    depth: int
    holds: bool


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
    not_searched: NotRequired[str]
    searched_without: NotRequired[list[str]]
    sensitivity: NotRequired[SensitivityResult]
    # Only in the thesis's test:
    tests: NotRequired[Tests]


def sound(application: Application, executor: str, machine: Machine) -> Analysis:
    """Returns the safe bounds. `feasible` is true if every deadline is proved or conditional."""
    module = analysis()
    ids = [callback.id for callback in application.callbacks]
    found = judge(application, executor, machine)
    chains: list[Chain] = [
        {
            "id": chain.id,
            "bound_ms": _ms(bound.bound_ns),
            "deadline_ms": chain.deadline_ns / 1e6,
            "reaction_ms": _ms(bound.reaction_ns),
            "data_age_ms": _ms(bound.data_age_ns),
            "verdict": bound.verdict,
            "assumptions": [*bound.assumptions],
            "level": bound.level,
            "note": bound.note,
            "why": [
                {
                    "kind": part.kind,
                    "callback": ids[part.callback],
                    "releases": part.releases,
                    "total_ms": part.total_ns / 1e6,
                }
                for part in bound.why
            ],
        }
        for chain, bound in zip(application.chains, found.chains, strict=True)
    ]
    queues = module.queue_bounds(application, executor, machine.overheads)
    return {
        "application": application.name,
        "test": "sound",
        "utilisation": application.utilisation(),
        "callbacks": _priorities(application),
        "executor": executor,
        "feasible": found.feasible,
        "overheads": overheads_us(machine),
        "queues": [
            {"id": name, "pending_bound": queue.pending, "depth": queue.depth, "holds": queue.holds}
            for name, queue in zip(ids, queues, strict=True)
        ],
        "assumptions": _assumptions(found.assumptions),
        "chains": chains,
    }


def thesis(application: Application) -> Analysis:
    """Returns the thesis's feasibility and harmonic tests, which are conditional at most."""
    module = analysis()
    feasibility = module.thesis_feasibility(application)
    harmonic = module.thesis_harmonic(application)
    chains: list[Chain] = []
    for chain, work, task in zip(
        application.chains, feasibility.chains, harmonic.chains, strict=True
    ):
        holds = work.holds and harmonic.applies and task.holds
        chains.append(
            {
                "id": chain.id,
                "bound_ms": _ms(task.response_ns) if harmonic.applies else None,
                "workload_ms": work.workload_ns / 1e6,
                "deadline_ms": chain.deadline_ns / 1e6,
                "verdict": "conditional" if holds else "unknown",
                "assumptions": [],
                "note": "" if work.holds else "not feasible: the workload exceeds the deadline",
                "why": [],
            }
        )
    return {
        "application": application.name,
        "test": "thesis",
        "utilisation": application.utilisation(),
        "callbacks": _priorities(application),
        "feasible": feasibility.holds and harmonic.holds,
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
    sound_bounds = judge(application, "picas", module.Machine()).chains
    published = module.picas_bounds(application)
    chains: list[Chain] = []
    for chain, bound, own in zip(application.chains, sound_bounds, published, strict=True):
        holds = own.bound_ns is not None and own.bound_ns <= chain.deadline_ns and not own.unsafe
        chains.append(
            {
                "id": chain.id,
                "bound_ms": _ms(own.bound_ns),
                "sound_ms": _ms(bound.bound_ns),
                "unsafe": [*own.unsafe],
                "deadline_ms": chain.deadline_ns / 1e6,
                "verdict": "conditional" if holds else "unknown",
                "assumptions": [*bound.assumptions],
                "note": own.note,
                "why": [],
            }
        )
    return {
        "application": application.name,
        "test": "picas",
        "utilisation": application.utilisation(),
        "callbacks": _priorities(application),
        "executor": "picas",
        "feasible": all(chain["verdict"] in HOLDS for chain in chains),
        "assumptions": _assumptions(module.chain_assumptions("picas")),
        "chains": chains,
    }


def _assumptions(found: Iterable[NativeAssumption]) -> list[Assumption]:
    return [{"id": each.id, "text": each.text, "relevant": each.relevant} for each in found]


def _priorities(application: Application) -> list[CallbackPriority]:
    highest: dict[int, int] = {}
    for chain in application.chains:
        for index in chain.callbacks:
            highest[index] = max(highest.get(index, 0), chain.priority)
    return [
        {
            "id": callback.id,
            "priority": highest.get(index, 0) if callback.priority is None else callback.priority,
        }
        for index, callback in enumerate(application.callbacks)
    ]


def _ms(time_ns: int | None) -> float | None:
    return None if time_ns is None else time_ns / 1e6


def _cell(time_ms: float | None) -> str:
    return "-" if time_ms is None else f"{time_ms:.9g}"


def _common_conditions(chains: list[Chain]) -> list[str]:
    """Returns the conditions of every chain, if there are several chains."""
    if len(chains) < 2:
        return []
    return [
        each
        for each in chains[0]["assumptions"]
        if all(each in chain["assumptions"] for chain in chains)
    ]


def assumption_lines(assumptions: Sequence[Assumption], all_of_them: bool) -> Iterator[str]:
    """Yields the numbered assumptions of every bound: all of them, or those that are relevant."""
    shown = [each for each in assumptions if all_of_them or each["relevant"]]
    if not shown:
        return
    yield "Every bound assumes:"
    for number, each in enumerate(shown, 1):
        head = f"{number:3}. {each['id']}: "
        yield from textwrap.wrap(f"{head}{each['text']}.", 118, subsequent_indent=" " * 5)
    if hidden := len(assumptions) - len(shown):
        yield f"     {hidden} more are about what this application does not have: --assumptions"


def table(result: Analysis, all_assumptions: bool = False) -> Iterator[str]:
    """Yields a line per chain, the longest terms of its bound, and the reasons of the answer."""
    under = f" under {result['executor']}" if "executor" in result else ""
    yield (
        f"{result['application']}{under}, utilisation {result['utilisation']:.3f}, "
        f"test: {result['test']}"
    )
    width = max(5, *(len(chain["id"]) for chain in result["chains"])) + 2
    common = _common_conditions(result["chains"])
    heads = (*BOUNDS.get(result["test"], ("bound ms",)), "deadline ms", "verdict")
    yield "chain".ljust(width) + "".join(head.rjust(WIDTH) for head in heads)
    for chain in result["chains"]:
        beside = [_cell(chain["sound_ms"])] if "sound_ms" in chain else []
        cells = (_cell(chain["bound_ms"]), *beside, _cell(chain["deadline_ms"]), chain["verdict"])
        line = chain["id"].ljust(width) + "".join(cell.rjust(WIDTH) for cell in cells)
        yield line + (f"  {chain['note']}" if chain["note"] else "")
        unsafe = chain.get("unsafe", [])
        for reason in unsafe[:SHOWN]:
            yield " " * width + f"  unsafe: {reason}"
        if len(unsafe) > SHOWN:
            yield " " * width + f"  and {len(unsafe) - SHOWN} more reasons, see --json"
        for part in chain["why"][:SHOWN]:
            text = CONTRIBUTIONS[part["kind"]].format(id=part["callback"], **part)
            yield " " * width + f"{part['total_ms']:.9g}".rjust(WIDTH) + f"  {text}"
        if chain.get("reaction_ms") is not None:
            yield " " * width + (
                f"{chain['reaction_ms']:.9g}".rjust(WIDTH)
                + "  at most from an event to its reaction; "
                f"data are replaced when {chain['data_age_ms']:.9g} ms old"
            )
        for assumption in chain["assumptions"]:
            if assumption not in common:
                yield " " * width + f"  if {assumption}"
    for queue in result.get("queues", ()):
        if not queue["holds"]:
            most = queue["pending_bound"]
            pending = "has no bound" if most is None else f"up to {most}"
            yield f"{queue['id']}: pending {pending}, with a depth of {queue['depth']}"
    for condition in common:
        yield from textwrap.wrap(f"Each bound holds if {condition}.", 118)
    yield ""
    yield f"feasible: {'yes' if result['feasible'] else 'not proved'}"
    if "not_searched" in result:
        yield f"Not searched for a miss: {result['not_searched']}."
    if "searched_without" in result:
        without = " and ".join(result["searched_without"])
        yield f"The search for a miss knows all of the overheads but: {without}."
    if "tests" in result and not result["tests"]["harmonic"]["applies"]:
        yield f"The harmonic test does not apply: {result['tests']['harmonic']['why_not']}."
    yield from assumption_lines(result["assumptions"], all_assumptions)
