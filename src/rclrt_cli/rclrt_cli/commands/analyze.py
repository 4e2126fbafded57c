# SPDX-License-Identifier: Apache-2.0
"""`rclrt analyze`: do the deadlines hold, by how much, and under which assumptions."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rclrt_py.errors import EXIT_BAD_INPUT, EXIT_NO, EXIT_OK, BadInput
from rclrt_py.executors import EXECUTORS, executor_argument
from rclrt_py.files.atomic import STANDARD_OUTPUT, write_output
from rclrt_py.native import analysis, load_application, read_input, read_lines

from rclrt_cli import chain_analysis, sensitivity, task_analysis, task_replay
from rclrt_cli.chain_analysis import Analysis
from rclrt_cli.options import overheads, priorities
from rclrt_cli.refutation import refute_chains, refute_tasks
from rclrt_cli.task_analysis import TaskAnalysis

if TYPE_CHECKING:
    from rclrt_analysis import TaskFile

HELP = "say whether the deadlines of an application or a task set hold"
TASKS = re.compile(rb"""(^|[{,])\s*["']?tasks["']?\s*:""", re.MULTILINE)
PUBLISHED = {"thesis": chain_analysis.thesis, "picas": chain_analysis.picas}
APPLICATION = re.compile(
    rb"""(^|[{,])\s*["']?(callbacks|chains|executors|nodes)["']?\s*:""", re.MULTILINE
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", nargs="?", type=Path, help="an app.yaml, or a task set (YAML, JSON)"
    )
    parser.add_argument(
        "--batch",
        metavar="FILE.jsonl",
        type=Path,
        help="one task set per line, and one result",
    )
    priorities.add_arguments(parser)
    parser.add_argument(
        "--no-search",
        action="store_true",
        help="do not search by simulation for a schedule that misses what is not proved",
    )
    parser.add_argument(
        "--sensitivity",
        action="store_true",
        help="say how much each execution time and period can change, alone, before a deadline is "
        "no longer proved",
    )
    parser.add_argument(
        "--counter-example",
        metavar="FILE",
        type=Path,
        help="write the first schedule that misses there, for rclrt simulate --replay; - is the "
        "standard output",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--assumptions",
        action="store_true",
        help="show all assumptions of the bounds, also those about what the application does not "
        "have",
    )
    parser.add_argument(
        "--test",
        choices=("sound", "thesis", "picas"),
        default="sound",
        help="of an application: safe bounds (default), the thesis's two tests, or PiCAS's own "
        "bounds beside the safe ones of picas",
    )
    parser.add_argument(
        "--executor",
        metavar="X",
        type=executor_argument,
        default="preemptive",
        help=f"of --test sound: of {', '.join(EXECUTORS)}; default preemptive",
    )
    overheads.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    if (arguments.file is None) == (arguments.batch is None):
        raise BadInput("analyze: expected either FILE or --batch FILE.jsonl")
    if arguments.batch is not None:
        if arguments.priorities is not None:
            raise BadInput("--priorities: not for --batch; expected an app.yaml as the FILE")
        return _batch(arguments.batch)
    text = read_input(arguments.file)
    examples: list[tuple[str, str]] = []
    if is_task_set(text):
        if arguments.priorities is not None:
            raise BadInput(
                "--priorities: a task set has no callbacks; expected an app.yaml as the FILE"
            )
        file, tasks = _analyse_tasks(text, str(arguments.file))
        if not arguments.no_search:
            for example in refute_tasks(file, tasks):
                task = f"task {file.tasks[example.task].id}"
                examples.append((task, task_replay.to_text(file, example)))
        if arguments.sensitivity:
            tasks["sensitivity"] = sensitivity.of_tasks(file, task_analysis.number)
        _show(arguments, tasks, task_analysis.table(tasks))
        feasible = tasks["feasible"]
    else:
        chains = _analyse_application(arguments, examples)
        _show(arguments, chains, chain_analysis.table(chains, arguments.assumptions))
        feasible = chains["feasible"]
    if arguments.counter_example is not None:
        _write_counter_example(arguments.counter_example, examples)
    return EXIT_OK if feasible else EXIT_NO


def _show(
    arguments: argparse.Namespace, result: Analysis | TaskAnalysis, lines: Iterator[str]
) -> None:
    if arguments.json:
        print(json.dumps(result, indent=1))
    else:
        for line in lines:
            print(line)
        if "sensitivity" in result:
            for line in sensitivity.table(result["sensitivity"]):
                print(line)


def is_task_set(text: bytes) -> bool:
    """Returns whether the text is a task set and not an application."""
    return b"tasks" in text and bool(TASKS.search(text)) and not APPLICATION.search(text)


def _write_counter_example(path: Path, examples: list[tuple[str, str]]) -> None:
    """Writes the first of the examples. Each is the name of a chain or task that misses, and a
    text."""
    if not examples:
        print("rclrt: no counter-example was found; nothing was written", file=sys.stderr)
        return
    name, text = examples[0]
    write_output(path, text)
    if path != STANDARD_OUTPUT:
        print(f"rclrt: {path}: a schedule in which {name} misses", file=sys.stderr)


def _analyse_application(
    arguments: argparse.Namespace, examples: list[tuple[str, str]]
) -> Analysis:
    """Returns the analysis, and appends the counter-examples that were found to `examples`."""
    module = analysis()  # throws if it is missing
    application = load_application(arguments.file, arguments.priorities)
    if arguments.test != "sound":
        _refuse_options_of_sound(arguments)
        return PUBLISHED[arguments.test](application)
    machine = overheads.from_arguments(arguments, arguments.executor, application)
    result = chain_analysis.sound(application, arguments.executor, machine)
    if not arguments.no_search:
        for example in refute_chains(application, result, machine):
            name = f"chain {application.chains[example.chain].id}"
            examples.append((name, module.counter_example_text(example, application)))
    if arguments.sensitivity:
        result["sensitivity"] = sensitivity.of_chains(application, arguments.executor, machine)
    return result


def _refuse_options_of_sound(arguments: argparse.Namespace) -> None:
    for name in ("sensitivity", *overheads.OPTIONS):
        if getattr(arguments, name) not in (None, False):
            raise BadInput(f"--{name.replace('_', '-')}: of --test sound only")


def _analyse_tasks(text: bytes, name: str) -> tuple[TaskFile, TaskAnalysis]:
    """Returns the task set and its analysis."""
    module = analysis()
    try:
        file = module.parse_task_set(text, name)
    except module.FileError as error:
        raise BadInput(str(error)) from error
    return file, task_analysis.analyse(file)


def _batch(path: Path) -> int:
    """Analyses each line. A line that cannot be used does not stop the others."""
    code = EXIT_OK
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            _, result = _analyse_tasks(line, f"{path}:{number}: in this line")
        except BadInput as error:
            print(f"rclrt: {error}", file=sys.stderr)
            print(json.dumps({"line": number, "error": str(error)}))
            code = EXIT_BAD_INPUT
            continue
        if not result["schedulable"]:
            code = max(code, EXIT_NO)
        print(json.dumps({"line": number, **result}))
    return code
