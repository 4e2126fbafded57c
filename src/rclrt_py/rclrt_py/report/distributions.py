# SPDX-License-Identifier: Apache-2.0
"""The response times of the histograms, thinned if there are very many."""

from __future__ import annotations

from typing import Any

from rclrt_py.comparisons.comparison import Comparison
from rclrt_py.report.comparison_table import in_report_order
from rclrt_py.runs.event_times import release_text
from rclrt_py.runs.results import ChainResult
from rclrt_py.runs.run_data import nanoseconds
from rclrt_py.text import NO_DEADLINE_MS

SAMPLES_PER_CHAIN = 20_000


def thin(ordered: list[int], limit: int) -> list[int]:
    """Returns about `limit` of the sorted values at most: every k-th, the first and the last."""
    if len(ordered) <= limit:
        return ordered
    step = -(-len(ordered) // limit)
    kept = ordered[::step]
    return kept if (len(ordered) - 1) % step == 0 else [*kept, ordered[-1]]


def chains_data(comparison: Comparison) -> list[dict[str, Any]]:
    """Returns, for each chain, its properties and, for each executor, the statistics and samples of
    its response times. The most urgent chain comes first."""
    responses = {
        results.executor: _responses(comparison, results.executor)
        for results in comparison.executors
    }
    limit = SAMPLES_PER_CHAIN // len(comparison.executors)
    data = []
    for chain in in_report_order(comparison):
        series = []
        for index, results in enumerate(comparison.executors):
            found = results.chain(chain.id)
            if found is None:
                continue
            ordered = responses[results.executor][chain.id]
            samples = thin(ordered, limit)
            series.append(
                {
                    **found.to_json(),
                    "executor": index,
                    "samples": samples,
                    "sample_count": len(ordered),
                    "ratios": _ratios(comparison, found),
                }
            )
        data.append(
            {
                "id": chain.id,
                "priority": chain.priority,
                "releases": release_text(chain.period_ms, chain.event),
                "deadline_ms": chain.deadline_ms if chain.deadline_ms < NO_DEADLINE_MS else None,
                "callbacks": list(chain.callbacks),
                "series": series,
            }
        )
    return data


def _responses(comparison: Comparison, executor: str) -> dict[str, list[int]]:
    columns = {chain.id: nanoseconds() for chain in comparison.executors[0].chains}
    for run in comparison.runs[executor]:
        for row in run.chain_rows():
            if row.response is not None and row.chain in columns:
                columns[row.chain].append(row.response)
    return {chain: sorted(column) for chain, column in columns.items()}


def _ratios(comparison: Comparison, chain: ChainResult) -> dict[str, float | None] | None:
    """Returns p99 and jitter relative to the baseline's. None: there is nothing to compare with."""
    if comparison.baseline is None or len(comparison.executors) < 2:
        return None
    reference = comparison.baseline.chain(chain.id)
    mine, base = chain.response, reference.response if reference else None
    if mine is None or base is None:
        return {"p99": None, "jitter": None}
    return {
        "p99": mine.p99 / base.p99 if base.p99 else None,
        "jitter": mine.jitter / base.jitter if base.jitter else None,
    }
