# SPDX-License-Identifier: Apache-2.0
"""Measures executors in interleaved rounds: A B C A B C."""

from __future__ import annotations

from pathlib import Path

from rclrt_py.comparisons.comparison import round_directory
from rclrt_py.comparisons.measurement import Measurement, outcome
from rclrt_py.errors import RclrtError
from rclrt_py.files.atomic import move_into_place
from rclrt_py.runs.output_directory import Plan
from rclrt_py.runs.run_data import RESULTS, Run

LABEL_WIDTH = 17
"""Least width of an executor's name in the lines of progress."""


def measure_rounds(measurement: Measurement, plan: Plan, directory: Path) -> RclrtError | None:
    """Measures every round of every executor. Stops early if the user asks to stop or a run fails.
    Returns the error of the failed run; None if none failed."""
    share = plan.seconds / plan.rounds
    for number in range(1, plan.rounds + 1):
        for executor in plan.executors:
            label = f"round {number}/{plan.rounds}  {executor.ljust(LABEL_WIDTH)}"
            measurement.progress.step(label, share)
            try:
                made, complete = measurement.run(executor, share, directory)
            except RclrtError as error:
                measurement.progress.say(f"round {number}, {executor}: failed")
                return error
            if measurement.failure is not None:
                measurement.progress.say(f"round {number}, {executor}: failed")
                return measurement.failure
            if made is None or not complete:
                measurement.progress.say(f"round {number}, {executor}: stopped, not counted")
                return None
            place = round_directory(directory, executor, number)
            move_into_place(made, place)
            measurement.progress.finished(outcome(Run.load(place)))
            if measurement.stop.requested:
                return None
    return None


def has_rounds(directory: Path) -> bool:
    """Returns whether a round of any executor is complete."""
    return any(directory.glob(f"*/round-*/{RESULTS}"))
