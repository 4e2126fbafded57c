# SPDX-License-Identifier: Apache-2.0
"""Makes the Markdown files of this repository the pages of a site.

* The tree of the site is that of docs/README.md: each section is a part, each link an entry. Below
  an entry are the pages that it links and that no other page has above it (`BELOW`).
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
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "tools")]

import command_reference  # noqa: E402  # they are beside this file
import cpp_reference  # noqa: E402
import schema_reference  # noqa: E402
from lint_links import CODE_BLOCK, LINK, REFERENCE  # noqa: E402

PATTERNS = (
    "*.md",
    "docs/*.md",
    "docs/**/*.md",
    "src/*/README.md",
    "src/*/doc/*.md",
    "src/*/src/*/README.md",
    "examples/*.md",
    "examples/**/*.md",
    "bench/*.md",
    "bench/**/*.md",
    "test/*/README.md",
    "tools/*/README.md",
)
INDEX = "docs/README"
BELOW = (
    "docs/tutorial/README",
    "docs/executors",
    "docs/results/README",
    "docs/explanation/architecture",
    "examples/README",
    "bench/README",
    "docs/how-to/reproduce-a-paper",
    "QUALITY_DECLARATION",
)
"""Pages with others below them: in this order each takes the pages that it links."""
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


def page_of(path: str) -> str | None:
    """Returns the name of the page of a path: of a file, or of the README of a folder."""
    for name in (path, f"{path}/README.md"):
        if name.endswith(".md") and (ROOT / name).is_file():
            return name.removesuffix(".md")
    return None


def resolved(page: str, target: str) -> str | None:
    """Returns the path, from the root, to which a relative link of the page leads."""
    if not target or re.match(r"[a-z][a-z0-9+.-]*:|//|#", target):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), target.partition("#")[0]))


def linked(page: str, text: str) -> Iterator[str]:
    """Yields the pages that a page links, in order."""
    for match in LINK.finditer(CODE_BLOCK.sub("", text)):
        path = resolved(page, match["target"])
        other = None if path is None else page_of(path)
        if other is not None and "#" not in match["target"]:
            yield other


@cache
def source(page: str) -> str:
    return (ROOT / f"{page}.md").read_text(encoding="utf-8")


@cache
def sections() -> dict[str, list[str]]:
    """Returns the parts of the site, each with its pages."""
    parts: dict[str, list[str]] = {}
    seen = {INDEX}
    for part in source(INDEX).split("\n## ")[1:]:
        title, _, text = part.partition("\n")
        mine = [page for page in dict.fromkeys(linked(INDEX, text)) if page not in seen]
        seen.update(mine)
        parts[title] = mine
    return parts


@cache
def below() -> dict[str, list[str]]:
    """Returns, for each page of BELOW, the pages below it in the site's tree."""
    seen = {INDEX, *(page for part in sections().values() for page in part)}
    tree = {}
    for page in BELOW:
        mine = [other for other in dict.fromkeys(linked(page, source(page))) if other not in seen]
        seen.update(mine)
        tree[page] = mine
    return tree


def toctree(entries: list[str], caption: str = "") -> str:
    """Returns a tree of pages. Below a caption, an entry has the text of its link."""
    title = [f":caption: {caption}"] if caption else []
    if caption:
        entries = [f"{titles()[entry]} </{entry}>" for entry in entries]
    else:
        entries = [f"/{entry}" for entry in entries]
    return "\n".join(["", "```{toctree}", ":hidden:", *title, "", *entries, "```", ""])


@cache
def titles() -> dict[str, str]:
    """Returns, for each page that docs/README.md links, the text of that link."""
    found: dict[str, str] = {}
    for text, target in re.findall(r"\[([^\]]+)\]\(([^)#]+)\)", source(INDEX)):
        path = resolved(INDEX, target)
        page = None if path is None else page_of(path)
        if page is not None:
            found[page] = text.replace("`", "")
    return found


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
    text = with_links(page, generated(content[0]))
    if page == INDEX:
        text += "".join(toctree(pages, title) for title, pages in sections().items() if pages)
    elif below().get(page):
        text += toctree(below()[page])
    content[0] = text


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", read_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
