# SPDX-License-Identifier: Apache-2.0
"""The page: the components of the report, the graph and the controls, in one HTML file."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from rclrt_py import __version__
from rclrt_py.pages.page import embed, make_page

SHARED = ("dom.js", "scale.js", "gantt_cpus.js", "gantt_panel.js", "gantt.js")
"""Scripts of the report that this page uses."""
NOT_SHOWN = {"directory": "", "robots": [], "hint": ""}
"""Parts of measured times that name this machine or others: a saved page has none."""
SCRIPTS = (
    "store.js",
    "chooser.js",
    "graph_model.js",
    "graph_layout.js",
    "graph_view.js",
    "graph_drag.js",
    "bar.js",
    "chains.js",
    "observed.js",
    "load.js",
    "inspector.js",
    "ask.js",
    "variants.js",
    "files.js",
    "keyboard.js",
    "plan.js",
)


def plan_page() -> str:
    """Returns the page that asks its server for everything else."""
    return _page("rclrt plan", "null", own_server=True)


def offline_page(state: dict[str, Any]) -> str:
    """Returns a page that shows one state, without a server and read only."""
    name = state["answer"]["model"]["name"]
    seen = state["observed"]
    shown = {
        **state,
        "offers": False,
        "outputs": [],  # with the paths of this machine
        "observed": None if seen is None else {**seen, **NOT_SHOWN},
    }
    return _page(f"{name} · rclrt plan", embed(shown), own_server=False)


def _page(title: str, data: str, *, own_server: bool) -> str:
    body = _file("plan", "body.html").replace("@VERSION@", __version__).replace("@DATA@", data)
    return make_page(
        title,
        body,
        _style(),
        _script(),
        color_scheme="light dark",
        own_server=own_server,
    )


@cache
def _style() -> str:
    return _file("report", "style.css") + _file("plan", "plan.css")


@cache
def _script() -> str:
    parts = [
        _file("plan", "dagre/dagre.min.js"),
        "'use strict';",
        *(_file("report", name) for name in SHARED),
        *(_file("plan", name) for name in SCRIPTS),
    ]
    return "\n".join(parts)


def _file(package: str, name: str) -> str:
    return (resources.files(f"rclrt_py.{package}") / "data" / name).read_text(encoding="utf-8")
