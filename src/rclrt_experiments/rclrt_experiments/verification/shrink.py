# SPDX-License-Identifier: Apache-2.0
"""Makes smaller applications of the same kind, to find the part of a large one that matters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rclrt_experiments.generator.application import GeneratedApplication
from rclrt_experiments.generator.graph import ChainGraph, Kind
from rclrt_experiments.generator.places import placed_services
from rclrt_experiments.generator.sampling import Path, in_file_order, kept_paths
from rclrt_experiments.generator.services import kept_services


def smaller_ones(application: GeneratedApplication) -> Iterator[GeneratedApplication]:
    """Yields smaller variants of the application. Each variant lacks one part: a chain, an end of a
    cause-effect chain, the last callback of a chain, a sync, the logical execution time of a
    segment, all services, all groups, all events, the wait of a callback, or all executors but one.
    Variants without a large part come first. Execution times, periods, places and priorities of the
    other parts stay."""
    chains = application.graph.chains
    if len(chains) > 1:
        for number in range(len(chains)):
            yield _without_chain(application, number)
    for number, path in enumerate(application.paths):
        for shorter in (path[1:], path[:-1]):
            yield _with_chains(_with_path(application, number, shorter), chains)
    for number, chain in enumerate(chains):
        if len(chain) > 1:
            fewer = [*chains[:number], chain[:-1], *chains[number + 1 :]]
            if application.graph.kinds[chain[-2]] is not Kind.SYNC:
                yield _with_chains(application, fewer)
    for callback, kind in application.graph.kinds.items():
        if kind is Kind.SYNC:
            yield _with_chains(
                application, [[c for c in chain if c != callback] for chain in chains]
            )
    for number, path in enumerate(application.paths):
        for place, segment in enumerate(path):
            if segment.logical:
                ordinary = (*path[:place], replace(segment, logical=False), *path[place + 1 :])
                yield _with_path(application, number, ordinary)
    if application.services:
        yield replace(application, services={})
    if application.grouped:
        yield replace(application, grouped=frozenset())
    if application.events:
        yield replace(application, events={})
    for callback in application.waits_ns:
        rest = {each: ns for each, ns in application.waits_ns.items() if each != callback}
        yield replace(application, waits_ns=rest)
    first = next(iter(application.places.values())).executor
    if any(place.executor != first for place in application.places.values()):
        together = {
            callback: replace(place, executor=first)
            for callback, place in application.places.items()
        }
        yield replace(application, places=together)


def _with_path(application: GeneratedApplication, number: int, path: Path) -> GeneratedApplication:
    paths = [*application.paths[:number], path, *application.paths[number + 1 :]]
    return replace(application, paths=paths)


def _without_chain(application: GeneratedApplication, number: int) -> GeneratedApplication:
    def rest(items: list[Any]) -> list[Any]:
        return [*items[:number], *items[number + 1 :]]

    fewer = replace(
        application,
        times=rest(application.times),
        deadlines_ns=rest(application.deadlines_ns),
        priorities=rest(application.priorities),
        paths=[
            tuple(
                replace(each, chain=each.chain - (each.chain > number))
                for each in path
                if each.chain != number
            )
            for path in application.paths
        ],
    )
    return _with_chains(fewer, rest(application.graph.chains))


def _with_chains(
    application: GeneratedApplication, chains: list[list[int]]
) -> GeneratedApplication:
    """Returns the application reduced to these chains. A sync that has only one chain left is
    removed from this chain, and a cause-effect chain with too few segments for the rules
    entirely."""
    graph = ChainGraph(chains, application.graph.kinds)
    for sync, kind in application.graph.kinds.items():
        if kind is Kind.SYNC and len(graph.on.get(sync, ())) == 1:
            chains = [[each for each in chain if each != sync] for chain in chains]
    used = {callback for chain in chains for callback in chain}
    kinds = {each: kind for each, kind in application.graph.kinds.items() if each in used}
    graph = ChainGraph(chains, kinds)
    places = {}
    for callback, place in application.places.items():
        if callback in used:
            places[callback] = replace(place, chain=graph.chains_of(callback)[0])
    services = kept_services(graph, application.services)
    limits_of = dict(zip(kept_paths(graph, application.paths), application.limits_ns, strict=True))
    paths = in_file_order(
        path for path in limits_of if len(path) >= application.rules.shortest_path
    )
    return replace(
        application,
        graph=graph,
        places=placed_services(places, services),
        services=services,
        paths=paths,
        limits_ns=[limits_of[path] for path in paths],
        message_bytes={},
        offsets_us={each: at for each, at in application.offsets_us.items() if each in used},
        events={each: seed for each, seed in application.events.items() if each in used},
        grouped=application.grouped & used,
        waits_ns={each: ns for each, ns in application.waits_ns.items() if each in used},
    )
