# SPDX-License-Identifier: Apache-2.0
"""Explains why deadlines were missed, in a line for each chain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rclrt_py.files.json_reader import JsonValue
from rclrt_py.runs.cause_effect import CauseEffectResult
from rclrt_py.runs.run_data import RESULTS


def miss_lines(directory: Path) -> Iterator[str]:
    """Yields a line for the worst deadline miss of each chain of a single run: an instance that
    never ended or, if all ended, the one with the longest response time. Cause-effect chains that
    exceed a limit have a line for the longest reaction time or the largest data age, and one if a
    reaction did not come in time before the end."""
    results = JsonValue.load(directory / RESULTS)
    if results.has("misses"):
        yield from _worst_misses(results)
    if results.has("cause_effect_chains"):
        for chain in map(CauseEffectResult.read, results.get("cause_effect_chains").items()):
            yield from _above_limits(chain)


def _above_limits(chain: CauseEffectResult) -> Iterator[str]:
    for key, way, limit, missed in (
        ("max_reaction_ms", chain.worst_reaction, chain.max_reaction_ms, chain.missed_reaction),
        ("max_age_ms", chain.worst_age, chain.max_age_ms, chain.missed_age),
    ):
        if way and limit is not None and way.time_ms > limit:
            above = way.time_ms - limit
            yield f"chain {chain.id} exceeded its {key} by {above:.3f} ms: {way.text}"
        elif way and missed:  # only of reactions, which may still be awaited
            yield f"chain {chain.id} exceeded its {key}: a reaction had not come at the end"


def _worst_misses(results: JsonValue) -> Iterator[str]:
    worst: dict[str, tuple[float, str]] = {}
    for miss in results.get("misses").items():
        response = miss.get("response_ms")
        badness = float("inf") if response.value is None else response.number()
        chain = miss.get("chain").text()
        if chain not in worst or badness > worst[chain][0]:
            worst[chain] = (badness, miss.get("text").text())
    yield from (text for _, text in worst.values())
