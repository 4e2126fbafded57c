# SPDX-License-Identifier: Apache-2.0
"""The pages of the site and their tree.

* The pages are the Markdown files that git tracks.
* The tree of the site is that of docs/README.md: each section is a part, each link an entry. Below
  an entry are the pages that it links and that no other page has above it (`BELOW`).
"""

from __future__ import annotations

import posixpath
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from lint_links import CODE_BLOCK, LINK  # noqa: E402  # it is above this folder

INDEX = "docs/README"
BELOW = (
    "docs/tutorial/README",
    "docs/executors",
    "docs/results/README",
    "docs/explanation/architecture",
    "examples/README",
    "bench/README",
    "docs/how-to/reproduce-a-paper",
    "CONTRIBUTING",
    "QUALITY_DECLARATION",
)
"""Pages with others below them: in this order each takes the pages that it links."""


@cache
def tracked() -> frozenset[str]:
    """Returns the pages that git tracks, by their paths without `.md`. Throws
    `subprocess.CalledProcessError` outside of a clone."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [name for name in listed.stdout.split("\0") if (ROOT / name).is_file()]
    return frozenset(name.removesuffix(".md") for name in names)


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


def problems() -> Iterator[str]:
    """Yields the pages that the tree lacks, and those that git does not track."""
    entries = {INDEX}
    for pages in (*sections().values(), *below().values()):
        entries.update(pages)
    for page in sorted(tracked() - entries):
        yield (
            f"{page}.md: the tree of the site lacks this page; link it from {INDEX}.md, or from a "
            "page that BELOW in tools/docs_site/tree.py names"
        )
    for page in sorted(tracked()):
        for other in sorted(set(linked(page, source(page))) - tracked()):
            yield f"{page}.md: {other}.md is not tracked by git; fix: git add {other}.md"
