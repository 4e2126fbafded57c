# SPDX-License-Identifier: Apache-2.0
"""The misses that results.json explains, for the report's table."""

from __future__ import annotations

import math
from typing import Any

from rclrt_py.comparisons.comparison import Comparison
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.report.comparison_table import in_report_order
from rclrt_py.report.windows import round_number
from rclrt_py.runs.run_data import RESULTS, Run

MISSES_PER_CHAIN = 10
"""Limit per chain and executor. The worst misses come first."""
MAX_CULPRITS = 4
TIMES = ("execution_ms", "delayed_ms", "transit_ms", "unexplained_ms", "host_stall_ms")


def misses_data(comparison: Comparison) -> dict[str, Any]:
    """Returns the deadline misses of each chain, for the page's script. "explained" is true if
    any run's results state reasons for misses; "rounds" is true if rows state their round.
    "chains" is in the order of the report; each row has the index of its executor and the number
    of its round."""
    known = [chain.id for chain in in_report_order(comparison)]
    found: dict[str, list[dict[str, Any]]] = {chain: [] for chain in known}
    explained = False
    for index, results in enumerate(comparison.executors):
        own: dict[str, list[dict[str, Any]]] = {chain: [] for chain in known}
        for run in comparison.runs[results.executor]:
            document = JsonValue.load(run.directory / RESULTS)
            if not document.has("misses"):
                continue
            explained = True
            number = round_number(comparison, run.directory.name)
            for miss in document.get("misses").items():
                row = _row(miss, run)
                own[row["chain"]].append({**row, "executor": index, "round": number})
        for chain, rows in own.items():
            found[chain] += sorted(rows, key=_badness, reverse=True)[:MISSES_PER_CHAIN]
    rounds = not comparison.is_single_run
    return {
        "explained": explained,
        "rounds": rounds,
        "chains": [{"id": chain, "rows": rows} for chain, rows in found.items()],
    }


def _row(miss: JsonValue, run: Run) -> dict[str, Any]:
    chain = miss.get("chain")
    if run.results.chain(chain.text()) is None:
        chain.fail("a chain of these results")
    response = miss.get("response_ms")
    culprits = [
        {
            "callback": culprit.get("callback").text(),
            "reason": culprit.get("reason").text(),
            "time_ms": culprit.get("time_ms").number(),
        }
        for culprit in miss.get("culprits").items()
    ]
    return {
        "chain": chain.text(),
        "instance": miss.get("instance").count(),
        "release_ms": miss.get("release_ms").number(),
        "status": miss.get("status").text(),
        "response_ms": response.number_or_none(),
        **{name: miss.get(name).number() for name in TIMES},
        "culprits": culprits[:MAX_CULPRITS],
        **_not_shown(miss, culprits[MAX_CULPRITS:]),
    }


def _not_shown(miss: JsonValue, hidden: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the number and the sum of the times of the culprits that the table leaves out: those
    that the file does not list either, and `hidden`."""
    count, time_ms = len(hidden), sum(culprit["time_ms"] for culprit in hidden)
    if miss.has("more_culprits"):
        count += miss.get("more_culprits").count()
        time_ms += miss.get("more_culprits_ms").number()
    return {"more_culprits": count, "more_culprits_ms": time_ms}


def _badness(row: dict[str, Any]) -> float:
    """Returns the response, or infinity for an instance that never ended: it is the worst."""
    response: float | None = row["response_ms"]
    return math.inf if response is None else response
