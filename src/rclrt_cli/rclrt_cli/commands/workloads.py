# SPDX-License-Identifier: Apache-2.0
"""`rclrt workloads`: the work that callbacks can do, and the time that it takes on this machine."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rclrt_py.errors import EXIT_BAD_INPUT, EXIT_NO, EXIT_OK, BadInput, RunFailed
from rclrt_py.files.atomic import check_file, new_directory, write_atomically
from rclrt_py.processes.runner import find_program
from rclrt_py.terminal.table import Columns

from rclrt_cli.workload_import import find_compiler, find_programs, import_program, imported

HELP = "list workloads for callbacks, time them on this machine, import programs in C"
PACKAGE = "rclrt_workloads"
PATH = "RCLRT_WORKLOAD_PATH"
MOST_ITERATIONS = 10_000_000
COLUMNS = ("n", "min", "p50", "p99", "max", "mean", "deviation")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("list", help="names, and what each is like")
    calibrate = actions.add_parser("calibrate", help="time an iteration of each on this machine")
    calibrate.add_argument("names", metavar="NAME", nargs="*", help="default: all")
    calibrate.add_argument(
        "--iterations", metavar="N", type=_iterations, default=2000, help="of each; default 2000"
    )
    calibrate.add_argument("--path", metavar="DIR", type=Path, help="with those imported there")
    calibrate.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="write them there, as JSON"
    )
    load = actions.add_parser(
        "import", help="make workloads of the programs in a tree, such as TACLeBench's"
    )
    load.add_argument("tree", metavar="TREE", type=Path)
    load.add_argument("-o", "--out", metavar="DIR", type=Path, required=True, help="a new one")
    load.add_argument("--compiler", metavar="CC", default="cc", help="default: cc")


def run(arguments: argparse.Namespace) -> int:
    program = find_program(os.environ, PACKAGE, PACKAGE)
    if arguments.action == "list":
        return _list(program)
    if arguments.action == "import":
        return _import(program, arguments)
    return _calibrate(program, arguments)


def _built_in(program: Path) -> list[str]:
    return [line.split("\t")[0] for line in _output([str(program), "list"]).splitlines()]


def _list(program: Path) -> int:
    for line in _output([str(program), "list"]).splitlines():
        name, character, _ = line.split("\t")
        print(Columns(16).line(name, character))
    return EXIT_OK


@dataclass(frozen=True)
class Timed:
    """The CPU time of an iteration, in nanoseconds."""

    name: str
    times: dict[str, float]
    result: int

    @classmethod
    def read(cls, line: str) -> Timed:
        name, *numbers, result = line.split("\t")
        return cls(name, dict(zip(COLUMNS, map(float, numbers), strict=True)), int(result))

    def to_json(self) -> dict[str, Any]:
        times = {f"{key}_us": round(ns / 1e3, 4) for key, ns in self.times.items() if key != "n"}
        return {"name": self.name, "n": int(self.times["n"]), **times, "result": self.result}


def _calibrate(program: Path, arguments: argparse.Namespace) -> int:
    if arguments.output:
        check_file("-o", arguments.output)
    environment = dict(os.environ)
    names: list[str] = arguments.names
    if arguments.path is not None:
        if not arguments.path.is_dir():
            raise BadInput(f"--path {arguments.path}: is no directory; rclrt workloads import")
        environment[PATH] = str(arguments.path.absolute())
    if not names:
        names = _built_in(program) + list(imported(arguments.path) if arguments.path else [])
    command = [str(program), "time", str(arguments.iterations), *names]
    timed = [Timed.read(line) for line in _output(command, environment).splitlines()]
    for line in lines(timed):
        print(line)
    if arguments.output:
        document = {
            "rclrt": 1,
            "kind": "workloads",
            "machine": {
                "measured_utc": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "kernel": platform.release(),
                "architecture": platform.machine(),
                "cpus": os.cpu_count(),
            },
            "workloads": [each.to_json() for each in timed],
        }
        write_atomically(arguments.output, json.dumps(document, indent=1) + "\n")
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
    built_in = _built_in(program)
    skipped = 0
    with new_directory(out) as made:
        for each in programs:
            problem: str | None = "there is a workload of that name already"
            if each.name not in built_in:
                problem = import_program(each, made, program, compiler)
            skipped += problem is not None
            outcome = "imported" if problem is None else f"skipped: {problem}"
            print(Columns(24).line(each.name, outcome))
        if skipped == len(programs):
            raise RunFailed(f"none of {skipped} programs could be imported; nothing is written")
    print(f"\n{len(programs) - skipped} workloads; use them with {PATH}={out}")
    return EXIT_OK if skipped == 0 else EXIT_NO


def _output(command: list[str], environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode == EXIT_BAD_INPUT:
        raise BadInput(said)
    if done.returncode != 0:
        raise RunFailed(f"{Path(command[0]).name} ended with exit code {done.returncode}: {said}")
    if said:
        print(said, file=sys.stderr)
    return done.stdout.decode()


def _iterations(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= MOST_ITERATIONS:
        raise argparse.ArgumentTypeError(
            f"'{text}': expected a whole number from 1 to {MOST_ITERATIONS}"
        )
    return int(text)
