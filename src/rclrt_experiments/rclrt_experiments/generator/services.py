# SPDX-License-Identifier: Apache-2.0
"""The hops of the chains that are services: the callback before the server calls it, and the one
after it takes its response."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rclrt_experiments.generator.draws import Draws
from rclrt_experiments.generator.graph import ChainGraph, Kind


@dataclass(frozen=True)
class Service:
    """Three callbacks in a row on one chain."""

    caller: int
    server: int
    client: int
    """Takes the responses. It is in the node of the caller."""

    @property
    def name(self) -> str:
        return f"service{self.server}"


def draw_services(graph: ChainGraph, probability: float, draws: Draws) -> dict[int, Service]:
    """Draws the services by their servers, with one chance for each callback that may be a
    server."""
    return _services(graph, lambda _: draws.chance(probability)) if probability > 0 else {}


def kept_services(graph: ChainGraph, before: Mapping[int, Service]) -> dict[int, Service]:
    """Returns those of the services that a smaller graph still has."""
    return _services(graph, lambda server: server in before)


def _services(graph: ChainGraph, wanted: Callable[[int], bool]) -> dict[int, Service]:
    found = {}
    for chain in graph.chains:
        hop = 1
        while hop + 1 < len(chain):
            service = Service(*chain[hop - 1 : hop + 2])
            if _possible(graph, service) and wanted(service.server):
                found[service.server] = service
                hop += 1  # a client is no server
            hop += 1
    return found


def _possible(graph: ChainGraph, service: Service) -> bool:
    """Returns whether server and client are subscriptions of this chain only. The caller is one,
    too, or a timer. A timer may call for one of its chains, because it runs once for all of
    them."""
    unshared = [
        len(graph.on[each]) == 1 and graph.kinds[each] is Kind.SUBSCRIPTION
        for each in (service.caller, service.server, service.client)
    ]
    return all(unshared[1:]) and (unshared[0] or graph.kinds[service.caller] is Kind.TIMER)
