# SPDX-License-Identifier: Apache-2.0
"""Turns hops of chains into services: three neighbouring callbacks of a chain become a caller, the
server that it calls, and the client that takes the response."""

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
    """Draws which callbacks become servers: each callback that may be one does so with this
    probability. Returns the services by the number of the server's callback."""
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
    """Returns whether these three callbacks can be caller, server and client of a service. Server
    and client must be subscriptions that belong to one chain only. The caller must be one as well,
    or a timer: a timer of several chains may call for one of them, because it runs once for all."""
    unshared = [
        len(graph.on[each]) == 1 and graph.kinds[each] is Kind.SUBSCRIPTION
        for each in (service.caller, service.server, service.client)
    ]
    return all(unshared[1:]) and (unshared[0] or graph.kinds[service.caller] is Kind.TIMER)
