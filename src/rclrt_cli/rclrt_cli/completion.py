# SPDX-License-Identifier: Apache-2.0
"""Completes commands and options in the shell by argcomplete, if it is installed
(https://kislyuk.github.io/argcomplete). A hook in `environment/` registers `rclrt` with the shell.
To complete a word, the shell starts `rclrt` with _ARGCOMPLETE set in its environment."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

from rclrt_py.errors import BadInput
from rclrt_py.executors import ALL, EXECUTORS
from rclrt_py.runs.application import describe_app_file

YAML_FILES = ("yaml", "yml", "json")
"""Extensions of YAML files. JSON is YAML."""


def complete(parser: argparse.ArgumentParser) -> None:
    """Answers the shell and ends the process if the shell asks for completions."""
    if "_ARGCOMPLETE" not in os.environ:
        return
    try:
        import argcomplete
    except ImportError:
        return
    # Options are offered once the word begins with a dash.
    argcomplete.autocomplete(parser, always_complete_options=False)


def add_completers(parser: argparse.ArgumentParser) -> None:
    """Sets argcomplete's completers for the arguments of a verb that have no choices."""
    for action in parser._actions:
        completer = directories if action.metavar == "DIR" else COMPLETERS.get(action.dest)
        if completer is not None and action.choices is None:
            action.completer = completer  # type: ignore[attr-defined]  # read by argcomplete


def executor(**_: object) -> list[str]:
    return list(EXECUTORS)


def executor_list(prefix: str, **_: object) -> list[str]:
    """Returns the list so far, extended by each executor that is not yet in it."""
    listed, comma, _last = prefix.rpartition(",")
    names = EXECUTORS if comma else (*EXECUTORS, ALL)
    return [listed + comma + name for name in names if name not in listed.split(",")]


def chain(parsed_args: argparse.Namespace, **_: object) -> list[str]:
    """Returns the chains of the application, once the command line names it."""
    app = getattr(parsed_args, "app", None)
    if app is None:
        return []
    try:
        application = describe_app_file(app)
    except (BadInput, OSError):
        return []
    return [each.id for each in application.chains] if application else []


def directories(prefix: str, **others: object) -> Any:
    from argcomplete.completers import DirectoriesCompleter

    return DirectoriesCompleter()(prefix, **others)


def files(*extensions: str) -> Callable[..., Any]:
    """Completes with directories and with files of these extensions."""

    def completer(prefix: str, **others: object) -> Any:
        from argcomplete.completers import FilesCompleter

        return FilesCompleter(extensions)(prefix, **others)

    return completer


COMPLETERS: dict[str, Callable[..., Any]] = {
    "app": files(*YAML_FILES),
    "application": files(*YAML_FILES),
    "batch": files("jsonl"),
    "executor": executor,
    "executors": executor_list,
    "fail_on_miss": chain,
    "file": files(*YAML_FILES),
    "overheads": files("json"),
    "priorities": files(*YAML_FILES),
}
"""Completers by the name under which argparse keeps the argument."""
