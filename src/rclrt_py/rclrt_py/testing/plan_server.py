# SPDX-License-Identifier: Apache-2.0
"""A server of `rclrt plan` for tests."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rclrt_py.errors import BadInput
from rclrt_py.options import overheads
from rclrt_py.plan.examples import Offer
from rclrt_py.plan.server import Server
from rclrt_py.plan.session import Session
from rclrt_py.plan.written import Output
from rclrt_py.testing.waiting import GENEROUS_S

CHAINS = ("obstacle", "planning", "mapping", "logging")
"""The chains of examples/autonomous_vehicle, the most urgent one first."""


@dataclass
class Plan:
    """A server, and the file that it may write."""

    server: Server
    path: Path

    def save(self, what: str = "app") -> Any:
        """Writes a file after its differences were shown."""
        return self.call("save", what=what, seen=self.call("outcome", what=what)["seen"])

    def call(self, method: str, **body: Any) -> Any:
        """Returns what the server answers, by default to a page that shows the current version.
        Throws BadInput with its error."""
        if method != "state" and "base" not in body:
            body["base"] = self.call("state").get("version", 0)
        request = urllib.request.Request(
            f"{self.server.address}{method}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=GENEROUS_S) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise BadInput(json.load(error)["error"]) from None

    def chains(self, state: Any = None) -> Any:
        """Returns the bounds of the chains in a state; None: the current one."""
        shown = self.call("state") if state is None else state
        return shown["answer"]["analysis"]["chains"]

    def set(self, path: Sequence[str], value: Any) -> dict[str, Any]:
        return {"op": "set", "path": list(path), "value": value}

    def turned_round(self) -> list[dict[str, Any]]:
        """Returns changes that give the CHAINS the reverse of their priorities, and the
        callbacks no own ones."""
        own = [self.set(["callbacks", each, "priority"], None) for each in ("capture", "identify")]
        return own + [
            self.set(["chains", chain, "priority"], str(priority))
            for priority, chain in enumerate(CHAINS)
        ]


def opened(
    path: Path,
    text: str,
    *,
    observe: Callable[[], Any] = lambda: None,
    others: Sequence[Output] = (),
) -> Iterator[Plan]:
    """Writes an app.yaml, and serves it. `others`: the files beside it that may be written."""
    path.write_bytes(text.encode())
    outputs = [Output("app", path), *others]
    session = Session(path, outputs, dict.fromkeys(overheads.OPTIONS), observe)
    session.open("preemptive")
    server = Server(session)
    server.start()
    yield Plan(server, path)
    server.close()


def offered(
    paths: Sequence[Path],
    *,
    outputs: Sequence[Output] = (),
    observe: Callable[[], Any] = lambda: None,
) -> Iterator[Plan]:
    """Serves a page that offers examples. `outputs`: the files that it may write."""

    def session_of(path: Path) -> Session:
        return Session(path, outputs, dict.fromkeys(overheads.OPTIONS), observe)

    server = Server(None, offer=Offer(paths, session_of, "preemptive"))
    server.start()
    yield Plan(server, outputs[0].path if outputs else Path())
    server.close()


def large(nodes: int) -> str:
    """Returns an application of `nodes` nodes in 8 namespaces, with 5 callbacks and a chain
    each."""
    lines = ["rclrt: 1", "name: large", "executors:"]
    lines += [f"  - {{name: exec_{each}, cpus: [{each}]}}" for each in range(4)]
    lines.append("nodes:")
    lines += [
        f"  - {{name: node_{each}, namespace: /area_{each % 8}, executor: exec_{each % 8 // 2}}}"
        for each in range(nodes)
    ]
    lines.append("callbacks:")
    for node in range(nodes):
        for place in range(5):
            trigger = (
                "timer: {period_ms: 100}"
                if place == 0
                else f"subscription: {{topic: /t_{node}_{place - 1}}}"
            )
            lines.append(
                f"  - {{id: cb_{node}_{place}, node: node_{node}, {trigger}, wcet_ms: 0.02, "
                f"publishes: [/t_{node}_{place}]}}"
            )
    lines.append("chains:")
    for node in range(nodes):
        path = ", ".join(f"cb_{node}_{place}" for place in range(5))
        lines.append(f"  - {{id: chain_{node}, callbacks: [{path}], priority: {node % 20}}}")
    return "\n".join(lines) + "\n"
