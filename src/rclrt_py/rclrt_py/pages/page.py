# SPDX-License-Identifier: Apache-2.0
"""One HTML file that needs no other file, may load nothing, and runs only its own script."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterable, Sequence
from typing import Any

PLAIN_STYLE = """
:root { color-scheme: light; }
body { margin: 0; background: #f6f7f9; color: #16202b; font: 15px/1.5 "Inter", "Segoe UI",
  "Liberation Sans", "DejaVu Sans", sans-serif; font-variant-numeric: tabular-nums; }
main { max-width: 1000px; margin: 0 auto; padding: 32px 24px 48px; }
h1 { font-size: 28px; margin: 0 0 4px; } h2 { font-size: 20px; margin: 40px 0 8px; }
h3 { font-size: 15px; margin: 20px 0 6px; }
.note { color: #586574; font-size: 13px; } .wrong { color: #b5442f; font-weight: 600; }
figure { margin: 12px 0; padding: 12px; background: #fff; border: 1px solid #d9dee5;
  border-radius: 10px; }
figure svg { max-width: 100%; height: auto; display: block; }
figcaption { color: #586574; font-size: 13px; }
.scroller { overflow-x: auto; }
table { border-collapse: collapse; background: #fff; border: 1px solid #d9dee5; }
th, td { padding: 4px 10px; border-bottom: 1px solid #e8ebef; text-align: left;
  vertical-align: top; white-space: pre-wrap; }
th { font-weight: 600; }
code { white-space: pre-wrap; }
"""


def make_page(
    title: str,
    body: str,
    style: str,
    script: str = "",
    color_scheme: str = "light",
    *,
    own_server: bool = False,
) -> str:
    """Returns the text of an HTML file. `title` is plain text and is escaped; `body` is HTML;
    `script` is JavaScript, placed after the body.

    The page's content security policy allows only this style and this script, by their hashes, and
    with `own_server` requests to the server of the page.
    """
    scripts = f"script-src {_hash(script)}; " if script else ""
    requests = "connect-src 'self'; " if own_server else ""
    policy = (
        f"default-src 'none'; {scripts}{requests}style-src {_hash(style)}; base-uri 'none'; "
        "form-action 'none'"
    )
    script_element = f"<script>{script}</script>\n" if script else ""
    return f"""<!DOCTYPE html>
<!-- SPDX-License-Identifier: Apache-2.0 -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="{color_scheme}">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
{script_element}</body>
</html>
"""


def plain_page(title: str, parts: Iterable[str]) -> str:
    """Returns a page of markup without scripts, in the common style."""
    return make_page(title, "\n".join(["<main>", *parts, "</main>"]), PLAIN_STYLE)


def escape(text: str) -> str:
    return html.escape(text)


def heading(level: int, text: str) -> str:
    return f"<h{level}>{escape(text)}</h{level}>"


def paragraph(text: str, kind: str = "") -> str:
    """Returns a paragraph. `kind` is a class of the style: note, wrong."""
    attribute = f' class="{kind}"' if kind else ""
    return f"<p{attribute}>{escape(text)}</p>"


def figure(svg: str, caption: str = "") -> str:
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f"<figure>{svg}{below}</figure>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f'<div class="scroller"><table><tr>{head}</tr>{body}</table></div>'


def embed(data: Any) -> str:
    """Returns JSON for a script element. It can neither close nor open markup."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
