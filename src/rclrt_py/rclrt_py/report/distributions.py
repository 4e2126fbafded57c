# SPDX-License-Identifier: Apache-2.0
"""The response times of the histograms, thinned if there are very many."""

from __future__ import annotations

from typing import Any

from rclrt_py.comparisons.comparison import Comparison
from rclrt_py.report.comparison_table import in_report_order
from rclrt_py.runs.event_times import release_text
from rclrt_py.runs.histograms import Times, ranked, total_of
from rclrt_py.runs.results import ChainResult
from rclrt_py.text import NO_DEADLINE_MS

SAMPLES_PER_CHAIN = 20_000


def thinned(times: list[Times], limit: int) -> list[int]:
    """Returns about `limit` of all these times at most, in ascending order: every k-th, the
    first and the last."""
    total = total_of(times)
    if total == 0:
        return []
    step = max(1, -(-total // limit))
    ranks = list(range(1, total + 1, step))
    return ranked(times, ranks if ranks[-1] == total else [*ranks, total])


def chains_data(comparison: Comparison) -> list[dict[str, Any]]:
    """Returns, for each chain, its properties and, for each executor, the statistics and samples of
    its response times. The most urgent chain comes first."""
    responses = {
        results.executor: [run.chain_times() for run in comparison.runs[results.executor]]
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
            times = [run[chain.id] for run in responses[results.executor]]
            samples = thinned(times, limit)
            series.append(
                {
                    **found.to_json(),
                    "executor": index,
                    "samples": samples,
                    "sample_count": total_of(times),
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
