# SPDX-License-Identifier: Apache-2.0
"""The console blocks of the pages that readers follow do what the pages say.

Each block of a page in `docs/start` and `docs/how-to`, and of `examples/bounds`, runs in the order
of the page, in an empty folder that has what a checkout has. Files that a page shows (`# app.yaml`
in their first line) are written there. Each line below a command must appear in its output, in that
order; further lines may stand between. A command must exit with 0, or with a code that its comment
states (`# exit code 1`).

A block below a line `*Needs ...:*` is not run: the line is the reason, for readers as well. The
options of its commands are checked nevertheless. A block may stand in a list.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
BLOCK = re.compile(
    r"(?ms)(?:^ *\*Needs (?P<needs>[^*]+?):\*\n\n)?"
    r"^(?P<indent> *)```(?P<kind>console|yaml)\n(?P<text>.*?)^(?P=indent)```$"
)
FENCE = re.compile(r"(?m)^.*(```|~~~) *console\b.*$")
EXIT_CODES = re.compile(r"#.*\bexit code (?P<codes>\d(?: or \d)*)")
CHECKOUT = ("rclrt", "examples", "src", "bench")
GENEROUS_S = 600


@dataclass(frozen=True)
class Block:
    """A block of a page that can be run, or that is a file for those that can."""

    line: int
    kind: str
    text: str
    needs: str | None = None


def blocks(page: str) -> list[Block]:
    found = []
    for block in BLOCK.finditer(page):
        text = textwrap.dedent(block["text"]) if block["indent"] else block["text"]
        needs = " ".join(block["needs"].split()) if block["needs"] else None
        line = page.count("\n", 0, block.start("text")) + 1
        found.append(Block(line, block["kind"], text, needs))
    return found


def unseen(page: str) -> list[int]:
    """Returns the lines at which a console block begins that `blocks` does not find."""
    seen = {block.line - 1 for block in blocks(page)}
    starts = [page.count("\n", 0, fence.start()) + 1 for fence in FENCE.finditer(page)]
    return [line for line in starts if line not in seen]


@dataclass
class Command:
    """A command of a page, with the lines that it prints according to the page."""

    line: int
    text: str
    expected: list[str] = field(default_factory=list)

    @property
    def exit_codes(self) -> set[int]:
        stated = EXIT_CODES.search(self.text)
        return {int(code) for code in stated["codes"].split(" or ")} if stated else {0}


def commands(block: str, line: int) -> Iterator[Command]:
    """Yields the commands of a console block that begins at a line."""
    found: Command | None = None
    for number, text in enumerate(block.splitlines(), line):
        if found is not None and found.text.endswith("\\"):
            found.text = found.text[:-1] + text.strip()
        elif text.startswith("$ "):
            if found is not None:
                yield found
            found = Command(number, text[2:])
        elif found is not None and text.strip() not in ("", "..."):
            found.expected.append(" ".join(text.split()))
    if found is not None:
        yield found


def missing_line(expected: list[str], output: str) -> str | None:
    """Returns the first expected line that the rest of the output has not."""
    lines = iter([" ".join(line.split()) for line in output.splitlines()])
    return next((line for line in expected if not any(line in other for other in lines)), None)


def test_a_command_has_its_lines_and_its_exit_codes() -> None:
    found = list(commands("$ a --b \\\n  c  # exit code 1 or 2\nx   y\n...\n$ d\n", 7))
    assert [(c.line, c.text) for c in found] == [(7, "a --b c  # exit code 1 or 2"), (11, "d")]
    assert found[0].expected == ["x y"]
    assert found[0].exit_codes == {1, 2}
    assert found[1].exit_codes == {0}


def test_lines_must_appear_in_their_order() -> None:
    assert missing_line(["a b", "c"], "1 a  b 2\n\nc\n") is None
    assert missing_line(["c", "a b"], "a b\nc\n") == "a b"


def test_a_block_in_a_list_is_found_and_one_in_a_quotation_is_named() -> None:
    page = "1. Do\n\n   *Needs a\n   b:*\n\n   ```console\n   $ a\n   b\n   ```\n\n> ```console\n"
    assert blocks(page) == [Block(7, "console", "$ a\nb\n", "a b")]
    assert unseen(page) == [11]


def pages() -> list[Path]:
    return [
        *sorted([*(DOCS / "start").glob("*.md"), *(DOCS / "how-to").glob("*.md")]),
        ROOT / "examples" / "bounds" / "README.md",
    ]


def name_of(page: Path) -> str:
    return page.parent.name if page.stem == "README" else page.stem


def runnable_pages() -> list[Path]:
    """Returns the pages with a console block that needs nothing special."""

    def runs(page: Path) -> bool:
        found = blocks(page.read_text(encoding="utf-8"))
        return any(block.kind == "console" and not block.needs for block in found)

    return [page for page in pages() if runs(page)]


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_console_block_of_a_page_is_one_that_can_be_run(page: Path) -> None:
    lines = unseen(page.read_text(encoding="utf-8"))
    assert not lines, (
        f"{page.relative_to(ROOT)}: lines {lines}: not a block of its own or of a list"
    )


def make_checkout(folder: Path) -> None:
    for name in CHECKOUT:
        (folder / name).symlink_to(ROOT / name)
    environment = folder / "tools/env"  # it looks for the checkout above its own folder
    environment.parent.mkdir()
    environment.write_text(f"#!/bin/sh\nexec '{ROOT}/tools/env' \"$@\"\n", encoding="utf-8")
    environment.chmod(0o755)


@pytest.mark.parametrize("page", runnable_pages(), ids=name_of)
def test_the_blocks_of_a_page_do_what_it_says(page: Path, tmp_path: Path) -> None:
    make_checkout(tmp_path)
    for block in blocks(page.read_text(encoding="utf-8")):
        name = re.match(r"# ([\w.-]+\.yaml)\n", block.text)
        if block.needs:
            continue
        if block.kind == "yaml" and name is not None:
            (tmp_path / name[1]).write_text(block.text, encoding="utf-8")
        elif block.kind == "console":
            for command in commands(block.text, block.line):
                run(command, page, tmp_path)


def run(command: Command, page: Path, folder: Path) -> None:
    place = f"{page.relative_to(ROOT)}:{command.line}: {command.text}"
    ended = subprocess.run(
        ["bash", "-c", command.text],
        cwd=folder,
        env={**os.environ, "HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=GENEROUS_S,
    )
    assert ended.returncode in command.exit_codes, f"{place}\n{ended.stdout}"
    missing = missing_line(command.expected, ended.stdout)
    assert missing is None, f"{place}\nnot in the output: {missing}\n{ended.stdout}"


@pytest.fixture(scope="module")
def parser() -> argparse.ArgumentParser:
    from rclrt_cli.main import VERBS, fill_parser
    from rclrt_cli.verbs import load_all_verbs

    command = argparse.ArgumentParser(prog="rclrt")
    fill_parser(command, VERBS | load_all_verbs(VERBS))
    return command


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_command_of_rclrt_in_a_page_has_a_verb_and_options_that_exist(
    page: Path, parser: argparse.ArgumentParser, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also in blocks that are not run: what was renamed is found there."""
    for block in blocks(page.read_text(encoding="utf-8")):
        for command in commands(block.text, block.line) if block.kind == "console" else ():
            words = shlex.split(command.text, comments=True)
            if words[:1] != ["./rclrt"] or 2 in command.exit_codes:
                continue
            try:
                parser.parse_args(words[1:])
            except SystemExit:
                place = f"{page.relative_to(ROOT)}:{command.line}: {command.text}"
                pytest.fail(f"{place}\n{capsys.readouterr().err}")
