# SPDX-License-Identifier: Apache-2.0
"""Why the bounds of a comparison prove no deadline, grouped by reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rclrt_py.runs.cause_effect import SamplingPrediction
from rclrt_py.runs.results import ChainPrediction, Results

PERCENTAGE = re.compile(r"\d+\.\d+(?= %)")


def bound_reasons(executors: Sequence[Results]) -> list[tuple[str, str]]:
    """Returns each reason why a deadline is not proved, with the chains and executors that it
    applies to, such as ("the bound is above the deadline, which proves nothing", "wait_set: all
    chains; preemptive: obstacle"). Reasons that differ only in a percentage are one reason. The
    unknown verdicts come before the conditional ones."""
    texts: dict[tuple[bool, str], list[str]] = {}
    found: dict[tuple[bool, str], dict[str, list[str]]] = {}
    for results in executors:
        predicted = [
            *((chain.id, chain.predicted) for chain in results.chains),
            *((chain.id, chain.predicted) for chain in results.cause_effect_chains),
        ]
        for name, bound in predicted:
            for conditional, text in _reasons(bound):
                reason = conditional, PERCENTAGE.sub("%", text)
                texts.setdefault(reason, []).append(text)
                found.setdefault(reason, {}).setdefault(results.executor, []).append(name)
    return [
        (_merged(texts[reason]), _where(found[reason], executors))
        for reason in sorted(found, key=lambda reason: reason[0])
    ]


def _merged(texts: list[str]) -> str:
    """Returns one text for texts that are equal except for their percentages."""
    ranges = []
    for values in zip(*map(PERCENTAGE.findall, texts), strict=True):
        least, most = min(values, key=float), max(values, key=float)
        ranges.append(least if least == most else f"{least} to {most}")
    return PERCENTAGE.sub(lambda _: ranges.pop(0), texts[0])


def _reasons(
    predicted: ChainPrediction | SamplingPrediction | None,
) -> Iterator[tuple[bool, str]]:
    """Yields the reasons of a chain, each with whether it is a condition of its bound."""
    if predicted is None:
        return
    if predicted.verdict == "unknown" and predicted.note:
        yield False, predicted.note
    if predicted.verdict == "conditional":
        yield from ((True, f"holds only if {each}") for each in predicted.assumptions)


def _where(chains_of: dict[str, list[str]], executors: Sequence[Results]) -> str:
    every_chain = [chain.id for chain in executors[0].chains]
    sampled = [chain.id for chain in executors[0].cause_effect_chains]
    executors_of: dict[tuple[str, ...], list[str]] = {}
    for executor, found in chains_of.items():
        executors_of.setdefault(tuple(found), []).append(executor)
    texts = []
    for ids, names in executors_of.items():
        every = list(ids) in (every_chain, every_chain + sampled)
        text = "all chains" if every else ", ".join(ids)
        texts.append(text if len(executors) == 1 else f"{', '.join(names)}: {text}")
    return "; ".join(texts)
