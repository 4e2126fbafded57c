# SPDX-License-Identifier: Apache-2.0
"""Checks the relative links and anchors of all Markdown files, and the length of the pages.

A link must lead to a file of this repository, and its anchor to a heading there. Pages in `docs/`,
and those of `bench/`, have at most 250 lines; results in `docs/results/` may be longer.

Usage: lint_links.py
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
MAX_LINES = 250
CODE_BLOCK = re.compile(r"(?ms)^(?P<indent> *)(?P<fence>```+|~~~+).*?^(?P=indent)(?P=fence) *$")
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
HEADING = re.compile(r"(?m)^#{1,6} +(?P<text>.+?) *#*$")
LINK = re.compile(
    r"\]\(\s*<?(?P<target>[^()\s>]*(?:\([^()\s]*\)[^()\s>]*)*)>?(?:\s+\"[^\"]*\")?\s*\)"
)
REFERENCE = re.compile(r"(?m)^ {0,3}\[[^\]]+\]: +<?(?P<target>\S+?)>?(?: |$)")
HTML = re.compile(r"\b(?:href|src|srcset)=\"(?P<target>[^\"]+)\"")
ANCHOR = re.compile(r"\b(?:id|name)=\"(?P<name>[^\"]+)\"")


def without_code_blocks(text: str) -> str:
    """Returns the text with the same lines, but empty ones in place of code blocks."""
    return CODE_BLOCK.sub(lambda match: "\n" * match[0].count("\n"), text)


def slug(heading: str) -> str:
    """Returns the anchor that GitHub gives a heading."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)  # a link's text
    text = re.sub(r"[^\w\- ]", "", text.strip().lower())
    return text.replace(" ", "-")


@cache
def anchors(page: Path) -> frozenset[str]:
    """Returns the anchors of a page; headings of one text are numbered, as GitHub does."""
    text = without_code_blocks(page.read_text(encoding="utf-8"))
    seen: Counter[str] = Counter()
    found = {match["name"] for match in ANCHOR.finditer(text)}
    for match in HEADING.finditer(text):
        name = slug(match["text"])
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return frozenset(found)


def links(text: str) -> Iterator[tuple[int, str]]:
    """Yields the target of each link, with its line."""
    plain = without_code_blocks(text)
    plain = CODE.sub(lambda match: re.sub(r"[^\n]", "_", match[0]), plain)
    for pattern in (LINK, REFERENCE, HTML):
        for match in pattern.finditer(plain):
            yield plain.count("\n", 0, match.start()) + 1, match["target"]


def problem_of(page: Path, target: str) -> str | None:
    """Returns what is wrong with a link of the page."""
    if re.match(r"[a-z][a-z0-9+.-]*:|//", target):
        return None
    path, _, anchor = target.partition("#")
    file = (page.parent / unquote(path)).resolve() if path else page
    if not file.is_relative_to(ROOT):
        return "leads out of the repository"
    if not file.exists():
        return "there is no such file"
    if anchor and file.suffix == ".md" and unquote(anchor) not in anchors(file):
        return f"{file.relative_to(ROOT)} has no such heading"
    return None


def problems(page: Path) -> Iterator[str]:
    name = page.relative_to(ROOT)
    text = page.read_text(encoding="utf-8")
    for line, target in links(text):
        if (problem := problem_of(page, target)) is not None:
            yield f"{name}:{line}: {target}: {problem}"
    lines = text.count("\n")
    is_limited = name.parts[0] in ("docs", "bench") and name.parts[:2] != ("docs", "results")
    if is_limited and lines > MAX_LINES:
        yield f"{name}: {lines} lines; expected {MAX_LINES} at the most: one subject per page"


def check_rules() -> None:
    assert slug("The `x_y` of a test, v1.2") == "the-x_y-of-a-test-v12"
    assert slug("[Linked](a.md) text") == "linked-text"
    text = "[a](b.md#c) `[d](e)` ![f](g.svg)\n```\n[h](i)\n```\n[j]: k.md\n"
    assert [target for _, target in links(text)] == ["b.md#c", "g.svg", "k.md"]


def main() -> int:
    check_rules()
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    pages = sorted({ROOT / name for name in listed.stdout.splitlines()})
    pages = [page for page in pages if page.is_file()]
    found = [problem for page in pages for problem in problems(page)]
    print("\n".join([*found, f"{len(pages)} pages, {len(found)} problem(s)"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
