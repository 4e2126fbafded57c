# SPDX-License-Identifier: Apache-2.0
"""`rclrt workloads`: the work that callbacks can do, and the time that it takes on this machine."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path

from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput, RunFailed
from rclrt_py.files.atomic import check_file, new_directory, write_atomically
from rclrt_py.processes.runner import find_program
from rclrt_py.terminal.table import Columns
from rclrt_py.workloads.importing import find_compiler, find_programs, import_program, imported
from rclrt_py.workloads.timing import COLUMNS, Timed, built_in, document_of, time_workloads

HELP = "list workloads for callbacks, time them on this machine, import programs in C"
PACKAGE = "rclrt_workloads"
PATH = "RCLRT_WORKLOAD_PATH"
MOST_ITERATIONS = 10_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("list", help="list the workloads, and what each is like")
    calibrate = actions.add_parser(
        "calibrate", help="measure the time of an iteration of each workload on this machine"
    )
    calibrate.add_argument(
        "names", metavar="NAME", nargs="*", help="workloads to measure; default: all"
    )
    calibrate.add_argument(
        "--iterations",
        metavar="N",
        type=_iterations,
        default=2000,
        help="iterations of each workload; default 2000",
    )
    calibrate.add_argument(
        "--path",
        metavar="DIR",
        type=Path,
        help="also measure the workloads in this directory, which rclrt workloads import made",
    )
    calibrate.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="write the times to this file, as JSON"
    )
    load = actions.add_parser(
        "import", help="compile the C programs in a source tree, such as TACLeBench, to workloads"
    )
    load.add_argument("tree", metavar="TREE", type=Path)
    load.add_argument(
        "-o",
        "--out",
        metavar="DIR",
        type=Path,
        required=True,
        help="a new directory for the workloads",
    )
    load.add_argument("--compiler", metavar="CC", default="cc", help="C compiler; default: cc")


def run(arguments: argparse.Namespace) -> int:
    program = find_program(os.environ, PACKAGE, PACKAGE)
    if arguments.action == "list":
        return _list(program)
    if arguments.action == "import":
        return _import(program, arguments)
    return _calibrate(program, arguments)


def _list(program: Path) -> int:
    for name, character in built_in(program).items():
        print(Columns(16).line(name, character))
    return EXIT_OK


def _calibrate(program: Path, arguments: argparse.Namespace) -> int:
    if arguments.output:
        check_file("-o", arguments.output, [arguments.path])
    environment = dict(os.environ)
    names: list[str] = arguments.names
    if arguments.path is not None:
        if not arguments.path.is_dir():
            raise BadInput(
                f"--path {arguments.path}: is not a directory; expected one that rclrt workloads "
                "import made"
            )
        environment[PATH] = str(arguments.path.absolute())
    if not names:
        names = [*built_in(program), *(imported(arguments.path) if arguments.path else [])]
    timed = time_workloads(program, arguments.iterations, names, environment)
    for line in lines(timed):
        print(line)
    if arguments.output:
        write_atomically(arguments.output, json.dumps(document_of(timed), indent=1) + "\n")
        print(f"\n{arguments.output}")
    return EXIT_OK


def lines(timed: list[Timed]) -> Iterator[str]:
    """Yields a table in microseconds."""
    names = (each.name for each in timed)
    columns = Columns.named(["CPU time, µs", *names], *[11] * len(COLUMNS))
    yield columns.line("CPU time, µs", *COLUMNS)
    for each in timed:
        cells = [f"{each.times['n']:.0f}"]
        cells += [f"{each.times[column] / 1e3:.2f}" for column in COLUMNS[1:]]
        yield columns.line(each.name, *cells)


def _import(program: Path, arguments: argparse.Namespace) -> int:
    out: Path = arguments.out.absolute()
    compiler = find_compiler(arguments.compiler)
    programs = find_programs(arguments.tree)
    known = built_in(program)
    skipped = 0
    with new_directory(out) as made:
        for each in programs:
            problem: str | None = "there is a workload of that name already"
            if each.name not in known:
                problem = import_program(each, made, program, compiler)
            skipped += problem is not None
            outcome = "imported" if problem is None else f"skipped: {problem}"
            print(Columns(24).line(each.name, outcome))
        if skipped == len(programs):
            raise RunFailed(f"none of {skipped} programs could be imported; nothing is written")
    print(f"\n{len(programs) - skipped} workloads; use them with {PATH}={out}")
    return EXIT_OK if skipped == 0 else EXIT_NO


def _iterations(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= MOST_ITERATIONS:
        raise argparse.ArgumentTypeError(
            f"'{text}': expected a whole number from 1 to {MOST_ITERATIONS}"
        )
    return int(text)
