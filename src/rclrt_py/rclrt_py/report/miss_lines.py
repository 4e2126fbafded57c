# SPDX-License-Identifier: Apache-2.0
"""Explains why deadlines were missed, in a line for each chain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rclrt_py.files.json_reader import JsonValue
from rclrt_py.runs.run_data import RESULTS


def miss_lines(directory: Path) -> Iterator[str]:
    """Yields a line for the worst deadline miss of each chain of a single run: an instance that
    never ended or, if all ended, the one with the longest response time."""
    results = JsonValue.load(directory / RESULTS)
    if not results.has("misses"):
        return
    worst: dict[str, tuple[float, str]] = {}
    for miss in results.get("misses").items():
        response = miss.get("response_ms")
        badness = float("inf") if response.value is None else response.number()
        chain = miss.get("chain").text()
        if chain not in worst or badness > worst[chain][0]:
            worst[chain] = (badness, miss.get("text").text())
    yield from (text for _, text in worst.values())
