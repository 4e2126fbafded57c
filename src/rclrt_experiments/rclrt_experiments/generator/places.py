# SPDX-License-Identifier: Apache-2.0
"""The places of the callbacks: a node and its executor for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rclrt_experiments.generator.draws import Draws
from rclrt_experiments.generator.graph import ChainGraph, Kind
from rclrt_experiments.generator.rules import Rules
from rclrt_experiments.generator.services import Service


@dataclass(frozen=True)
class Place:
    """A node and its executor. There is one node for each chain and executor."""

    chain: int
    executor: int

    @property
    def node(self) -> str:
        return f"chain{self.chain}_executor{self.executor}"


def draw_places(rules: Rules, graph: ChainGraph, draws: Draws) -> dict[int, Place]:
    """Draws the executors at random. A sync is placed with its first output."""
    places = {
        callback: Place(graph.chains_of(callback)[0], draws.index(rules.executor_count))
        for callback in sorted(graph.kinds)
        if graph.kinds[callback] is not Kind.SYNC
    }
    for sync in sorted((each for each in graph.kinds if each not in places), reverse=True):
        chain = graph.chains[graph.chains_of(sync)[0]]
        places[sync] = next(
            places[callback] for callback in chain[chain.index(sync) + 1 :] if callback in places
        )
    return places


def placed_services(
    places: Mapping[int, Place], services: Mapping[int, Service]
) -> dict[int, Place]:
    """Returns the places with each service client in the node of the callback that calls it.
    `services` must be in the order of the chains: a client that calls another client is then placed
    before that one."""
    result = dict(places)
    for service in services.values():
        result[service.client] = result[service.caller]
    return result
