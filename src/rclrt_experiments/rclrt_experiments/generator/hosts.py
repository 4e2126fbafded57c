# SPDX-License-Identifier: Apache-2.0
"""Places the processes of a generated application on hosts, and joins these with links."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from rclrt_experiments.generator.draws import Draws

if TYPE_CHECKING:
    from rclrt_experiments.generator.application import GeneratedApplication

PAYLOAD_BYTES = 1388
"""The room for data in a packet of 1500 bytes with the default headers of a link."""
PACKET_BYTES = 150
"""The headers of a packet: those within the 1500 bytes, and the framing."""


def host_of(application: GeneratedApplication, executor: int) -> int:
    """Returns the host of an executor. The executors of a process are on one host."""
    return application.processes[executor] % application.rules.host_count


def hosts_yaml(application: GeneratedApplication) -> Iterator[str]:
    """Yields the sections `hosts` and `links` of an app.yaml: a link between every two hosts."""
    count = application.rules.host_count
    yield "hosts:"
    for host in range(count):
        yield f"  - {{name: host{host}}}"
    draws = Draws(application.rules.random_seed, "links")
    yield "links:"
    for number, (one, other) in enumerate(combinations(range(count), 2)):
        text = _link(draws, _needed_kbit(application, one, other), one, other)
        yield f"  - {{name: link{number}, between: [host{one}, host{other}], {text}}}"


def _link(draws: Draws, needed_kbit: float, one: int, other: int) -> str:
    """Returns the keys of a link. Its messages need at most 70 % of its rate."""
    limit = math.ceil(max(needed_kbit, 64) / draws.between(0.05, 0.7))
    order = draws.one_of(("fifo", "priority"))
    text = ""
    if draws.chance(0.4):
        text = f", shaper: {{rate_kbit: {limit}, burst_bytes: {1538 + draws.index(15_000)}}}"
    rate = limit * (1 + draws.index(10)) if text else limit
    text = f"rate_kbit: {rate}{text}, order: {order}"
    if draws.chance(0.4):
        latency_us = draws.index(2000)
        text += f", latency_ms: {latency_us / 1000}, min_latency_ms: {latency_us // 2 / 1000}"
    if draws.chance(0.3):
        text += f", access_ms: {draws.index(1000) / 1000}"
    if draws.chance(0.5):
        sender = draws.one_of((one, other))
        text += f", cross_traffic: [{{from: host{sender}, rate_kbit: {draws.index(limit // 10 + 1)}"
        text += f", burst_bytes: {1 + draws.index(20_000)}, priority: {draws.index(4)}}}]"
    return text


def _needed_kbit(application: GeneratedApplication, one: int, other: int) -> float:
    """Returns the rate that the messages of the busier direction need."""
    needed = {one: 0.0, other: 0.0}

    def add(source: int, target: int, size: int) -> None:
        sender, receiver = _host(application, source), _host(application, target)
        if {sender, receiver} == {one, other}:
            needed[sender] += 8 * _on_line(size) * float(application.rate(source)) / 1000

    for edge in application.graph.edges():
        name = application.topic(edge.chain, edge.hop)
        size = application.message_bytes.get(name, 0) if name is not None else 0
        add(edge.source, edge.target, size)
    for chain, reader in application.newest.items():
        writer = application.graph.chains[chain][-1]
        add(writer, reader, application.rules.max_message_bytes)
    return max(needed.values())


def _host(application: GeneratedApplication, callback: int) -> int:
    return host_of(application, application.places[callback].executor)


def _on_line(size: int) -> int:
    """Returns the bytes of a message with all of its headers."""
    return size + 4 + PACKET_BYTES * math.ceil((size + 4) / PAYLOAD_BYTES)


def network_priority(application: GeneratedApplication, name: str) -> int:
    """Returns the priority of a topic on links."""
    return Draws(application.rules.random_seed, f"network priority of {name}").index(4)
