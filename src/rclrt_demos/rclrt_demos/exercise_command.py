# SPDX-License-Identifier: Apache-2.0
"""`rclrt exercise`: runs an exercise of the workshop, and shows the effect of its flaw."""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from rclrt_py.arguments import MIN_RUN_SECONDS, seconds_argument
from rclrt_py.errors import EXIT_OK, BadInput
from rclrt_py.files.atomic import check_file, move_into_place, write_atomically
from rclrt_py.processes import installation
from rclrt_py.processes.runner import find_program
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.runs.output_directory import STAGING, Plan, claimed
from rclrt_py.terminal.table import LINE_WIDTH, Columns

from rclrt_demos import histogram, pendulum_picture
from rclrt_demos.exercise_table import rows, table_lines
from rclrt_demos.exercises import (
    BASELINE,
    CLIENTS,
    EXERCISES,
    RCLCPP,
    RCLRT,
    SOLUTION,
    VARIANTS,
    Exercise,
    find_exercise,
)
from rclrt_demos.live import LivePicture
from rclrt_demos.measurement import measure
from rclrt_demos.rounds import PACKAGE, Outcome, interleaved
from rclrt_demos.verdict import sentences

HELP = "the workshop's exercises: each runs a flaw and its fix, and shows the difference"
LIST = "list"
SECONDS, ROUNDS, MOST_ROUNDS = 10.0, 5, 1000
HISTOGRAM, PENDULUM = "histogram.svg", "pendulum.svg"
FILES = (HISTOGRAM, PENDULUM, *(f"{variant}.pftrace" for variant in VARIANTS))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(exercise.name for exercise in EXERCISES)
    parser.add_argument(
        "exercise",
        metavar="N",
        help=f"the exercise: {names}; or {LIST}, to print what each is about",
    )
    parser.add_argument(
        "--solution",
        action="store_true",
        help="run the variant with the fix instead of the one with the flaw",
    )
    parser.add_argument(
        "--compare",
        action="store_true",
        help="run both variants, flaw and fix, in alternating rounds",
    )
    parser.add_argument(
        "--client",
        choices=CLIENTS,
        default=RCLRT,
        help="the client library of the nodes; the exercises 3-1 to 4-2 also exist on rclcpp, if "
        f"it is installed; default {RCLRT}",
    )
    parser.add_argument(
        "--stress",
        action="store_true",
        help="keep every CPU busy during the runs: with stress-ng if it is installed",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=seconds_argument,
        default=SECONDS,
        help=f"seconds to run each variant, all rounds together; default {SECONDS:g}",
    )
    parser.add_argument(
        "--rounds",
        metavar="R",
        type=_rounds,
        help=f"number of rounds into which --compare divides the seconds; default {ROUNDS}",
    )
    parser.add_argument(
        "--live",
        action="store_true",
        help="for 2-1, 2-2, 2-3: draw the pendulum on the terminal during the run; needs rclpy",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        type=Path,
        help="write the measured values to this file, as JSON rows",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        help="directory for traces and pictures; default: exercise-N in the current directory, or "
        f"exercise-N-{RCLCPP}",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.exercise == LIST:
        if arguments.json or arguments.out or arguments.compare or arguments.solution:
            raise BadInput(f"{LIST}: only prints the exercises; leave out the other options")
        for line in list_lines():
            print(line)
        return EXIT_OK
    exercise = find_exercise(arguments.exercise).on_client(arguments.client)
    rounds = _check(arguments, exercise)
    variants = VARIANTS if arguments.compare else (SOLUTION if arguments.solution else BASELINE,)
    out = arguments.out or Path(exercise.full_name(f"exercise-{exercise.name}"))
    order = interleaved(variants, rounds)
    seconds = arguments.seconds / rounds
    live = LivePicture(sys.stdout) if arguments.live else None
    with StopSignals() as stop:
        plan = Plan("exercise", tuple(variants), rounds, seconds)
        with claimed(out, plan) as directory:
            staging = directory / STAGING
            staging.mkdir()
            outcome = measure(exercise, order, seconds, staging, arguments.stress, stop, live)
            if outcome is None:
                print("rclrt: stopped; nothing was written", file=sys.stderr)
                return stop.exit_code
            _write(outcome, directory, arguments.json)
    _show(outcome, out)
    return EXIT_OK


def list_lines() -> Iterator[str]:
    columns = Columns(5)
    for exercise in EXERCISES:
        yield columns.line(exercise.name, f"{exercise.title}: see {exercise.slice_name}")
        yield f"{columns.indent}{exercise.flaw}, or {exercise.fix} (--solution)"
        if exercise.on_rclcpp is not None:
            there = exercise.on_client(RCLCPP)
            yield f"     on rclcpp: {there.flaw}, or {there.fix} (--client {RCLCPP})"


def _rounds(text: str) -> int:
    if text.isdecimal() and 1 <= int(text) <= MOST_ROUNDS:
        return int(text)
    raise argparse.ArgumentTypeError(
        f"'{text}' is not a number of rounds; expected 1 to {MOST_ROUNDS}"
    )


def _check(arguments: argparse.Namespace, exercise: Exercise) -> int:
    """The number of rounds. Throws BadInput before anything is run or written."""
    if arguments.solution and arguments.compare:
        raise BadInput(
            "--solution and --compare: leave out --solution, because --compare runs both variants"
        )
    if arguments.rounds is not None and not arguments.compare:
        raise BadInput(
            "--rounds: has no meaning for one variant; add --compare, or leave out --rounds"
        )
    if arguments.live and not exercise.has_pendulum:
        raise BadInput(
            f"--live: exercise {exercise.name} has no pendulum; leave it out, or run 2-1, 2-2 "
            "or 2-3"
        )
    rounds: int = (arguments.rounds or ROUNDS) if arguments.compare else 1
    if arguments.seconds / rounds < MIN_RUN_SECONDS:
        raise BadInput(
            f"--seconds {arguments.seconds:g}: each of {rounds} rounds would last "
            f"{arguments.seconds / rounds:g} s; expected at least {MIN_RUN_SECONDS:g} s\n"
            "  fix: more --seconds, or fewer --rounds"
        )
    if arguments.json is not None:
        check_file("--json", arguments.json)
    _find_program(exercise)
    return rounds


def _find_program(exercise: Exercise) -> None:
    """Throws BadInput if the program is missing, with the reason why one on rclcpp may be."""
    try:
        find_program(os.environ, PACKAGE, exercise.program)
    except BadInput as error:
        if exercise.client == RCLRT or installation.is_wheel():
            raise
        raise BadInput(
            f"--client {exercise.client}: the program {exercise.program} of {PACKAGE} was not "
            "found; it is built only where rclcpp is, and the wheels of ROS 2 on PyPI have none\n"
            "  fix: source a ROS 2 installation, or set UNDERLAY to the install folder of a "
            "workspace that has rclcpp, and build again with `make test-rclcpp`\n"
            f"  or run it on rclrt's nodes: without --client {exercise.client}"
        ) from error


def _write(outcome: Outcome, directory: Path, json_file: Path | None) -> None:
    for name in FILES:  # of an earlier measurement
        (directory / name).unlink(missing_ok=True)
    for trace in outcome.traces.values():
        move_into_place(trace, directory / trace.name)
    write_atomically(directory / HISTOGRAM, histogram.draw(outcome))
    pendulum = pendulum_picture.draw(outcome)
    if pendulum:
        write_atomically(directory / PENDULUM, pendulum)
    if json_file is not None:
        write_atomically(json_file, json.dumps(rows(outcome), indent=2) + "\n")


def _show(outcome: Outcome, out: Path) -> None:
    for line in table_lines(outcome):
        print(line)
    print()
    for sentence in sentences(outcome):
        print("\n".join(textwrap.wrap(sentence, LINE_WIDTH)))
    names = [name for name in FILES if (out / name).is_file()]
    print(f"{out}: {', '.join(names)} (open a .pftrace at https://ui.perfetto.dev)")
