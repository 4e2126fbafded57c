# SPDX-License-Identifier: Apache-2.0
"""`rclrt analyze`: do the deadlines hold, by how much, and under which assumptions."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from rclrt_py.analyses import advice, chains, sensitivity, task_replay, tasks
from rclrt_py.arguments import set_usage
from rclrt_py.errors import EXIT_BAD_INPUT, EXIT_NO, EXIT_OK, BadInput
from rclrt_py.executors import EXECUTORS, executor_argument
from rclrt_py.files.atomic import STANDARD_OUTPUT, check_output, write_output
from rclrt_py.native import analysis, load_application, model, read_input, read_lines
from rclrt_py.options import overheads, priorities

from rclrt_cli.tables import advice as advice_table
from rclrt_cli.tables import chains as chain_table
from rclrt_cli.tables import sensitivity as sensitivity_table
from rclrt_cli.tables import tasks as task_table

HELP = "say whether the deadlines of an application or a task set hold"
PUBLISHED = {"thesis": chains.thesis, "picas": chains.picas}
NAMED = 10
"""Number of chains that a message names."""
Examples = list[tuple[str, str]]
"""Counter-examples: the chain that misses its deadline, and the text of the file that shows it."""


if TYPE_CHECKING:
    from rclrt_analysis import CounterExample
    from rclrt_model import Application


def add_arguments(parser: argparse.ArgumentParser) -> None:
    set_usage(parser, "FILE [options]", "--batch FILE.jsonl")
    parser.add_argument(
        "file", metavar="FILE", nargs="?", type=Path, help="an app.yaml, or a task set (YAML, JSON)"
    )
    parser.add_argument(
        "--batch",
        metavar="FILE.jsonl",
        type=Path,
        help="analyse the task set in each line of the file, and print a line of JSON for each",
    )
    priorities.add_arguments(parser)
    parser.add_argument(
        "--no-search",
        action="store_true",
        help="do not search, by simulation, for a schedule that misses an unproved deadline",
    )
    parser.add_argument(
        "--sensitivity",
        action="store_true",
        help="show how far each execution time and each period can change alone before a"
        " deadline is no longer proved or conditional",
    )
    parser.add_argument(
        "--advise",
        action="store_true",
        help="for chains that sample: show which changes make their data younger (a shorter "
        "period, an offset, a message in place of a timer, another priority), each with its bounds",
    )
    parser.add_argument(
        "--counter-example",
        metavar="FILE",
        type=Path,
        help="write the first schedule that misses a deadline to this file, for rclrt simulate "
        "--replay; - is the standard output",
    )
    _add_output_arguments(parser)
    parser.add_argument(
        "--test",
        choices=("sound", "thesis", "picas"),
        default="sound",
        help="which bounds of an application to compute: safe bounds (sound, default), the "
        "thesis's two tests, or the published PiCAS bounds beside the safe ones (picas)",
    )
    parser.add_argument(
        "--executor",
        metavar="X",
        type=executor_argument,
        default="preemptive",
        help=f"the executor, only for --test sound: one of {', '.join(EXECUTORS)}; default "
        "preemptive",
    )
    overheads.add_arguments(parser)


def _add_output_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--why",
        metavar="CHAIN",
        help="show all terms of this chain's bound, in the table and with --json, which has the 64 "
        "longest of each other chain and the sum of the rest",
    )
    parser.add_argument(
        "--assumptions",
        action="store_true",
        help="show all assumptions of the bounds, also those about features that the "
        "application does not use",
    )


def run(arguments: argparse.Namespace) -> int:
    if (arguments.file is None) == (arguments.batch is None):
        raise BadInput("analyze: name either FILE or --batch FILE.jsonl: one of them, not both")
    if arguments.batch is not None:
        for option in ("priorities", "why"):
            if getattr(arguments, option) is not None:
                raise BadInput(
                    f"--{option}: has no meaning with --batch; name an app.yaml as FILE instead"
                )
        return _batch(arguments.batch)
    if arguments.counter_example is not None:
        inputs = [arguments.file, arguments.priorities, arguments.overheads]
        check_output("--counter-example", arguments.counter_example, inputs)
    text = read_input(arguments.file)
    answer = _of_tasks if tasks.is_task_set(text) else _of_application
    result, lines, examples = answer(arguments, text)
    if arguments.json:
        json.dump(result, sys.stdout, indent=1)
        print()
    else:
        for line in lines:
            print(line)
        if "sensitivity" in result:
            for line in sensitivity_table.table(result["sensitivity"]):
                print(line)
    if arguments.counter_example is not None:
        _write_counter_example(arguments.counter_example, examples)
    return EXIT_OK if result["feasible"] else EXIT_NO


def _of_tasks(
    arguments: argparse.Namespace, text: bytes
) -> tuple[tasks.TaskAnalysis, Iterator[str], Examples]:
    if arguments.priorities is not None:
        raise BadInput(
            "--priorities: a task set has no callbacks; name an app.yaml as FILE instead"
        )
    for option in ("advise", "why"):
        if getattr(arguments, option):
            raise BadInput(
                f"--{option}: a task set has no chains; name an app.yaml as FILE instead"
            )
    file = tasks.parse_tasks(text, str(arguments.file))
    result, found = tasks.analyse(file, search=not arguments.no_search)
    if arguments.sensitivity:
        result["sensitivity"] = sensitivity.of_tasks(file, tasks.number)
    examples = [
        (
            f"task {file.tasks[example.task].id} misses its deadline",
            task_replay.to_text(file, example),
        )
        for example in found
    ]
    return result, task_table.table(result), examples


def _of_application(
    arguments: argparse.Namespace, _: bytes
) -> tuple[chains.Analysis, Iterator[str], Examples]:
    module = analysis()  # throws if it is missing
    application = load_application(arguments.file, arguments.priorities)
    if arguments.test != "sound":
        _refuse_options_of_sound(arguments)
        if application.hosts:
            raise BadInput(
                f"--test {arguments.test}: is for applications on one host; leave it out, or leave "
                f"out 'hosts' of {arguments.file}"
            )
        result = PUBLISHED[arguments.test](application)
        return result, chain_table.table(result, arguments.assumptions), []
    for warning in model().order_warnings(application, arguments.executor):
        print(f"rclrt: {arguments.file}: warning: {warning}", file=sys.stderr)
    reason = module.why_no_bounds(arguments.executor)
    for option in ("sensitivity", "advise"):
        if getattr(arguments, option) and reason is not None:
            raise BadInput(f"--{option}: executor '{arguments.executor}': {reason}")
    explained = None if arguments.why is None else _chain(application, arguments.why)
    machine = overheads.from_arguments(arguments, arguments.executor, application)
    result, found = chains.sound(
        application,
        arguments.executor,
        machine,
        search=not arguments.no_search,
        all_terms_of=explained,
    )
    if arguments.sensitivity:
        result["sensitivity"] = sensitivity.of_chains(application, arguments.executor, machine)
    if arguments.advise:
        result["advice"] = advice.advise(application, arguments.executor, machine)
    examples = [
        (_what_exceeds(application, example), module.counter_example_text(example, application))
        for example in found
    ]
    lines = chain(
        chain_table.table(result, arguments.assumptions, arguments.why),
        overheads.notes(arguments, machine),
        advice_table.table(result.get("advice", [])),
    )
    return result, lines, examples


def _chain(application: Application, name: str) -> int:
    """Returns the index of the chain of which all terms are shown."""
    names = [each.id for each in application.chains]
    if name not in names:
        known = ", ".join(names[:NAMED]) + (", ..." if len(names) > NAMED else "")
        raise BadInput(
            f"--why {name}: {application.name} has no chain with this id; expected one of {known}"
        )
    return names.index(name)


def _what_exceeds(application: Application, example: CounterExample) -> str:
    if example.limit == "deadline":
        return f"chain {application.chains[example.chain].id} misses its deadline"
    chain = application.cause_effect_chains[example.chain].id
    return f"cause-effect chain {chain} exceeds its max_{example.limit}_ms"


def _write_counter_example(path: Path, examples: Examples) -> None:
    """Writes the first of the counter-examples to the file; without one, prints that there is none.
    Each of `examples` says what misses, and has the text of its file."""
    if not examples:
        print("rclrt: no counter-example was found; nothing was written", file=sys.stderr)
        return
    misses, text = examples[0]
    write_output(path, text)
    if path != STANDARD_OUTPUT:
        print(f"rclrt: {path} has a schedule in which {misses}", file=sys.stderr)


def _refuse_options_of_sound(arguments: argparse.Namespace) -> None:
    for name in ("sensitivity", "advise", "why", *overheads.OPTIONS):
        if getattr(arguments, name) not in (None, False):
            raise BadInput(
                f"--{name.replace('_', '-')}: works only with --test sound; leave it out, or leave "
                "out --test"
            )


def _batch(path: Path) -> int:
    """Analyses each line. A line that cannot be used does not stop the others."""
    code = EXIT_OK
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            file = tasks.parse_tasks(line, f"{path}:{number}: in this line")
            result, _ = tasks.analyse(file, search=False)
        except BadInput as error:
            print(f"rclrt: {error}", file=sys.stderr)
            print(json.dumps({"line": number, "error": str(error)}))
            code = EXIT_BAD_INPUT
            continue
        if not result["schedulable"]:
            code = max(code, EXIT_NO)
        print(json.dumps({"line": number, **result}))
    return code
