# SPDX-License-Identifier: Apache-2.0
"""Turns links of chains into sampled ones: the earlier callback stores a variable, which a timer of
its own, or a callback behind that timer, reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rclrt_experiments.generator.draws import Draws
from rclrt_experiments.generator.graph import ChainGraph, Kind

LATER_READER = 0.25
"""Probability that a callback behind the timer reads the variable, instead of the timer."""


@dataclass(frozen=True)
class Segment:
    """A chain on the path of a cause-effect chain."""

    chain: int
    reader: int
    """Reads what the segment before has stored. In the first segment, it is the first callback."""
    logical: bool = False
    """Whether the chain has logical execution time."""
    by_topic: bool = False
    """Whether the reader takes the newest message of a topic, in place of a variable."""


Path = tuple[Segment, ...]
"""The segments of a cause-effect chain. Each one's last callback stores a variable for the next. A
chain of messages with limits has one segment."""


@dataclass(frozen=True)
class SampledGraph:
    """Chains of which some links are sampled."""

    graph: ChainGraph
    drawn: list[int]
    """For each chain of the graph, the drawn chain of which it is a part. The first part of each
    has the number of the drawn chain."""
    paths: list[Path]


def draw_sampling(
    graph: ChainGraph, probability: float, draws: Draws, *, shortest: int = 2
) -> SampledGraph:
    """Draws which links are sampled: each one that may be does so with this probability. The
    callback behind it becomes a timer, which begins a chain of its own. A chain of fewer than
    `shortest` segments has no path."""
    drawn = list(range(len(graph.chains)))
    if probability == 0:
        whole = [(Segment(number, chain[0]),) for number, chain in enumerate(graph.chains)]
        return SampledGraph(graph, drawn, list(whole if shortest == 1 else ()))
    chains: list[list[int]] = []
    later: list[list[int]] = []
    numbers: list[list[int]] = []  # of the parts, for each drawn chain
    for number, chain in enumerate(graph.chains):
        parts = [chain[:1]]
        for callback in chain[1:]:
            if draws.chance(probability) and _may_cut(graph, parts[-1], callback):
                parts.append([])
            parts[-1].append(callback)
        chains.append(parts[0])
        first = len(graph.chains) + len(later)
        numbers.append([number, *range(first, first + len(parts) - 1)])
        later += parts[1:]
        drawn += [number] * (len(parts) - 1)
    timers = {part[0]: Kind.TIMER for part in later}
    cut = ChainGraph([*chains, *later], graph.kinds | timers)
    paths = [_path(cut, own, draws) for own in numbers if len(own) >= shortest]
    return SampledGraph(cut, drawn, in_file_order(paths))


def in_file_order(paths: Iterable[Path]) -> list[Path]:
    """Returns the paths in the order in which a file states them: those of one segment are chains
    of messages, the others come behind all of these."""
    return sorted(paths, key=lambda path: (len(path) > 1, path[0].chain if len(path) == 1 else 0))


def _may_cut(graph: ChainGraph, before: Sequence[int], callback: int) -> bool:
    """Returns whether the link from the last of the callbacks `before` to `callback` may be
    sampled. The latter must be a subscription of one chain, which can become a timer. The former
    must not be a sync, which needs an output, and its part must keep a callback of its own."""
    return (
        graph.kinds[callback] is Kind.SUBSCRIPTION
        and len(graph.on[callback]) == 1
        and graph.kinds[before[-1]] is not Kind.SYNC
        and any(len(graph.on[each]) == 1 for each in before)
    )


def _path(graph: ChainGraph, chains: Sequence[int], draws: Draws) -> Path:
    path = [Segment(chains[0], graph.chains[chains[0]][0])]
    for number in chains[1:]:
        chain = graph.chains[number]
        reader = chain[0]
        if draws.chance(LATER_READER):
            other = chain[draws.index(len(chain))]
            if may_read(graph, path[-1].chain, number, other):
                reader = other
        path.append(Segment(number, reader))
    return tuple(path)


def draw_logical(paths: Sequence[Path], probability: float, draws: Draws) -> list[Path]:
    """Draws which segments have logical execution time: each one does with this probability."""
    return [
        tuple(replace(segment, logical=draws.chance(probability)) for segment in path)
        for path in paths
    ]


def draw_topics(paths: Sequence[Path], probability: float, draws: Draws) -> list[Path]:
    """Draws which sampled links are newest messages of topics: each one is with this
    probability."""
    return [
        (path[0], *(replace(segment, by_topic=draws.chance(probability)) for segment in path[1:]))
        for path in paths
    ]


def may_read(graph: ChainGraph, writer: int, number: int, reader: int) -> bool:
    """Returns whether this callback of chain `number` can read what chain `writer` stores. It must
    not be a sync, or take messages of the callback that stores. The rest of its chain, from it on,
    must have a callback of its own, so that no other chain ends with the same callbacks."""
    chain = graph.chains[number]
    rest = chain[chain.index(reader) :]
    return (
        graph.kinds[reader] is not Kind.SYNC
        and not graph.joined.has_edge(graph.chains[writer][-1], reader)
        and any(len(graph.on[each]) == 1 for each in rest)
    )


def kept_paths(graph: ChainGraph, paths: Sequence[Path]) -> list[Path]:
    """Returns the paths in a smaller graph. If a reader is left out, or cannot read any more, the
    first callback of its chain reads instead."""
    result = []
    for path in paths:
        kept: list[Segment] = []
        for segment in path:
            chain = graph.chains[segment.chain]
            reads = kept and segment.reader in chain
            if reads and may_read(graph, kept[-1].chain, segment.chain, segment.reader):
                kept.append(segment)
            else:
                kept.append(replace(segment, reader=chain[0]))
        result.append(tuple(kept))
    return result
