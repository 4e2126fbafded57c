# SPDX-License-Identifier: Apache-2.0
"""The chains of a generated application, without times: the callbacks of each chain, which may be
merged with those of other chains or joined by syncs (thesis, sections 6.2.2 and 6.2.3, and
algorithm 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from enum import Enum
from itertools import combinations, pairwise

import networkx as nx

from rclrt_experiments.generator.draws import Draws
from rclrt_experiments.generator.rules import Rules


class Kind(Enum):
    TIMER = "timer"
    SUBSCRIPTION = "subscription"
    SYNC = "sync"


@dataclass(frozen=True)
class Edge:
    """An edge from a callback to the next one of a chain. `hop` counts the chain's edges."""

    source: int
    target: int
    chain: int
    hop: int


@dataclass
class ChainGraph:
    """Chains as lists of callbacks, which are numbers. A callback of several chains is shared."""

    chains: list[list[int]] = field(default_factory=list)
    kinds: dict[int, Kind] = field(default_factory=dict)
    joined: nx.DiGraph = field(init=False, default_factory=nx.DiGraph)
    """The edges of all chains. There is never a cycle."""
    on: dict[int, set[int]] = field(init=False, default_factory=dict)
    """The chains of each callback."""

    def __post_init__(self) -> None:
        for number, chain in enumerate(self.chains):
            nx.add_path(self.joined, chain)
            for callback in chain:
                self.on.setdefault(callback, set()).add(number)

    @classmethod
    def of_lengths(cls, lengths: list[int]) -> ChainGraph:
        chains: list[list[int]] = []
        first = 0
        for length in lengths:
            chains.append(list(range(first, first + length)))
            first += length
        kinds = {
            each: Kind.SUBSCRIPTION if n else Kind.TIMER
            for chain in chains
            for n, each in enumerate(chain)
        }
        return cls(chains, kinds)

    def edges(self) -> Iterator[Edge]:
        for number, chain in enumerate(self.chains):
            for hop, (source, target) in enumerate(pairwise(chain)):
                yield Edge(source, target, number, hop)

    def has(self, edge: Edge) -> bool:
        """Returns whether the chain still has the edge, at any position."""
        chain = self.chains[edge.chain]
        at = chain.index(edge.target)
        return at > 0 and chain[at - 1] == edge.source

    def chains_of(self, callback: int) -> list[int]:
        return sorted(self.on[callback])

    def may_merge(self, one: int, other: int) -> bool:
        """Returns whether the callbacks `one` and `other` may become one: both are of one kind, no
        cycle appears, and each chain keeps a callback that only it has. (Two callbacks of one chain
        are refused, because their merge would make a cycle.)"""
        if one == other or self.kinds[one] != self.kinds[other]:
            return False
        if nx.has_path(self.joined, one, other) or nx.has_path(self.joined, other, one):
            return False
        return all(
            any(
                each not in (one, other) and len(self.on[each]) == 1 for each in self.chains[number]
            )
            for number in self.on[one] | self.on[other]
        )

    def merge(self, one: int, into: int) -> None:
        """Replaces `one` by `into`."""
        for number in self.on[one]:
            chain = self.chains[number]
            chain[chain.index(one)] = into
        self.on[into] |= self.on.pop(one)
        del self.kinds[one]
        nx.relabel_nodes(self.joined, {one: into}, copy=False)

    def may_synchronise(self, edges: tuple[Edge, ...]) -> bool:
        """Returns whether a sync may be put on these edges: each edge still exists, they are of
        different chains, and the sync makes no cycle. A path from the target of one edge to the
        source of another would make one."""
        if len({edge.chain for edge in edges}) < len(edges):
            return False
        if not all(self.has(edge) for edge in edges):
            return False  # another sync is on it
        return not any(
            nx.has_path(self.joined, one.target, other.source) for one in edges for other in edges
        )

    def synchronise(self, edges: tuple[Edge, ...]) -> int:
        """Puts a sync on these edges. It takes the messages of their sources, and sends them on."""
        sync = max(self.kinds) + 1
        self.kinds[sync] = Kind.SYNC
        for edge in edges:
            chain = self.chains[edge.chain]
            chain.insert(chain.index(edge.target), sync)
        self.on[sync] = {edge.chain for edge in edges}
        self.joined = nx.DiGraph()
        for chain in self.chains:
            nx.add_path(self.joined, chain)
        return sync


def draw_lengths(rules: Rules, draws: Draws) -> list[int]:
    """Draws lengths: normal around the average, rounded, at least 1."""
    mean = rules.chain_avg_len
    lengths = [
        mean + mean * rules.chain_variance * draws.normal() for _ in range(rules.chain_count)
    ]
    return [
        min(max(int(each.to_integral_value(ROUND_HALF_EVEN)), 1), 1000 * int(mean + 1))
        for each in lengths
    ]


def draw_merges(callbacks: list[int], probability: float, draws: Draws) -> list[tuple[int, int]]:
    """Draws merges by algorithm 3 of the thesis. Each result is a pair: the first callback is to be
    merged into the second. A pass gives each pair of callbacks that are left one chance of
    `probability`, and ends with at most one merge. A pass without a merge is the last."""
    left = list(callbacks)
    merges: list[tuple[int, int]] = []
    if probability == 0:
        return merges
    while True:
        chances = len(left) * (len(left) - 1) // 2
        if not any(draws.chance(probability) for _ in range(chances)):
            return merges
        one, other = _two(left, draws)
        merges.append((left[one], left[other]))
        del left[one]


def _two(items: list[int], draws: Draws) -> tuple[int, int]:
    """Returns two different places; all pairs are equally likely."""
    one = draws.index(len(items))
    other = draws.index(len(items) - 1)
    return one, other + (other >= one)


def draw_graph(rules: Rules, draws: Draws) -> ChainGraph:
    """Draws lengths, then merges, then syncs. Merges and syncs that are not legal are left out."""
    graph = ChainGraph.of_lengths(draw_lengths(rules, draws))
    merged: dict[int, int] = {}

    def now(callback: int) -> int:
        while callback in merged:
            callback = merged[callback]
        return callback

    for one, other in draw_merges(sorted(graph.kinds), rules.chain_merge_p, draws):
        if graph.may_merge(now(one), now(other)):
            source, target = now(one), now(other)
            graph.merge(source, target)
            merged[source] = target
    if rules.chain_sync_p > 0:
        _draw_syncs(graph, rules, draws)
    return graph


def _draw_syncs(graph: ChainGraph, rules: Rules, draws: Draws) -> None:
    """Draws syncs between edges of different chains that have one source or one target."""
    edges = list(graph.edges())
    by_end: dict[tuple[str, int], list[Edge]] = {}
    for edge in edges:
        by_end.setdefault(("from", edge.source), []).append(edge)
        by_end.setdefault(("to", edge.target), []).append(edge)
    for meeting in by_end.values():
        for pair in combinations(meeting, 2):
            if not draws.chance(rules.chain_sync_p):
                continue
            chosen: tuple[Edge, ...] = pair
            if not graph.may_synchronise(chosen):
                continue
            for more in meeting:
                if len(chosen) == rules.sync_inputs:
                    break
                wider = (*chosen, more)
                if more not in chosen and draws.chance(rules.chain_sync_p):
                    chosen = wider if graph.may_synchronise(wider) else chosen
            graph.synchronise(chosen)


def mean_length(graph: ChainGraph) -> Decimal:
    return Decimal(sum(map(len, graph.chains))) / len(graph.chains)
