# SPDX-License-Identifier: Apache-2.0
"""The cause-effect chains of the report."""

from __future__ import annotations

from typing import Any

from rclrt_py.comparisons.comparison import Comparison


def sampling_data(comparison: Comparison) -> list[dict[str, Any]]:
    """Returns, for each cause-effect chain, its segments and, for each executor, its results."""
    return [
        {
            "id": chain.id,
            "segments": list(chain.segments),
            "series": [
                {**results.cause_effect_chains[index].to_json(), "executor": executor}
                for executor, results in enumerate(comparison.executors)
            ],
        }
        for index, chain in enumerate(comparison.executors[0].cause_effect_chains)
    ]
