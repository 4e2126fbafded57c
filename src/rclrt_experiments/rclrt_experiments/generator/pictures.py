# SPDX-License-Identifier: Apache-2.0
"""Makes two pictures of a generated application, for graphviz: one of its chains, and one of its
nodes and executors with their callbacks.

The label of an edge is its chain and its position in the chain. Dashed edges are requests to a
service or its responses, dotted ones variables. Circles are subscriptions, double circles timers,
dashed double circles events, and yellow diamonds syncs.
"""

from __future__ import annotations

import graphviz

from rclrt_experiments.generator.application import GeneratedApplication
from rclrt_experiments.generator.graph import Kind

COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#e377c2", "#17becf")


def chains_picture(application: GeneratedApplication) -> graphviz.Digraph:
    """Draws the chains, with priority and execution time of each callback (thesis, figure A.2)."""
    picture = _picture("chains")
    for callback in application.order:
        priority = max(
            application.priorities[chain] for chain in application.graph.chains_of(callback)
        )
        wcet_ms = application.execution_ns[callback] / 1e6
        _vertex(picture, application, callback, f"\nprio {priority}\n{wcet_ms:.3g} ms")
    _edges(picture, application)
    return picture


def application_picture(application: GeneratedApplication) -> graphviz.Digraph:
    """Draws executors with their nodes, and nodes with their callbacks (thesis, figure A.1)."""
    picture = _picture("application")
    places = application.places
    for executor in sorted({place.executor for place in places.values()}):
        with picture.subgraph(name=f"cluster_executor{executor}") as outer:
            cpus = application.cpus_of(executor)
            on = f", CPU {cpus[0]}" if cpus else ""
            outer.attr(label=f"executor{executor}{on}", style="rounded", color="#404040")
            nodes = {place.node for place in places.values() if place.executor == executor}
            for node in sorted(nodes):
                with outer.subgraph(name=f"cluster_{node}") as inner:
                    inner.attr(label=node, style="rounded", color="#a0a0a0")
                    for callback in application.order:
                        if places[callback].node == node:
                            _vertex(inner, application, callback)
    _edges(picture, application)
    return picture


def _picture(name: str) -> graphviz.Digraph:
    font = {"fontname": "sans-serif", "fontsize": "11"}
    return graphviz.Digraph(
        name, graph_attr={"rankdir": "LR", **font}, node_attr=font, edge_attr=font
    )


def _vertex(
    picture: graphviz.Digraph, application: GeneratedApplication, callback: int, more: str = ""
) -> None:
    kind = application.graph.kinds[callback]
    name = application.id_of(callback)
    look = {
        Kind.TIMER: {"shape": "doublecircle"},
        Kind.SUBSCRIPTION: {"shape": "circle"},
        Kind.SYNC: {"shape": "diamond", "style": "filled", "fillcolor": "yellow"},
    }[kind]
    if callback in application.events:
        look = {"shape": "doublecircle", "style": "dashed"}
    picture.node(name, name + more, **look)


def _edges(picture: graphviz.Digraph, application: GeneratedApplication) -> None:
    for edge in application.graph.edges():
        colour = COLOURS[edge.chain % len(COLOURS)]
        chain = application.graph.chains[edge.chain]
        dashed = {"style": "dashed"} if application.is_service_hop(chain, edge.hop) else {}
        picture.edge(
            application.id_of(edge.source),
            application.id_of(edge.target),
            label=f"{edge.chain}.{edge.hop}",
            color=colour,
            fontcolor=colour,
            **dashed,
        )
    for variable in application.variables:
        picture.edge(
            application.id_of(variable.writer),
            application.id_of(variable.reader),
            label=variable.name,
            style="dotted",
        )
