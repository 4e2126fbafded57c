# SPDX-License-Identifier: Apache-2.0
"""Parts of pictures as SVG."""

from __future__ import annotations

import html
from collections.abc import Iterable

from rclrt_py.text import clean

INK, FAINT, GRID = "#1f2328", "#59636e", "#d8dee4"
WIDTH = 900


def line(
    x1: float,
    y1: float,
    x2: float,
    y2: float,
    paint: str,
    width: float = 1,
    opacity: float = 1,
    dash: str = "",
) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{paint}" '
        f'stroke-width="{width:g}" stroke-opacity="{opacity:g}" stroke-linecap="round"'
        f"{dashed(dash)}/>"
    )


def dashed(dash: str) -> str:
    """Returns the attribute for a line of these dashes and gaps; empty for a continuous line."""
    return f' stroke-dasharray="{dash}"' if dash else ""


def text(
    x: float,
    y: float,
    words: str,
    paint: str = INK,
    anchor: str = "start",
    *,
    bold: bool = False,
    size: int = 12,
) -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{paint}" text-anchor="{anchor}" '
        f'font-size="{size}"{weight}>{html.escape(clean(words))}</text>'
    )


def picture(parts: Iterable[str], height: float) -> str:
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
            f'width="{WIDTH}" height="{height:.0f}" font-family="system-ui, sans-serif">',
            "<!-- SPDX-License-Identifier: Apache-2.0 -->",
            f'<rect width="{WIDTH}" height="{height:.0f}" fill="#ffffff"/>',
            *parts,
            "</svg>",
            "",
        ]
    )
