# SPDX-License-Identifier: Apache-2.0
"""Puts data, style and scripts into one HTML file that needs no other file and may load nothing."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rclrt_py import __version__
from rclrt_py.comparisons.comparison import Comparison
from rclrt_py.pages.page import embed, make_page
from rclrt_py.report.bound_reasons import bound_reasons
from rclrt_py.report.comparison_table import in_report_order
from rclrt_py.report.context import context_rows
from rclrt_py.report.distributions import SAMPLES_PER_CHAIN, chains_data
from rclrt_py.report.gantt import MAX_SLICES, gantt_data
from rclrt_py.report.graph import graph_data
from rclrt_py.report.headline import focus, headline
from rclrt_py.report.misses import misses_data
from rclrt_py.report.sampling import sampling_data
from rclrt_py.report.sources import source_rows
from rclrt_py.report.switches import switches_data
from rclrt_py.runs.application import ApplicationInfo, from_results
from rclrt_py.runs.output_directory import APPLICATION, REPORT
from rclrt_py.runs.run_data import TRACE

SCRIPTS = (
    "dom.js",
    "scale.js",
    "summary.js",
    "distribution.js",
    "gantt_cpus.js",
    "gantt_panel.js",
    "gantt.js",
    "graph.js",
    "table.js",
    "ways.js",
    "sampling.js",
    "misses.js",
    "bounds_table.js",
    "report.js",
)


def make_report(comparison: Comparison, directory: Path, output: Path | None = None) -> str:
    """Returns the text of the page report.html about the results in `directory`. `output` is the
    path at which the caller will write the page; None: in `directory`."""
    data = report_data(comparison, directory, output or directory / REPORT)
    script = "'use strict';\n" + "\n".join(_file(name) for name in SCRIPTS)
    body = _file("body.html").replace("@DATA@", embed(data))
    title = f"{data['application']['name']} · rclrt report"
    return make_page(title, body, _file("style.css"), script, color_scheme="light dark")


def report_data(comparison: Comparison, directory: Path, output: Path) -> dict[str, Any]:
    application = load_application(comparison, directory)
    return {
        "version": __version__,
        "application": {
            **comparison.application,
            "description": application.description,
            "utilisation": application.utilisation,
        },
        "headline": headline(comparison),
        "focus": comparison.executors.index(focus(comparison)),
        "baseline": (
            comparison.executors.index(comparison.baseline) if comparison.baseline else None
        ),
        "missing": [f"{item.executor}, round {item.round}" for item in comparison.missing],
        "executors": [
            {
                "name": results.executor,
                "label": results.executor_label,
                "rounds": results.rounds,
                "duration_s": results.duration_s,
                "simulated": results.simulated is not None,
            }
            for results in comparison.executors
        ],
        "chains": chains_data(comparison),
        "sampling": sampling_data(comparison),
        "misses": misses_data(comparison),
        "bound_reasons": bound_reasons(comparison.executors),
        "replayed": comparison.replayed is not None,
        "gantt": gantt_data(comparison, application),
        "switches": switches_data(comparison),
        "graph": graph_data(application, [chain.id for chain in in_report_order(comparison)]),
        "context": context_rows(comparison),
        "sources": source_rows(comparison, SAMPLES_PER_CHAIN, MAX_SLICES, application.complete),
        "trace": _link(directory / TRACE, output),
        "streamed": any(results.streamed for results in comparison.executors),
    }


def load_application(comparison: Comparison, directory: Path) -> ApplicationInfo:
    """Loads application.json if there is one; else takes the application from the results."""
    path = directory / APPLICATION
    return ApplicationInfo.load(path) if path.is_file() else from_results(comparison.executors[0])


def _link(path: Path, output: Path) -> str | None:
    """Returns the path relative to the page, as a URL, so that the folder can be moved."""
    if not path.is_file():
        return None
    return quote(os.path.relpath(path.resolve(), output.resolve().parent))


def _file(name: str) -> str:
    return (resources.files("rclrt_py.report") / "data" / name).read_text(encoding="utf-8")
