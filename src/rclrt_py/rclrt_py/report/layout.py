# SPDX-License-Identifier: Apache-2.0
"""Computes a layered drawing of a directed graph, from left to right (after Sugiyama, Tagawa and
Toda 1981).

A vertex is in the layer of the longest path to it. An edge that crosses a layer gets a dummy vertex
there, so that it passes between vertices. Barycentres reduce the crossings of edges. Heights
minimise the squared lengths of edges, with a minimum distance between vertices.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

Edge = tuple[str, str]
ORDER_SWEEPS = 12
HEIGHT_SWEEPS = 24
DUMMY_DISTANCE = 0.6
"""Rows between two vertices if one of them is a dummy of a passing edge; 1 otherwise."""


@dataclass(frozen=True)
class Place:
    layer: int
    y: float


@dataclass(frozen=True)
class Layout:
    """The positions in a drawing of a graph. `places` has the vertices. `bends` has, for each edge,
    the points between its two ends. `y` coordinates are in rows, from 0 to `height`."""

    places: dict[str, Place]
    bends: dict[Edge, list[Place]]
    layers: int
    height: float


def lay_out(vertices: Sequence[str], edges: Iterable[Edge]) -> Layout:
    """Places every vertex. Parts that are not connected are placed one below the other."""
    known = set(vertices)
    proper = list(dict.fromkeys(edge for edge in edges if known.issuperset(edge)))
    layer = _layers(vertices, proper)
    proper = [edge for edge in proper if layer[edge[0]] < layer[edge[1]]]
    places: dict[str, Place] = {}
    bends: dict[Edge, list[Place]] = {}
    below = 0.0
    for part in _parts(vertices, proper):
        net = _Net(part, [edge for edge in proper if edge[0] in part], layer)
        net.reduce_crossings()
        heights = net.heights()
        top = below - min(heights.values())
        for name in part:
            places[name] = Place(layer[name], heights[name] + top)
        for edge, dummies in net.dummies.items():
            bends[edge] = [Place(net.layer[name], heights[name] + top) for name in dummies]
        below = max(heights.values()) + top + 1.0
    layers = max((place.layer for place in places.values()), default=-1) + 1
    return Layout(places, {edge: bends[edge] for edge in proper}, layers, max(below - 1.0, 0.0))


def _parts(vertices: Sequence[str], edges: Sequence[Edge]) -> list[list[str]]:
    """Returns the connected parts, in the order of their first vertices."""
    part = {name: [name] for name in vertices}
    for before, after in edges:
        if part[before] is not part[after]:
            joined = part[before] + part[after]
            for name in joined:
                part[name] = joined
    order = {name: index for index, name in enumerate(vertices)}
    unique = {id(names): names for names in part.values()}
    return sorted(
        (sorted(names, key=order.__getitem__) for names in unique.values()),
        key=lambda names: order[names[0]],
    )


def _layers(vertices: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """Returns the longest path to each vertex. An edge that closes a cycle does not count."""
    following: dict[str, list[str]] = {name: [] for name in vertices}
    waiting = dict.fromkeys(vertices, 0)
    for before, after in edges:
        following[before].append(after)
        waiting[after] += 1
    layer = dict.fromkeys(vertices, 0)
    ready = [name for name in vertices if not waiting[name]]
    while ready:
        name = ready.pop()
        for after in following[name]:
            layer[after] = max(layer[after], layer[name] + 1)
            waiting[after] -= 1
            if not waiting[after]:
                ready.append(after)
    return layer


@dataclass
class _Net:
    """Vertices and dummies, column by column; every link joins neighbouring columns."""

    vertices: Sequence[str]
    edges: Sequence[Edge]
    layer: dict[str, int]
    columns: list[list[str]] = field(init=False)
    dummies: dict[Edge, list[str]] = field(default_factory=dict)
    left: dict[str, list[str]] = field(default_factory=dict)
    right: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.layer = dict(self.layer)
        self.columns = [[] for _ in range(max(self.layer.values(), default=-1) + 1)]
        for name in self.vertices:
            self._add(name, self.layer[name])
        for number, edge in enumerate(self.edges):
            between = range(self.layer[edge[0]] + 1, self.layer[edge[1]])
            self.dummies[edge] = [f"{number}@{layer}" for layer in between]
            for name, layer in zip(self.dummies[edge], between, strict=True):
                self._add(name, layer)
            path = [edge[0], *self.dummies[edge], edge[1]]
            for before, after in itertools.pairwise(path):
                self.right[before].append(after)
                self.left[after].append(before)

    def _add(self, name: str, layer: int) -> None:
        self.layer[name] = layer
        self.columns[layer].append(name)
        self.left[name], self.right[name] = [], []

    def reduce_crossings(self) -> None:
        """Orders every column by the mean position of its neighbours; keeps the best order seen."""
        best, fewest = [list(column) for column in self.columns], self.crossings()
        for sweep in range(ORDER_SWEEPS):
            if not fewest:
                break
            forward = sweep % 2 == 0
            neighbours = self.left if forward else self.right
            for column in self.columns if forward else reversed(self.columns):
                column.sort(key=self._barycentre(neighbours))
            crossings = self.crossings()
            if crossings < fewest:
                best, fewest = [list(column) for column in self.columns], crossings
        self.columns = best

    def crossings(self) -> int:
        """Returns how many pairs of links cross."""
        total = 0
        for column, following in itertools.pairwise(self.columns):
            position = {name: index for index, name in enumerate(following)}
            ends = [sorted(position[after] for after in self.right[name]) for name in column]
            flat = [end for name_ends in ends for end in name_ends]
            total += sum(
                later < earlier for index, earlier in enumerate(flat) for later in flat[index + 1 :]
            )
        return total

    def heights(self) -> dict[str, float]:
        """Returns the y coordinate of every vertex, in rows: close to the mean of its neighbours,
        in the order of its column, and with a minimum distance to the next vertex of the column."""
        height = {name: float(row) for column in self.columns for row, name in enumerate(column)}
        for sweep in range(HEIGHT_SWEEPS):
            for column in self.columns if sweep % 2 == 0 else reversed(self.columns):
                self._move_to_mean(column, height, lambda name: self.left[name] + self.right[name])
        # The last pass follows the left neighbours, so that edges are level where they can be.
        for column in self.columns:
            self._move_to_mean(column, height, lambda name: self.left[name])
        return height

    def _move_to_mean(
        self, column: Sequence[str], height: dict[str, float], near: Callable[[str], list[str]]
    ) -> None:
        """Moves a column's vertices towards the mean of those near to them."""
        wanted = []
        for name in column:
            pulls = [(self._pull(name, other), height[other]) for other in near(name)]
            total = sum(pull for pull, _ in pulls)
            mean = sum(pull * there for pull, there in pulls) / total if pulls else height[name]
            wanted.append(mean)
        height.update(zip(column, self._spread(column, wanted), strict=True))

    def _spread(self, column: Sequence[str], wanted: Sequence[float]) -> list[float]:
        """Returns the heights nearest to `wanted` (least squares) that keep order and distance."""
        offsets = [0.0]
        for above, below in itertools.pairwise(column):
            apart = 1.0 if above in self._real and below in self._real else DUMMY_DISTANCE
            offsets.append(offsets[-1] + apart)
        blocks: list[tuple[float, int]] = []
        for value, offset in zip(wanted, offsets, strict=False):
            mean, size = value - offset, 1
            while blocks and blocks[-1][0] > mean:
                other, count = blocks.pop()
                mean = (mean * size + other * count) / (size + count)
                size += count
            blocks.append((mean, size))
        level = [mean for mean, size in blocks for _ in range(size)]
        return [base + offset for base, offset in zip(level, offsets, strict=False)]

    def _pull(self, name: str, other: str) -> float:
        """Returns how strongly a link pulls towards level: most for a passing edge (as in dot)."""
        return (1.0, 2.0, 8.0)[(name not in self._real) + (other not in self._real)]

    @property
    def _real(self) -> frozenset[str]:
        return frozenset(self.vertices)

    def _barycentre(self, neighbours: dict[str, list[str]]) -> Callable[[str], float]:
        position = {name: row for column in self.columns for row, name in enumerate(column)}

        def key(name: str) -> float:
            near = neighbours[name]
            return sum(position[other] for other in near) / len(near) if near else position[name]

        return key
