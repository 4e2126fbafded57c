# SPDX-License-Identifier: Apache-2.0
"""The packages with a C++ interface, linked to the pages that doxygen makes of their headers."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = (
    "rclrt",
    "rclrt_rclcpp",
    "rclrt_robot",
    "rclrt_executor",
    "rclrt_realtime",
    "rclrt_model",
    "rclrt_analysis",
    "rclrt_recorder",
    "rclrt_workloads",
    "rclrt_text",
)
"""Packages with public headers; the one that a user needs first comes first."""


def markdown(_: str) -> str:
    """Returns the table of the packages."""
    rows = []
    for package in PACKAGES:
        manifest = ElementTree.parse(ROOT / "src" / package / "package.xml").getroot()
        what = " ".join((manifest.findtext("description") or "").split())
        rows.append(f"| [`{package}`](../../src/{package}/README.md) | {what} |")
    return "\n".join(
        [
            '<p><a href="../../cpp/index.html">Open the C++ reference</a>: '
            '<a href="../../cpp/annotated.html">classes</a>, '
            '<a href="../../cpp/namespaces.html">namespaces</a>, '
            '<a href="../../cpp/files.html">headers</a>.</p>',
            "",
            "| package | what it has |",
            "|---|---|",
            *rows,
        ]
    )
