# SPDX-License-Identifier: Apache-2.0
"""The measured times of a run, for the page to show beside the bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rclrt_py.comparisons.comparison import Comparison
from rclrt_py.report.misses import misses_data
from rclrt_py.report.writing import load_results, settled
from rclrt_py.runs.results import Results
from rclrt_py.runs.run_data import RESULTS

MOST_CULPRITS = 4


def observed(directory: Path, executor: str) -> dict[str, Any]:
    """Returns the response times and misses of chains, and the responses of callbacks, by id.
    `goes_on`: the run has not ended, and has newer results later. The results of a comparison are
    those of `executor`, or else of its first executor. Throws BadInput if the directory has no
    results."""
    with settled(directory) as place:
        comparison = load_results(place, directory)
        shown = next(
            (each for each in comparison.executors if each.executor == executor),
            comparison.executors[0],
        )
        culprits = _culprits(comparison, comparison.executors.index(shown))
    return {
        "directory": str(directory),
        "executor": shown.executor_label,
        "application": comparison.application["name"],
        "goes_on": not (directory / RESULTS).is_file(),
        "chains": {
            chain.id: {
                "n": chain.completed,
                "missed": chain.missed,
                "p99_ms": chain.response.p99 if chain.response else None,
                "worst_ms": chain.response.worst if chain.response else None,
                "culprits": culprits.get(chain.id, []),
            }
            for chain in shown.chains
        }
        | _sampled(shown),
        "callbacks": {
            callback.id: {"p99_ms": callback.response.p99, "worst_ms": callback.response.worst}
            for callback in shown.callbacks
            if callback.response is not None
        },
    }


def _sampled(shown: Results) -> dict[str, Any]:
    """Returns the data ages of chains that sample."""
    return {
        chain.id: {
            "n": chain.outputs,
            "missed": chain.missed_age,
            "p99_ms": chain.age.p99,
            "worst_ms": chain.age.worst,
            "culprits": [],
        }
        for chain in shown.cause_effect_chains
        if chain.age is not None
    }


def _culprits(comparison: Comparison, executor: int) -> dict[str, list[str]]:
    """Returns, for each chain, the callbacks that delayed its misses longest."""
    found: dict[str, list[str]] = {}
    for chain in misses_data(comparison)["chains"]:
        times: dict[str, float] = {}
        for row in chain["rows"]:
            if row["executor"] == executor:
                for culprit in row["culprits"]:
                    name = culprit["callback"]
                    times[name] = times.get(name, 0.0) + culprit["time_ms"]
        found[chain["id"]] = sorted(times, key=lambda name: -times[name])[:MOST_CULPRITS]
    return found
