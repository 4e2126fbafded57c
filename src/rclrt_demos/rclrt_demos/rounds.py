# SPDX-License-Identifier: Apache-2.0
"""Runs an exercise: the flaw, the fix, or both in alternating rounds."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rclrt_py.errors import RunFailed
from rclrt_py.files.atomic import move_into_place
from rclrt_py.processes.runner import find_program, run_child
from rclrt_py.processes.stop_signals import StopSignals

from rclrt_demos.exercises import BASELINE, SOLUTION, Exercise, Measure
from rclrt_demos.measured import Measured, Statistics, pooled

PACKAGE = "rclrt_demos"
OnRound = Callable[[str, bool], None]
"""Receives a round's label, when it begins (False) and when it has ended (True)."""


def interleaved(variants: Sequence[str], rounds: int) -> list[str]:
    """Returns the variants in the order in which they run. Every second round is reversed: A B, B
    A, A B. So neither of two variants always runs first, and a slow change of the machine affects
    both alike."""
    order: list[str] = []
    for number in range(rounds):
        order += variants if number % 2 == 0 else reversed(variants)
    return order


@dataclass(frozen=True)
class Outcome:
    """The measurements of an exercise. `traces` are those of the rounds with the largest value."""

    exercise: Exercise
    rounds: dict[str, list[Measured]]
    traces: dict[str, Path]
    host_share: float | None
    """The part of the CPU time that the host took; None: unknown."""
    stress: str
    """The program that made the stress; empty: there was none."""

    @property
    def variants(self) -> list[str]:
        return [variant for variant in (BASELINE, SOLUTION) if variant in self.rounds]

    @property
    def compared(self) -> bool:
        return len(self.variants) > 1

    def pooled(self, variant: str) -> Measured:
        return pooled(self.rounds[variant])

    def statistics(self, variant: str) -> Statistics | None:
        return self.pooled(variant).statistics(self.exercise.slice_name)

    def measures(self, variant: str) -> list[float]:
        """The figure that the exercise is judged by, of each round, in microseconds."""
        found = [each.statistics(self.exercise.slice_name) for each in self.rounds[variant]]
        return [measure_of(self.exercise.measure, each) for each in found if each]


def measure_of(measure: Measure, statistics: Statistics) -> float:
    if measure is Measure.MAX:
        return statistics.max_us
    return statistics.mean_us if measure is Measure.MEAN else statistics.spread_us


def run_rounds(
    exercise: Exercise,
    order: Sequence[str],
    seconds: float,
    staging: Path,
    stop: StopSignals,
    on_round: OnRound,
) -> tuple[dict[str, list[Measured]], dict[str, Path]]:
    """Runs the exercise's program once for each variant in `order`. Returns, by variant, the
    measurements of its rounds, and the trace of the round with the largest measured value.

    If the user asked to stop, returns only the complete rounds. Throws RunFailed if the program
    fails or does not measure the exercise's slice.
    """
    program = find_program(os.environ, PACKAGE, exercise.program)
    rounds: dict[str, list[Measured]] = {}
    traces: dict[str, Path] = {}
    largest: dict[str, int] = {}
    for number, variant in enumerate(order):
        label = f"{exercise.variant_label(variant)}, {number + 1} of {len(order)}"
        made = staging / f"run-{number}"
        made.mkdir()
        command = [str(program), "--seconds", f"{seconds:.9g}"]
        command += ["--solution"] if variant == SOLUTION else []
        command += ["--json", str(made / "run.json"), "--trace", str(made / "run.pftrace")]
        on_round(label, False)
        ended = run_child(command, made, seconds, stop)
        if ended.interrupted:
            break
        on_round(label, True)
        measured = Measured.load(made / "run.json")
        _check(exercise, variant, measured)
        rounds.setdefault(variant, []).append(measured)
        worst = max(measured.slices[exercise.slice_name])
        if variant not in largest or worst > largest[variant]:
            largest[variant] = worst
            traces[variant] = staging / f"{variant}.pftrace"
            move_into_place(made / "run.pftrace", traces[variant])
        shutil.rmtree(made)
    return rounds, traces


def _check(exercise: Exercise, variant: str, measured: Measured) -> None:
    if measured.variant != variant:
        raise RunFailed(
            f"{exercise.program} ran the variant '{measured.variant}'; expected '{variant}'\n"
            "  fix: build rclrt_demos again, its programs are of another version"
        )
    if not measured.slices.get(exercise.slice_name):
        raise RunFailed(
            f"{exercise.program} measured no {exercise.slice_name} in {measured.seconds:g} s\n"
            "  fix: give it more time with --seconds"
        )
