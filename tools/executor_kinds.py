#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the registry of executors into the files that repeat it, or compares them with it.

Usage: tools/env python3 tools/executor_kinds.py            writes them
       tools/env python3 tools/executor_kinds.py --check    prints those that differ; exit code 1

The registry is the table in src/rclrt_model/src/executor_kind.cpp. Build rclrt_model after a change
of it: it is read through the Python module. It is repeated in
* src/rclrt_py/rclrt_py/executor_table.py, because reports need no native module;
* the schemas, in the member that follows a "$comment" with the mark below;
* docs/executors.md and the page of each kind in docs/executors, between the marks of a section.
Tables of the documentation with a column for each executor are written by hand. Their first lines
are compared.

The files that have the name of a kind must exist, one for each kind, and no others beside them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from textwrap import wrap

from rclrt_py.executor_kind import ExecutorKind

from rclrt_model import EXECUTOR_KINDS, EXECUTOR_OPTIONS_HELP, ExecutorOption, ExecutorTraits

ROOT = Path(__file__).resolve().parent.parent
NAME = f"tools/{Path(__file__).name}"
TABLE = ROOT / "src/rclrt_py/rclrt_py/executor_table.py"
PAGE = ROOT / "docs/executors.md"
PAGES = ROOT / "docs/executors"
RUNNING = [kind for kind in EXECUTOR_KINDS if not kind.simulated_only]
MARK = f"made by {NAME}: "
# Folders with a file for each kind: with one for a kind that is only simulated, too?
NAMED_FILES = (
    ("src/rclrt_executor/src/kinds", ".cpp", False),
    ("src/rclrt_analysis/src/bounds/kinds", ".cpp", False),
    ("src/rclrt_analysis/src/simulation/kinds", ".cpp", True),
    ("docs/executors", ".md", False),
)


def names(has: Callable[[ExecutorTraits], bool]) -> list[str]:
    return [kind.name for kind in RUNNING if kind.on_rclcpp and has(kind)]


def pattern_of(option: ExecutorOption) -> str:
    values = {"N": "[0-9]+", "CALLBACK": "[A-Za-z_][A-Za-z0-9_]*"}
    name, equals, value = option.text.partition("=")
    return f":{name}{equals}{values.get(value, value)}"


def any_order(kind: ExecutorTraits) -> str:
    """Returns the pattern of the names that the parser accepts."""
    if not kind.options:
        return kind.name
    options = "|".join(map(pattern_of, kind.options))
    return f"{kind.name}({options}){'?' if len(kind.options) == 1 else '*'}"


def canonical(kind: ExecutorTraits) -> str:
    """Returns the pattern of the names in results."""
    groups: list[list[str]] = []  # alternatives
    previous = ""
    for option in kind.options:
        if option.is_default:
            continue
        if option.belongs_to and option.belongs_to == previous:
            groups[-1][-1] += f"({pattern_of(option)})?"
        elif option.in_place_of and option.in_place_of == previous.partition("=")[0]:
            groups[-1].append(pattern_of(option))
        else:
            groups.append([pattern_of(option)])
        previous = option.text
    return kind.name + "".join(f"({'|'.join(group)})?" for group in groups)


SCHEMA_PARTS: dict[str, list[str] | str] = {
    "the kinds that run": [kind.name for kind in RUNNING],
    "names in results": f"^({'|'.join(map(canonical, RUNNING))})$",
    "names, also with synthesis or sampled links": (
        rf"^({'|'.join(map(any_order, RUNNING))})(\+synthesis|\+sampled|\+let)?$"
    ),
    "the kinds on rclcpp": names(lambda kind: True),
    "those with threads per level": names(lambda kind: kind.threads == "level"),
    "those with threads per group": names(lambda kind: kind.threads == "group"),
    "those with threads per level or group": names(lambda kind: kind.threads in {"level", "group"}),
    "those with a scheduler thread": names(lambda kind: kind.has_scheduler_thread),
    "those on one CPU": names(lambda kind: kind.by_deadline),
    "those without a number of workers": names(lambda kind: not kind.has_worker_count),
    "those that run to completion": names(lambda kind: kind.one_at_a_time),
}
MEMBER = re.compile(
    rf'("\$comment": "{re.escape(MARK)}(?P<part>[^"]*)",(?P<gap>\s*)"(?:enum|pattern)": )'
    r'(?:\[[^\]]*\]|"(?:[^"\\]|\\.)*")'
)


def with_members(schema: str) -> str:
    """Returns the schema with the marked members replaced, in its layout."""

    def member(match: re.Match[str]) -> str:
        made = SCHEMA_PARTS[match["part"]]
        layout = json.dumps(made, indent=2 if "\n" in match["gap"] else None)
        return match[1] + layout.replace("\n", match["gap"])

    return MEMBER.sub(member, schema)


