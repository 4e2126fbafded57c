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

    def call(self, method: str, **body: Any) -> Any:
        """Returns what the server answers. Throws BadInput with its error."""
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
    path.write_text(text, encoding="utf-8")
    outputs = [Output("app", path), *others]
    session = Session(path, outputs, dict.fromkeys(overheads.OPTIONS), observe)
    session.open("preemptive")
    server = Server(session)
    server.start()
    yield Plan(server, path)
    server.close()
