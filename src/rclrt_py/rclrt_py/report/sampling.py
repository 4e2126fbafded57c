# SPDX-License-Identifier: Apache-2.0
"""The cause-effect chains of the report."""

from __future__ import annotations

from typing import Any

from rclrt_py.comparisons.comparison import Comparison
from rclrt_py.runs.cause_effect import CauseEffectResult


def sampling_data(comparison: Comparison) -> list[dict[str, Any]]:
    """Returns, for each cause-effect chain, its segments and, for each executor, its results."""
    return [
        {
            "id": chain.id,
            "segments": list(chain.segments),
            "series": [
                {**_series(results.cause_effect_chains[index]), "executor": executor}
                for executor, results in enumerate(comparison.executors)
            ],
        }
        for index, chain in enumerate(comparison.executors[0].cause_effect_chains)
    ]


def _series(chain: CauseEffectResult) -> dict[str, Any]:
    """Returns the results, with the terms of the longest times in words."""
    json = chain.to_json()
    for key, way in (("worst_reaction", chain.worst_reaction), ("worst_age", chain.worst_age)):
        if way:
            for term, own in zip(json[key]["terms"], way.terms, strict=True):
                term["text"] = own.text
    return json
