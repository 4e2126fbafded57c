# SPDX-License-Identifier: Apache-2.0
"""Makes the Markdown files of this repository the pages of a site.

* `tree.py` has the pages and their tree.
* A link to a folder leads to its README. A link to another file gives that file.
* A block `{generated} WHAT` becomes reference that is made from its source: the parsers of the
  command (`command`), a JSON schema (`schema NAME`), the list of C++ packages (`cpp`). On a forge
  it shows its text.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
from collections.abc import Callable
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "tools")]

import command_reference  # noqa: E402  # they are beside this file
import cpp_reference  # noqa: E402
import schema_reference  # noqa: E402
from lint_links import CODE_BLOCK, LINK, REFERENCE  # noqa: E402
from tree import INDEX, below, page_of, resolved, sections, titles  # noqa: E402

GENERATED = re.compile(r"(?ms)^```\{generated\} (?P<what>[^\n]+)\n.*?^```$")
GENERATORS: dict[str, Callable[[str], str]] = {
    "command": command_reference.markdown,
    "schema": schema_reference.markdown,
    "cpp": cpp_reference.markdown,
}


def generated(text: str) -> str:
    """Returns the page with its generated blocks replaced by what they name."""

    def made(match: re.Match[str]) -> str:
        what, _, argument = match["what"].partition(" ")
        return GENERATORS[what](argument)

    return GENERATED.sub(made, text)


def toctree(entries: list[str], caption: str = "") -> str:
    """Returns a tree of pages. Below a caption, an entry has the text of its link."""
    title = [f":caption: {caption}"] if caption else []
    if caption:
        entries = [f"{titles()[entry]} </{entry}>" for entry in entries]
    else:
        entries = [f"/{entry}" for entry in entries]
    return "\n".join(["", "```{toctree}", ":hidden:", *title, "", *entries, "```", ""])


def with_links(page: str, text: str) -> str:
    """Returns the page with links that the site can follow: a folder becomes its README, a folder
    without one its name."""

    def changed(match: re.Match[str]) -> str:
        whole: str = match[0]
        target = match["target"]
        path = resolved(page, target)
        if path is None or not (ROOT / path).is_dir():
            return whole
        readme = page_of(path)
        start, end = match.start("target") - match.start(), match.end("target") - match.start()
        if readme is None:
            return whole[:start] + "#" + whole[end:]
        relative = os.path.relpath(f"{readme}.md", posixpath.dirname(page) or ".")
        return whole[:start] + relative + whole[end:]

    blocks: list[str] = []

    def hide(match: re.Match[str]) -> str:
        blocks.append(match[0])
        return f"\0{len(blocks) - 1}\0"

    plain = CODE_BLOCK.sub(hide, text)
    for pattern in (LINK, REFERENCE):
        plain = pattern.sub(changed, plain)
    plain = re.sub(r"\[([^\]]*)\]\(#\)", r"\1", plain)
    return re.sub("\0(\\d+)\0", lambda match: blocks[int(match[1])], plain)


def read_page(app: Sphinx, page: str, content: list[str]) -> None:
    if "```{generated} command\n" in content[0]:
        for problem in command_reference.problems():
            logging.getLogger(__name__).warning(problem, location=page)
    text = with_links(page, generated(content[0]))
    if page == INDEX:
        text += "".join(toctree(pages, title) for title, pages in sections().items() if pages)
    elif below().get(page):
        text += toctree(below()[page])
    content[0] = text


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", read_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
