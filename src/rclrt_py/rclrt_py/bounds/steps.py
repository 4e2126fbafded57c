# SPDX-License-Identifier: Apache-2.0
"""Measures how long chains took until the end of each callback on their path."""

from __future__ import annotations

from collections.abc import Iterable

from rclrt_py.bounds.predicted import PredictedChain
from rclrt_py.runs.run_data import Run


def worst_steps(runs: Iterable[Run], chains: Iterable[PredictedChain]) -> dict[str, list[int]]:
    """Returns, for each chain, one time per callback on its path: the longest observed time from
    the chain's release to the end of that callback, over all runs, in nanoseconds. -1: no instance
    of the chain reached the end of that callback."""
    places = {
        (chain.id, callback): place
        for chain in chains
        for place, callback in enumerate(chain.callbacks)
    }
    worst: dict[str, list[int]] = {}
    for chain, _ in places:
        worst.setdefault(chain, []).append(-1)
    for run in runs:
        releases = {(row.chain, row.instance): row.release for row in run.chain_rows()}
        for row in run.instance_rows():
            for token in row.tokens.split(";") if row.outcome == "ran" and row.tokens else ():
                name, _, number = token.rpartition(":")
                place = places.get((name, row.callback))
                release = releases.get((name, int(number) if number.isdigit() else -1))
                if place is not None and release is not None:
                    worst[name][place] = max(worst[name][place], row.end - release)
    return worst
