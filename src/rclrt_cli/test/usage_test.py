# SPDX-License-Identifier: Apache-2.0
"""The usage lines of commands: an option without brackets is required, the others are not."""

from __future__ import annotations

import argparse
import re
from typing import Any

import pytest
from rclrt_cli.main import VERBS, fill_parser
from rclrt_cli.verbs import load_all_verbs
from rclrt_py.testing.command import Rclrt

VALUES = {"X": "preemptive", "NAME": "default", "JSON": "{}"}
"""Values for the placeholders of usage lines; for others, their name is one."""


def verbs() -> dict[str, argparse.ArgumentParser]:
    command = argparse.ArgumentParser(prog="rclrt")
    fill_parser(command, VERBS | load_all_verbs(VERBS))
    (action,) = command._subparsers._group_actions  # type: ignore[union-attr]
    choices: Any = action.choices
    return dict(choices)


STATED = {
    name: parser for name, parser in verbs().items() if "\n       %(prog)s" in (parser.usage or "")
}


def forms(parser: argparse.ArgumentParser) -> list[list[str]]:
    """Returns the words of each usage line without those in brackets and the name of the verb."""
    lines = parser.format_usage().removeprefix("usage: ").splitlines()
    return [re.sub(r"\[[^]]*\]|\.\.\.", "", line).split()[2:] for line in lines if line.strip()]


def test_commands_with_options_that_depend_on_others_state_their_forms() -> None:
    assert {"simulate", "analyze", "report"} <= set(STATED)
    assert forms(STATED["simulate"])[:2] == [
        ["APP", "--executor", "X", "--out", "DIR"],
        ["APP", "--replay", "FILE", "--out", "DIR"],
    ]
    assert forms(STATED["analyze"]) == [["FILE"], ["--batch", "FILE.jsonl"]]


@pytest.mark.parametrize("name", sorted(STATED))
def test_every_form_can_be_parsed(name: str) -> None:
    for words in forms(STATED[name]):
        STATED[name].parse_args([VALUES.get(word, word) for word in words])


@pytest.mark.parametrize("name", sorted(STATED))
def test_the_help_begins_with_the_forms(rclrt: Rclrt, name: str) -> None:
    answer = rclrt(name, "--help")
    assert answer.code == 0
    assert answer.out.startswith(f"usage: rclrt {name} ")
    assert f"\n       rclrt {name} " in answer.out


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("simulate app.yaml --out out", "no --executor"),
        ("simulate app.yaml --executor preemptive", "app.yaml"),
        ("analyze", "name either FILE or --batch FILE.jsonl"),
        ("report one two", "add -o FILE"),
    ],
)
def test_a_form_without_one_of_its_options_is_refused(
    rclrt: Rclrt, command: str, message: str
) -> None:
    answer = rclrt(*command.split())
    assert answer.code == 2
    assert message in answer.err
