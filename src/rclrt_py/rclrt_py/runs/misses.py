# SPDX-License-Identifier: Apache-2.0
"""The explained misses of a results.json: their figures must be possible."""

from __future__ import annotations

from collections.abc import Container

from rclrt_py.files.json_reader import JsonValue
from rclrt_py.runs.figures import time_of, time_or_none

PARTS = ("execution_ms", "delayed_ms", "transit_ms")
"""The explained parts of a response."""


def check_misses(results: JsonValue, chains: Container[str]) -> None:
    """Refuses misses that cannot be. `chains`: the ids of the chains."""
    for miss in results.get("misses").items() if results.has("misses") else ():
        chain = miss.get("chain")
        if chain.text() not in chains:
            chain.fail("a chain of these results")
        for key in (*PARTS, "host_stall_ms"):
            time_of(miss.get(key))
        time_or_none(miss.get("response_ms"))
        miss.get("unexplained_ms").number()
        for culprit in miss.get("culprits").items():
            time_of(culprit.get("time_ms"))
        if miss.has("more_culprits_ms"):
            time_of(miss.get("more_culprits_ms"))
