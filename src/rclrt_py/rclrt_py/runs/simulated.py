# SPDX-License-Identifier: Apache-2.0
"""How a run was simulated: the section `simulated` of a results.json."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rclrt_py.files.json_reader import JsonValue


@dataclass(frozen=True)
class Replayed:
    """The instance of a chain that a replayed counter-example is about."""

    chain: str
    instance: int


def read_simulated(json: JsonValue) -> dict[str, Any] | None:
    """Returns the checked section of the results. None: it was a real run."""
    if "simulated" not in json.object():
        return None
    stated = json.get("simulated")
    stated.get("seed").count()
    if not 0 <= stated.get("lowest_execution").number() <= 1:
        stated.get("lowest_execution").fail("a share from 0 to 1")
    if stated.has("replayed"):
        stated.get("replayed").get("chain").text()
        stated.get("replayed").get("instance").count()
    return stated.object()


def replayed_of(simulated: dict[str, Any] | None) -> Replayed | None:
    """Returns the instance that the run repeats. None: it is no replay of a counter-example."""
    stated = (simulated or {}).get("replayed")
    return None if stated is None else Replayed(stated["chain"], stated["instance"])