def table_module() -> Iterator[str]:
    yield "# SPDX-License-Identifier: Apache-2.0"
    yield f'"""The registry of executors, made by {NAME}: do not edit it."""\n'
    yield "from __future__ import annotations\n"
    yield "from rclrt_py.executor_kind import ExecutorKind\n"
    yield "KINDS = ("
    for kind in RUNNING:
        yield "    ExecutorKind("
        for field in fields(ExecutorKind):
            if (value := getattr(kind, field.name)) != field.default:
                text = json.dumps(value) if isinstance(value, str) else value
                yield f"        {field.name}={text},"
        yield "    ),"
    yield ")"
    yield "OPTIONS_HELP = ("
    for line in wrap(EXECUTOR_OPTIONS_HELP, 90, drop_whitespace=False, break_on_hyphens=False):
        yield f"    {json.dumps(line)}"
    yield ")\n"


def overview() -> Iterator[str]:
    yield "| executor | what it is | on rclcpp | its bounds assume |"
    yield "|---|---|---|---|"
    for kind in RUNNING:
        summary = kind.summary.replace("thesis", "[thesis](reference/glossary.md)", 1)
        name = f"[`{kind.name}`](executors/{kind.name}.md)"
        yield f"| {name} | {summary} | {yes_or_no(kind.on_rclcpp)} | {kind.assumption} |"


def yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


def section_of(kind: ExecutorTraits) -> Iterator[str]:
    yield "| | |"
    yield "|---|---|"
    yield f"| class | `{kind.class_name}` |"
    yield f"| on rclcpp | {yes_or_no(kind.on_rclcpp)} |"
    yield f"| a number of workers can be stated | {yes_or_no(kind.has_worker_count)} |"
    how = "[how they are found](../explanation/bounds.md#what-is-bounded-and-how-tightly)"
    yield f"| its bounds assume | {kind.assumption}; {how} |"
    yield ""
    options = [option for option in kind.options if not option.is_default]
    if not options:
        yield f"`{kind.name}` has no options of its own."
        return
    yield "| option | | bounds |"
    yield "|---|---|---|"
    for option in options:
        bounds = option.no_bounds or f"those of `{kind.name}`"
        if option.several_threads:
            page = "../explanation/several-cpus.md#wait-sets-with-several-threads"
            bounds = f"[for several threads]({page})"
        yield f"| `{kind.name}:{option.text}` | {option.help} | {bounds} |"


def with_section(page: str, of_what: str, lines: Iterator[str]) -> str:
    """Returns the page with the lines between the marks of its section."""
    first = f"<!-- {of_what}: {MARK.removesuffix(': ')} -->"
    last = f"<!-- end of {of_what} -->"
    before, _, rest = page.partition(first)
    _, end, after = rest.partition(last)
    if not end:
        raise SystemExit(f"{NAME}: expected a page with the lines {first} and {last}")
    made = "\n".join(lines)
    return f"{before}{first}\n\n{made}\n\n{last}{after}"


def wrong_files() -> Iterator[str]:
    """Yields the kinds without a file of their name, and the files without a kind."""
    for folder, ending, with_simulated in NAMED_FILES:
        kinds = EXECUTOR_KINDS if with_simulated else RUNNING
        expected = {kind.name for kind in kinds}
        found = {file.stem for file in (ROOT / folder).glob(f"*{ending}")}
        for name in sorted(expected - found):
            yield f"{folder}/{name}{ending}: expected this file, because there is a kind {name}"
        for name in sorted(found - expected):
            yield f"{folder}/{name}{ending}: there is no such kind of executor in the registry"


def wrong_columns() -> Iterator[str]:
    """Yields the tables with a column for most executors, but not for all of them in order."""
    expected = [f"`{kind.name}`" for kind in RUNNING]
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            cells = [cell.strip() for cell in line.split("|")[2:-1]]
            if len(set(cells) & set(expected)) > len(expected) / 2 and cells != expected:
                place = f"{page.relative_to(ROOT)}:{number}"
                yield f"{place}: expected the columns {', '.join(expected)}"


def made_files() -> Iterator[tuple[Path, str]]:
    yield TABLE, "\n".join(table_module())
    yield PAGE, with_section(PAGE.read_text(encoding="utf-8"), "the kinds of executors", overview())
    for kind in RUNNING:
        if (page := PAGES / f"{kind.name}.md").exists():
            text = page.read_text(encoding="utf-8")
            yield page, with_section(text, "the kind in the registry", section_of(kind))
    for schema in sorted((ROOT / "schemas").glob("*.json")):
        yield schema, with_members(schema.read_text(encoding="utf-8"))


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    problems = [*wrong_files(), *wrong_columns()]
    for path, text in made_files():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if arguments:
            problems.append(
                f"{path.relative_to(ROOT)} differs from the registry of executors; "
                f"fix: tools/env python3 {NAME}"
            )
        else:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
