# SPDX-License-Identifier: Apache-2.0
"""The application graph: callbacks and topics as vertices, with the chains that use each edge."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from rclrt_py.report.layout import Edge, lay_out
from rclrt_py.runs.application import ApplicationInfo


def graph_data(application: ApplicationInfo, chain_order: list[str]) -> dict[str, Any]:
    """Returns the graph of the application for the page's script: vertices with their layer and
    position, and edges with the layers that they pass through.

    The vertex of a callback is named `c:id`, that of a topic `t:name`, so that a callback and a
    topic with the same name differ. `chain_order` has the ids of the chains in the order of the
    report.
    """
    vertices: dict[str, dict[str, Any]] = {}
    topics: dict[str, None] = {}
    for callback in application.callbacks:
        for topic in (*callback.subscribes, *callback.publishes):
            topics[topic] = None
        vertices[f"c:{callback.id}"] = {
            "kind": callback.kind,
            "name": callback.id,
            "node": callback.node,
            "wcet_ns": callback.wcet_ns,
            "releases": callback.releases_text,
            "priority": callback.priority,
        }
    for topic in topics:
        kind = "topic" if application.complete else "joint"
        vertices[f"t:{topic}"] = {"kind": kind, "name": topic}
    chains = _edge_chains(application, chain_order)
    edges = [
        (f"c:{callback.id}", f"t:{topic}")
        for callback in application.callbacks
        for topic in callback.publishes
    ] + [
        (f"t:{topic}", f"c:{callback.id}")
        for callback in application.callbacks
        for topic in callback.subscribes
    ]
    placed = lay_out(list(vertices), edges)
    for name, place in placed.places.items():
        vertices[name].update(layer=place.layer, y=place.y)
    for chain in application.chains:
        if chain.id in chain_order:
            for callback_id in chain.callbacks:
                vertex = vertices.get(f"c:{callback_id}")
                if vertex is not None:
                    vertex.setdefault("chains", []).append(chain_order.index(chain.id))
    return {
        "complete": application.complete,
        "vertices": vertices,
        "edges": [
            {
                "from": edge[0],
                "to": edge[1],
                "bends": [{"layer": bend.layer, "y": bend.y} for bend in placed.bends[edge]],
                "chains": sorted(chains.get(edge, [])),
            }
            for edge in placed.bends
        ],
        "layers": placed.layers,
        "height": placed.height,
    }


def _edge_chains(application: ApplicationInfo, chain_order: list[str]) -> dict[Edge, list[int]]:
    """Returns, for every edge, the chains that pass through it."""
    by_id = {callback.id: callback for callback in application.callbacks}
    found: dict[Edge, list[int]] = {}
    for chain in application.chains:
        if chain.id not in chain_order:
            continue
        number = chain_order.index(chain.id)
        for (before, after), topics in zip(
            pairwise(chain.callbacks), chain.topics[1:], strict=True
        ):
            if before not in by_id or after not in by_id:
                continue
            for topic in topics[:1]:
                found.setdefault((f"c:{before}", f"t:{topic}"), []).append(number)
                found.setdefault((f"t:{topic}", f"c:{after}"), []).append(number)
    return {edge: list(dict.fromkeys(numbers)) for edge, numbers in found.items()}
