# SPDX-License-Identifier: Apache-2.0
"""Makes docs/reference/capabilities.md, the table of what each executor offers, from test results.

Usage: capabilities.py PROGRAM DOCUMENT    runs PROGRAM and writes DOCUMENT

PROGRAM is the test program of the directory capabilities/. Exit code 1: a test failed, or this
machine cannot show everything (no permission for real-time scheduling, one CPU); 2: wrong usage.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

NOT_OFFERED = "not offered, because "
INTRODUCTION = """\
# What each executor offers

Made from tests: each row is a test of
[src/rclrt/test/capabilities](../../src/rclrt/test/capabilities), run under each executor on the
real middleware. [executors.md](../executors.md) says what the rows mean. Do not edit it; after a
change of those tests, write it anew:

```sh
tools/env python3 src/rclrt/test/capabilities.py \\
  build/jazzy-dev/rclrt/capabilities docs/reference/capabilities.md
```"""


@dataclass
class Row:
    """One capability, by executor: None if it is offered, else the reason why not."""

    section: str
    cells: dict[str, str | None] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)  # why this machine cannot show it
    failed: list[str] = field(default_factory=list)


Table = dict[str, Row]  # by name, in the order of the tests


def sentence(name: str) -> str:
    """`TwoCallbacksOnTwoCpus` -> `Two callbacks on two CPUs`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).lower()
    words = re.sub(r"\bcpus\b", "CPUs", words)
    return words[:1].upper() + words[1:]


def read_results(xml: Path) -> Table:
    """The table of a gtest result; names are `Every/Section.Row/executor`."""
    table: Table = {}
    for suite in ElementTree.parse(xml).getroot().iter("testsuite"):
        section = sentence(suite.get("name", "").split("/")[-1])
        for case in suite.iter("testcase"):
            name, _, executor = case.get("name", "").partition("/")
            row = table.setdefault(sentence(name), Row(section))
            skipped = case.find("skipped")
            if case.find("failure") is not None:
                row.failed.append(executor)
            elif skipped is None:
                row.cells[executor] = None
            else:
                reason = skipped.get("message", "").split("\n")[-1].strip()
                if reason.startswith(NOT_OFFERED):
                    row.cells[executor] = reason.removeprefix(NOT_OFFERED)
                else:
                    row.unknown[executor] = reason
    return table


def run(program: str) -> Table:
    """Runs the tests and reads their results."""
    with tempfile.TemporaryDirectory() as directory:
        xml = Path(directory) / "results.xml"
        ended = subprocess.run(
            [program, f"--gtest_output=xml:{xml}"], capture_output=True, text=True, check=False
        )
        if not xml.exists():
            raise RuntimeError(f"{program} ended early:\n{ended.stdout[-4000:]}{ended.stderr}")
        table = read_results(xml)
    failed = [f"{name} ({executor})" for name, row in table.items() for executor in row.failed]
    if failed:
        raise RuntimeError(f"failed: {', '.join(failed)}\n{ended.stdout}")
    return table


def render(table: Table) -> str:
    """The document. Every cell must be known."""
    executors = list(dict.fromkeys(name for row in table.values() for name in row.cells))
    notes: list[str] = []
    lines = [INTRODUCTION]
    section = ""
    for name, row in table.items():
        if row.section != section:
            section = row.section
            lines += [f"\n## {section}\n", f"| | {' | '.join(f'`{e}`' for e in executors)} |"]
            lines += ["|---" * (len(executors) + 1) + "|"]
        cells = []
        for executor in executors:
            reason = row.cells[executor]
            if reason is not None and reason not in notes:
                notes.append(reason)
            cells.append("yes" if reason is None else f"no ({notes.index(reason) + 1})")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines.append("\n## Not offered, because\n")
    lines += [f"{number}. {reason}" for number, reason in enumerate(notes, 1)]
    return "\n".join(lines) + "\n"


def parse(document: str) -> Table:
    """The table that `render` has written."""
    notes = dict(re.findall(r"^(\d+)\. (.*)$", document, re.MULTILINE))
    table: Table = {}
    section, executors = "", list[str]()
    for line in document.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if line.startswith("## "):
            section = line.removeprefix("## ")
        elif cells and not cells[0]:
            executors = [cell.strip("`") for cell in cells[1:]]
        elif cells and not cells[0].startswith("-"):
            reasons = [None if c == "yes" else notes[c.strip("no ()")] for c in cells[1:]]
            table[cells[0]] = Row(section, dict(zip(executors, reasons, strict=True)))
    return table


def fill_in(table: Table, known: Table) -> None:
    """Copies the cells from `known` that this machine could not show."""
    for name, row in table.items():
        for executor, reason in list(row.unknown.items()):
            if name in known and executor in known[name].cells:
                row.cells[executor] = known[name].cells[executor]
                del row.unknown[executor]
            else:
                raise RuntimeError(f"{name} ({executor}): {reason}")


def main(arguments: list[str]) -> int:
    """The command line."""
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        table = run(arguments[0])
        fill_in(table, {})
    except (OSError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    Path(arguments[1]).write_text(render(table))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
