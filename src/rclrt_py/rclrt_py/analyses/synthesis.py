# SPDX-License-Identifier: Apache-2.0
"""Priorities of callbacks from those of chains or from bounds, as a document and as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NotRequired, TypedDict

from rclrt_py.analyses.node_priorities import ReasonedPriority
from rclrt_py.errors import BadInput
from rclrt_py.native import analysis
from rclrt_py.stats import ms_or_none
from rclrt_py.text import NO_DEADLINE_MS, exact

if TYPE_CHECKING:
    from rclrt_analysis import BoundPriorities, Overheads
    from rclrt_model import Application, Chain

SOURCES = ("given", "rate", "deadline", "picas", "bounds")
EVALUATIONS = 2000
"""How often the search for priorities may compute bounds."""
GAVE_UP = (
    "a bound took too many steps, or an executor has too few priorities below its top_priority"
)

# `from` is a keyword.
MergedLevel = TypedDict("MergedLevel", {"executor": str, "from": int, "into": int})


class MergedChain(TypedDict):
    """The effect of merged levels on the bound of one chain."""

    id: str
    bound_ms_before: float | None
    bound_ms: float | None
    deadline_ms: float
    verdict_before: str
    verdict: str
    lost: bool


class Levels(TypedDict):
    """The levels that were merged, and the cost of it."""

    most: int
    merged: list[MergedLevel]
    chains: list[MergedChain]


class PlacedChain(TypedDict):
    """The priority that its bound gives to a chain."""

    id: str
    priority: int
    reason: str
    bound_ms: float | None
    deadline_ms: float | None
    verdict: str


class ByBounds(TypedDict):
    """How the bounds led to the priorities."""

    executor: str
    method: str
    feasible: bool
    final: bool
    order_matters: list[str]
    evaluations: int
    chains: list[PlacedChain]


class Synthesis(TypedDict):
    """The document that `rclrt synthesize APP --json` prints."""

    application: str
    source: str
    callbacks: list[ReasonedPriority]
    levels: Levels
    bounds: NotRequired[ByBounds]


def synthesize(
    application: Application,
    source: str | None,
    most: int | None,
    *,
    executor: str = "preemptive",
    overheads: Overheads | None = None,
    evaluations: int = EVALUATIONS,
) -> Synthesis:
    """Returns a priority for each callback, with at most `most` different priorities per executor.
    None: as many as SCHED_FIFO has. `source` is one of SOURCES. None: "given", or "bounds" if only
    these prove all deadlines. Throws BadInput if no order of the chains is possible under the
    executor."""
    module = analysis()
    most = most or module.MAPPABLE_LEVELS
    machine = overheads if overheads is not None else module.Overheads()
    bounds = _bounds(application, source, executor, machine, evaluations)
    found = (
        _reasons(application, bounds)
        if bounds is not None
        else module.synthesize_priorities(application, source or "given")
    )
    wished = [priority for priority, _ in found]
    priorities, merged = module.compress_levels(application, wished, most)
    result: Synthesis = {
        "application": application.name,
        "source": "bounds" if bounds is not None else source or "given",
        "callbacks": [
            {"id": callback.id, "priority": priority, "reason": _reason(before, priority, reason)}
            for callback, priority, (before, reason) in zip(
                application.callbacks, priorities, found, strict=True
            )
        ],
        "levels": {
            "most": most,
            "merged": [
                {"executor": application.executors[index].name, "from": low, "into": high}
                for index, low, high in merged
            ],
            "chains": (
                _compare_bounds(application, wished, priorities, executor, machine)
                if merged
                else []
            ),
        },
    }
    if bounds is None:
        return result
    result["bounds"] = _by_bounds(application, executor, bounds)
    if any(chain["lost"] for chain in result["levels"]["chains"]):
        if source is None:
            return synthesize(application, "given", most, executor=executor, overheads=machine)
        result["bounds"]["feasible"] = result["bounds"]["final"] = False
        result["bounds"]["order_matters"].append(f"levels were merged to have at most {most}")
    return result


def _bounds(
    application: Application,
    source: str | None,
    executor: str,
    machine: Overheads,
    evaluations: int,
) -> BoundPriorities | None:
    """Returns the priorities by the bounds if they are the source, or if there is no source and
    only they prove all deadlines."""
    if source is None:
        return _where_only_bounds_prove(application, executor, machine, evaluations)
    if source != "bounds":
        return None
    try:
        found: BoundPriorities = analysis().bound_priorities(
            application, executor, overheads=machine, evaluations=evaluations
        )
    except ValueError as error:
        raise BadInput(f"{application.name}: {error}") from None
    return found


def _by_bounds(application: Application, executor: str, bounds: BoundPriorities) -> ByBounds:
    return {
        "executor": executor,
        "method": bounds.method,
        "feasible": bounds.feasible,
        "final": bounds.feasible or bounds.optimal,
        "order_matters": list(bounds.order_matters),
        "evaluations": bounds.evaluations,
        "chains": [
            {
                "id": chain.id,
                "priority": place.priority,
                "reason": _place(application, index, bounds),
                "bound_ms": ms_or_none(place.bound_ns),
                "deadline_ms": chain.deadline_ns / 1e6 if _has_deadline(chain) else None,
                "verdict": place.verdict,
            }
            for index, (chain, place) in enumerate(
                zip(application.chains, bounds.chains, strict=True)
            )
        ],
    }


def _where_only_bounds_prove(
    application: Application, executor: str, machine: Overheads, evaluations: int
) -> BoundPriorities | None:
    """Returns priorities by the bounds if they prove all deadlines, and those of the file do not.
    Otherwise returns None, also if the file states a priority of a callback."""
    module = analysis()
    if any(callback.priority is not None for callback in application.callbacks):
        return None
    stated = [priority for priority, _ in module.synthesize_priorities(application, "given")]
    given = module.with_priorities(application, stated)
    try:
        if module.quality(given, executor, overheads=machine).not_proved == 0:
            return None
        bounds: BoundPriorities = module.bound_priorities(
            application, executor, overheads=machine, evaluations=evaluations, best_effort=False
        )
    except ValueError:  # no order of the chains is possible under this executor
        return None
    return bounds if bounds.feasible else None


def _has_deadline(chain: Chain) -> bool:
    return chain.deadline_ns / 1e6 < NO_DEADLINE_MS


def _reasons(application: Application, bounds: BoundPriorities) -> list[tuple[int, str]]:
    """Returns the priority of each callback, with the reason for it."""
    return [
        (
            priority,
            reason if chain is None else f"{reason}, {_place(application, chain, bounds)}",
        )
        for priority, reason, chain in bounds.callbacks
    ]


def _place(application: Application, index: int, bounds: BoundPriorities) -> str:
    """Returns why a chain has its priority."""
    place = bounds.chains[index]
    if place.by == "no_deadline":
        return "which has no deadline"
    where = {
        "alone": "holds at the lowest priority that was left",
        "together": "holds at one priority with " + _equals(application, index, bounds),
        "method": f"placed by {bounds.method}",
    }[place.by]
    if not _has_deadline(application.chains[index]):
        return f"{where}: it has no deadline"
    deadline = f"{exact(application.chains[index].deadline_ns / 1e6)} ms"
    if place.bound_ns is None:
        return f"{where}: no bound, its deadline is {deadline}"
    return f"{where}: {exact(place.bound_ns / 1e6)} of {deadline}"


def _equals(application: Application, index: int, bounds: BoundPriorities) -> str:
    own = bounds.chains[index].priority
    return ", ".join(
        chain.id
        for other, (chain, place) in enumerate(zip(application.chains, bounds.chains, strict=True))
        if place.priority == own and other != index
    )


def _reason(wished: int, priority: int, reason: str) -> str:
    return reason if wished == priority else f"{reason}; level {wished} merged into {priority}"


def _compare_bounds(
    application: Application,
    before: list[int],
    after: tuple[int, ...],
    executor: str,
    machine: Overheads,
) -> list[MergedChain]:
    """Returns the bounds of the chains before and after levels were merged."""
    module = analysis()
    first, second = (
        module.chain_bounds(
            module.with_priorities(application, priorities), executor, overheads=machine
        )
        for priorities in (before, after)
    )
    return [
        {
            "id": chain.id,
            "bound_ms_before": ms_or_none(old.bound_ns),
            "bound_ms": ms_or_none(new.bound_ns),
            "deadline_ms": chain.deadline_ns / 1e6,
            "verdict_before": old.verdict,
            "verdict": new.verdict,
            "lost": old.holds and not new.holds,
        }
        for chain, old, new in zip(application.chains, first, second, strict=True)
    ]


def overlay(synthesis: Synthesis) -> str:
    """Returns the priorities as YAML, one callback per line with its reason."""
    levels = synthesis["levels"]
    lines = [f"rclrt: 1\napplication: {synthesis['application']}\n"]
    if "bounds" in synthesis:
        lines += [f"# {line}\n" for line in of_bounds(synthesis["bounds"])]
    if levels["merged"]:
        lines.append(f"# merged to have at most {levels['most']} levels per executor:\n")
        lines += [
            f"#   {item['executor']}: {item['from']} into {item['into']}\n"
            for item in levels["merged"]
        ]
        for chain in levels["chains"]:
            was, now = (
                "none" if bound is None else f"{exact(bound)} ms"
                for bound in (chain["bound_ms_before"], chain["bound_ms"])
            )
            lines.append(f"# bound of {chain['id']}: {was} before, {now} after\n")
    lines.append("priorities:\n")
    lines += [
        f"  {item['id']}: {item['priority']}  # {item['reason']}\n"
        for item in synthesis["callbacks"]
    ]
    return "".join(lines)


def of_bounds(bounds: ByBounds) -> list[str]:
    """Returns what the bounds say about the priorities, as lines."""
    open_chains = [
        chain["id"]
        for chain in bounds["chains"]
        if chain["deadline_ms"] is not None and chain["verdict"] not in ("proved", "conditional")
    ]
    by = f"the bounds of {bounds['executor']}, {bounds['method']}"
    if bounds["feasible"]:
        return [f"priorities by {by}: all deadlines hold (rclrt analyze states the conditions)"]
    lines = [f"priorities by {by}: not all deadlines and limits hold"]
    if open_chains:
        lines = [f"priorities by {by}: not proved: {', '.join(open_chains)}"]
    if bounds["final"]:
        return [*lines, "no priorities prove all deadlines by these bounds"]
    lines.append("others may prove more:")
    return lines + [f"  {reason}" for reason in bounds["order_matters"] or [GAVE_UP]]
