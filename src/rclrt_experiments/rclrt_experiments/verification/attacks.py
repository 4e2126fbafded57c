# SPDX-License-Identifier: Apache-2.0
"""Attacks many applications, in several processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator

from rclrt_py.terminal.progress import Progress

from rclrt_experiments.verification.verify import Outcome

AT_ONCE = 16
"""Number of applications that a process gets together."""
Outcomes = dict[str, Outcome]
Attack = Callable[[int], Outcomes | None]
"""Returns the outcomes of the application of a seed, by executor. None: it is not feasible."""


def attack_all(attack: Attack, seeds: range, jobs: int | None) -> list[Outcomes]:
    """Calls `attack` for each seed, in parallel, and returns the results of the feasible
    applications in the order of the seeds.

    `jobs` is the number of processes; None: one for each CPU. `attack` must be picklable. Ctrl-C
    ends the processes.
    """
    return [outcomes for outcomes in _all(attack, seeds, jobs) if outcomes is not None]


def _all(attack: Attack, seeds: range, jobs: int | None) -> Iterator[Outcomes | None]:
    progress = Progress(sys.stderr, len(seeds))
    with multiprocessing.Pool(jobs or os.cpu_count(), _ignore_interrupts) as pool:
        for done, outcome in enumerate(pool.imap(attack, seeds, AT_ONCE)):
            if progress.live and done % AT_ONCE == 0:
                progress.step("applications", len(seeds))
                progress.tick(done)
            yield outcome
    if progress.live:
        print(file=sys.stderr)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
