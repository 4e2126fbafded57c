# SPDX-License-Identifier: Apache-2.0
"""Writes measured results into a page of docs/results/, between a section's marks."""

from __future__ import annotations

from pathlib import Path

from rclrt_py.files.atomic import write_atomically

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "docs" / "results"
FIGURES = RESULTS / "figures"


def begin(section: str, script: str) -> str:
    return f"<!-- figures of {section}: made by {script} -->"


def end(section: str) -> str:
    return f"<!-- end of the figures of {section} -->"


def write_results(page: str, section: str, script: str, made: str) -> None:
    """Replaces a section of a page of docs/results/."""
    path = RESULTS / page
    text = path.read_text(encoding="utf-8")
    text = replaced(text, begin(section, script), end(section), made)
    write_atomically(path, text)


def replaced(page: str, first: str, last: str, made: str) -> str:
    """Returns the page with the text between the marks replaced."""
    before, rest = page.split(first)
    _, after = rest.split(last)
    return f"{before}{first}\n\n{made}\n\n{last}{after}"
