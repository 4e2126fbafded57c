# SPDX-License-Identifier: Apache-2.0
"""The command line: one module per verb, each with HELP, add_arguments() and run()."""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import NoReturn

from rclrt_py.errors import EXIT_BAD_INPUT, EXIT_NO, BadInput, RclrtError, did_you_mean
from rclrt_py.files.atomic import NO_ROOM
from rclrt_py.processes.installation import not_built

from rclrt_cli.commands import (
    agent,
    analyze,
    assign,
    bench,
    calibrate,
    compare,
    doctor,
    plan,
    report,
    robot,
    run,
    simulate,
    synthesize,
    top,
    workloads,
)
from rclrt_cli.completion import add_completers, complete
from rclrt_cli.verbs import PACKAGES, added_verbs, load_all_verbs, load_verb
from rclrt_py import __version__

VERBS: dict[str, ModuleType] = {
    "run": run,
    "agent": agent,
    "compare": compare,
    "simulate": simulate,
    "report": report,
    "doctor": doctor,
    "top": top,
    "bench": bench,
    "calibrate": calibrate,
    "analyze": analyze,
    "synthesize": synthesize,
    "assign": assign,
    "plan": plan,
    "robot": robot,
    "workloads": workloads,
}

HELP_WORDS = ("-h", "--help")


def main(arguments: Sequence[str]) -> int:
    """Runs the verb that `arguments` name, in this process. Returns the exit code."""
    try:
        verbs = VERBS | _verbs_of_others(arguments)
        parser = argparse.ArgumentParser(prog="rclrt")
        fill_parser(parser, verbs)
        complete(parser)
        parsed = parser.parse_args(arguments)
    except RclrtError as error:  # also of a value that needs a package which is not built
        print(f"rclrt: {error}", file=sys.stderr)
        return error.exit_code
    return run_verb(parser, parsed)


def command() -> int:
    """Runs the command line of this process: the entry point of the Python wheel."""
    return main(sys.argv[1:])


def _verbs_of_others(arguments: Sequence[str]) -> dict[str, ModuleType]:
    """Returns the verbs that other packages add to rclrt, as far as this command line needs them:
    the one that it names; all of them if it asks for help or completion; none if the verb is our
    own. Throws BadInput if the verb is unknown."""
    word = arguments[0] if arguments else ""
    if not word or word in HELP_WORDS or "_ARGCOMPLETE" in os.environ:
        return load_all_verbs(VERBS)
    if word.startswith("-") or word in VERBS:
        return {}
    added = added_verbs(VERBS)
    if word in added:
        return {word: load_verb(added[word])}
    if word in PACKAGES:
        raise BadInput(f"'{word}' is a command of {not_built(PACKAGES[word])}")
    known = [*VERBS, *sorted({*added, *PACKAGES})]
    raise BadInput(
        f"unknown command '{word}'{did_you_mean(word, known)}\n"
        f"  expected one of: {', '.join(known)}"
    )


def run_verb(parser: argparse.ArgumentParser, parsed: argparse.Namespace) -> int:
    """Runs the verb of a parsed command line and returns its exit code. Without a verb, prints the
    help and returns EXIT_BAD_INPUT."""
    _never_fail_to_print()
    if parsed.verb is None:
        parser.print_help(sys.stderr)
        return EXIT_BAD_INPUT
    try:
        code: int = parsed.verb_module.run(parsed)
        sys.stdout.flush()
        return code
    except RclrtError as error:
        print(f"rclrt: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("rclrt: stopped", file=sys.stderr)
        return 128 + signal.SIGINT
    except BrokenPipeError:
        # The program that reads our output has ended (as in `rclrt report DIR | head`).
        _discard_standard_output()
        return 128 + signal.SIGPIPE
    except OSError as error:
        if error.errno in NO_ROOM and error.filename is None and _standard_output_is_full():
            print(
                f"rclrt: standard output: cannot be written: {error.strerror}; let it go to a "
                "place with room",
                file=sys.stderr,
            )
            return EXIT_BAD_INPUT
        name = f"{error.filename}: " if error.filename else ""
        print(f"rclrt: {name}{error.strerror or error}", file=sys.stderr)
        return EXIT_NO


def _standard_output_is_full() -> bool:
    """Returns whether an empty line cannot be written, and then discards standard output. (An error
    of print() does not name the file, and without a buffer no text is left to write again.)"""
    try:
        print(flush=True)
    except OSError:
        _discard_standard_output()
        return True
    return False


def _discard_standard_output() -> None:
    """Replaces standard output by /dev/null: at exit, Python would print an error for text that
    cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _never_fail_to_print() -> None:
    """Replaces characters that the terminal lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


class VerbParser(argparse.ArgumentParser):
    """Parses a verb's arguments. Keeps those behind the first `--` in `trailing`, for the program
    that the verb starts.

    If help is requested, prints only the help, even if other arguments are wrong, like the programs
    in C++. Any error ends the process with EXIT_BAD_INPUT and one message, which names the command
    that shows the help.
    """

    trailing: str | None = None
    """Description of the arguments behind `--`. None: the verb takes none."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str], namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        own = list(args)
        index = own.index("--") if "--" in own else len(own)
        is_verb = self._subparsers is None and "_ARGCOMPLETE" not in os.environ
        if is_verb and any(word in HELP_WORDS for word in own[:index]):
            self.print_help()
            self.exit()
        parsed, unknown = super().parse_known_args(own[:index], namespace)
        parsed.trailing = own[index + 1 :]
        if parsed.trailing and self.trailing is None:
            self.error(f"{self.prog.split()[-1]} takes no arguments after --")
        if is_verb and unknown:
            meant = did_you_mean(unknown[0].partition("=")[0], self._option_string_actions)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")
        return parsed, unknown

    def error(self, message: str) -> NoReturn:
        for each in self._actions:
            is_missing = message.endswith(f"required: {each.metavar}")
            if isinstance(each, argparse._SubParsersAction) and is_missing:
                message += f"\n  expected one of: {', '.join(each.choices)}"
        self.exit(EXIT_BAD_INPUT, f"{self.prog}: error: {message}\n  help: {self.prog} --help\n")


def fill_parser(parser: argparse.ArgumentParser, modules: Mapping[str, ModuleType]) -> None:
    """Adds the command's options and verbs to a new parser, whatever the name of its program is."""
    parser.description = "Predictable timing for ROS 2 applications: run, compare, report, analyze."
    parser.epilog = (
        "exit codes: 0 yes, 1 the answer is no (a miss, a blocker, a failed run, a deadline that "
        "is not proved), 2 bad input, 3 observed above a proved bound, 128+n stopped by signal n"
    )
    parser.formatter_class = argparse.HelpFormatter
    parser.allow_abbrev = False
    parser.add_argument("--version", action="version", version=f"rclrt {__version__}")
    verbs = parser.add_subparsers(
        dest="verb", metavar="COMMAND", required=False, parser_class=VerbParser
    )
    for name, module in modules.items():
        verb = verbs.add_parser(name, help=module.HELP, description=module.HELP, allow_abbrev=False)
        verb.set_defaults(verb_module=module)
        module.add_arguments(verb)
        add_completers(verb)
        verb.trailing = getattr(module, "TRAILING", None)
        if verb.trailing is not None:
            usage = verb.format_usage().removeprefix("usage: ").rstrip()
            verb.usage = f"{usage} [-- {verb.trailing}]"
