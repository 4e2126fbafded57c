# SPDX-License-Identifier: Apache-2.0
"""Priorities of callbacks from those of chains, as a document and as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from rclrt_py.analyses.node_priorities import ReasonedPriority
from rclrt_py.native import analysis
from rclrt_py.stats import ms_or_none
from rclrt_py.text import exact

if TYPE_CHECKING:
    from rclrt_model import Application

SOURCES = ("given", "rate", "deadline", "picas")

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


class Synthesis(TypedDict):
    """The document that `rclrt synthesize APP --json` prints."""

    application: str
    callbacks: list[ReasonedPriority]
    levels: Levels


def synthesize(application: Application, source: str, most: int | None) -> Synthesis:
    """Returns a priority for each callback, with at most `most` different priorities per executor.
    None: as many as SCHED_FIFO has."""
    module = analysis()
    most = most or module.MAPPABLE_LEVELS
    found = module.synthesize_priorities(application, source)
    wished = [priority for priority, _ in found]
    priorities, merged = module.compress_levels(application, wished, most)
    return {
        "application": application.name,
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
            "chains": _compare_bounds(application, wished, priorities) if merged else [],
        },
    }


def _reason(wished: int, priority: int, reason: str) -> str:
    return reason if wished == priority else f"{reason}; level {wished} merged into {priority}"


def _compare_bounds(
    application: Application, before: list[int], after: tuple[int, ...]
) -> list[MergedChain]:
    """Returns the bounds of the chains before and after levels were merged, for the `preemptive`
    executor."""
    module = analysis()
    first, second = (
        module.chain_bounds(module.with_priorities(application, priorities))
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
