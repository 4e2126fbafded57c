# SPDX-License-Identifier: Apache-2.0
"""One measurement of an exercise: its rounds, with or without stress, and the host's CPU time."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.processes.stress import Stress
from rclrt_py.terminal.progress import Progress

from rclrt_demos.exercises import Exercise
from rclrt_demos.host import HostShare
from rclrt_demos.live import LivePicture
from rclrt_demos.rounds import Outcome, run_rounds


def measure(
    exercise: Exercise,
    order: Sequence[str],
    seconds: float,
    staging: Path,
    with_stress: bool,
    stop: StopSignals,
    live: LivePicture | None = None,
) -> Outcome | None:
    """Runs the exercise's program for `seconds` for each variant in `order`. Its files go to
    `staging`. With `with_stress`, all CPUs are kept busy meanwhile.

    Shows the progress on standard error, or draws `live` if it is given. Returns None if the user
    asked to stop. Throws RunFailed if the program or the stress failed.
    """
    stress = Stress() if with_stress else None
    progress = Progress(sys.stderr, seconds * len(order))

    def on_round(label: str, ended: bool) -> None:
        if live is not None:
            live.label = label
        elif ended or progress.live:
            progress.step(label, seconds)
            if ended:
                progress.finished("done")

    with stress or contextlib.nullcontext(), live or contextlib.nullcontext():
        host = HostShare()
        rounds, traces = run_rounds(exercise, order, seconds, staging, stop, on_round)
        share = host.so_far()
        if stress is not None and not stop.requested:
            stress.check()
    progress.clear()
    if stop.requested:
        return None
    return Outcome(exercise, rounds, traces, share, stress.label if stress else "")
