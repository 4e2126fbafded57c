# SPDX-License-Identifier: Apache-2.0
"""The reference of the command, made from its argument parsers."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator

FIX = "fix: make build, without PACKAGES"


def escaped(text: str) -> str:
    """Returns text of a terminal as text of a table's cell."""
    plain = re.sub(r"([\\`*_{}\[\]<>#|$~])", r"\\\1", " ".join(text.split()))
    return plain.replace("--", "\\-\\-")


def help_of(action: argparse.Action, prog: str) -> str:
    """Returns an argument's help, with its choices and its default where it states them."""
    values = {**vars(action), "prog": prog}
    text = (action.help or "") % {
        key: value for key, value in values.items() if value is not argparse.SUPPRESS
    }
    choices = action.choices
    if choices is not None and action.metavar is not None:
        text += f" ({', '.join(map(str, choices))})"
    return escaped(text)


def name_of(action: argparse.Action) -> str:
    """Returns how an argument is written: `-o, --out DIR`."""
    if action.nargs == 0:
        return f"`{', '.join(action.option_strings)}`"
    if isinstance(action.metavar, tuple):
        value = " ".join(action.metavar)
    elif action.metavar is not None:
        value = action.metavar
    elif action.choices is not None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    else:
        value = action.dest.upper() if action.option_strings else action.dest
    more = {"*": " ...", "+": " ...", argparse.REMAINDER: " ..."}.get(str(action.nargs), "")
    options = ", ".join(action.option_strings)
    return f"`{options} {value}{more}`" if options else f"`{value}{more}`"


def subcommands(
    parser: argparse.ArgumentParser,
) -> argparse._SubParsersAction[argparse.ArgumentParser] | None:
    found = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    return found[0] if found else None


def of_parser(parser: argparse.ArgumentParser, depth: int) -> Iterator[str]:
    """Yields the lines of a command's section, and of those of its own commands."""
    name = parser.prog
    yield from (f"{'#' * depth} {name}", "", escaped(parser.description or ""), "")
    usage = parser.format_usage().removeprefix("usage: ").rstrip()
    yield from ("```text", usage, "```", "")
    deeper = subcommands(parser)
    shown = [
        action
        for action in parser._actions
        if action is not deeper and action.help is not argparse.SUPPRESS and action.dest != "help"
    ]
    if shown:
        yield from ("| argument | meaning |", "|---|---|")
        yield from (f"| {name_of(action)} | {help_of(action, name)} |" for action in shown)
        yield ""
    for sub in deeper.choices.values() if deeper is not None else ():
        yield from of_parser(sub, depth + 1)


def problems() -> Iterator[str]:
    """Yields what this page lacks, because packages with commands are not built."""
    try:
        from rclrt_cli.main import VERBS
        from rclrt_cli.verbs import PACKAGES, added_verbs
    except ImportError as error:
        yield f"the page lacks all commands, because rclrt_cli is not built ({error}); {FIX}"
        return
    missing = sorted(PACKAGES.keys() - added_verbs(VERBS).keys())
    if missing:
        packages = ", ".join(sorted({PACKAGES[verb] for verb in missing}))
        yield (
            f"the page lacks the commands {', '.join(missing)}, because packages are not built: "
            f"{packages}; {FIX}"
        )


def markdown(_: str) -> str:
    """Returns the sections of all commands that are installed, in alphabetical order."""
    try:
        from rclrt_cli.main import VERBS, fill_parser
        from rclrt_cli.verbs import load_all_verbs
    except ImportError:
        return ""  # `problems` names the reason

    os.environ["COLUMNS"] = "80"  # argparse wraps a usage at the width of the terminal
    parser = argparse.ArgumentParser(prog="rclrt")
    fill_parser(parser, VERBS | load_all_verbs(VERBS))
    verbs = subcommands(parser)
    assert verbs is not None
    lines = [line for name in sorted(verbs.choices) for line in of_parser(verbs.choices[name], 2)]
    return "\n".join(lines)
