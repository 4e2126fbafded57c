# SPDX-License-Identifier: Apache-2.0
"""Back ends that process units, such as those of an experiment or the seeds of `rclrt verify`: in
this process, on this machine's CPUs, or on Dask workers.

A back end yields the result of each unit, in any order, and ends early on request. Runs on ROS 2
must not run side by side on a machine, so they always use InProcess.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import importlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from rclrt_py.errors import BadInput, RunFailed
from rclrt_py.processes.parent_death import end_with_parent

from rclrt_experiments.generator.options import count_argument

Unit = TypeVar("Unit")
Done = TypeVar("Done")
Stopping = Callable[[], bool]
"""Returns whether the user has stopped the work."""
AT_ONCE = 10
"""Number of units that a worker gets at once."""
PATIENCE_S = 0.2
"""Seconds to wait for a result before checking whether to stop."""
CONNECT_S = 10


class Backend(Protocol):
    """Processes units. `work` must be picklable, unless the back end is this process."""

    def run(
        self, work: Callable[[Unit], Done], units: Sequence[Unit], stopped: Stopping
    ) -> Iterator[tuple[Unit, Done]]: ...


class Stopped(Exception):
    """Thrown if the user stopped the work on a unit. The unit is not done."""


class WorkersFailed(RunFailed):
    """A worker process ended before its work was done."""


class InProcess:
    """Processes one unit after the other in this process."""

    def run(
        self, work: Callable[[Unit], Done], units: Sequence[Unit], stopped: Stopping
    ) -> Iterator[tuple[Unit, Done]]:
        for unit in units:
            if stopped():
                return
            try:
                done = work(unit)
            except Stopped:
                return
            yield unit, done


@dataclass(frozen=True)
class Cores:
    """Worker processes on this machine."""

    jobs: int

    def run(
        self, work: Callable[[Unit], Done], units: Sequence[Unit], stopped: Stopping
    ) -> Iterator[tuple[Unit, Done]]:
        pool = concurrent.futures.ProcessPoolExecutor(
            self.jobs,
            multiprocessing.get_context("fork"),  # forked by this thread: the workers end with it
            _begin,
            (end_with_parent(),),
        )
        try:
            waiting = {pool.submit(_work_on, work, batch) for batch in _batches(units)}
            while waiting and not stopped():
                done, waiting = concurrent.futures.wait(
                    waiting, PATIENCE_S, concurrent.futures.FIRST_COMPLETED
                )
                for future in done:
                    yield from future.result()
        except BrokenProcessPool as error:
            raise WorkersFailed("a worker process was killed") from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True)
class Dask:
    """A back end that processes units on the workers of a Dask scheduler, which must have
    rclrt_experiments installed. If a worker dies, the scheduler gives its units to another
    worker."""

    address: str

    def run(
        self, work: Callable[[Unit], Done], units: Sequence[Unit], stopped: Stopping
    ) -> Iterator[tuple[Unit, Done]]:
        distributed = _distributed()
        try:
            client = distributed.Client(self.address, timeout=CONNECT_S)
        except (OSError, ValueError, TimeoutError) as error:
            raise BadInput(
                f"--scheduler {self.address}: no Dask scheduler answers ({error}); expected an "
                "address like tcp://host:8786"
            ) from error
        with client:
            futures = [
                client.submit(_work_on, work, batch, pure=False, retries=2)
                for batch in _batches(units)
            ]
            left = set(futures)
            while left and not stopped():
                try:
                    ended = distributed.wait(left, PATIENCE_S, "FIRST_COMPLETED").done
                except TimeoutError:
                    continue
                for future in ended:
                    left.discard(future)
                    yield from _gathered(client, future)
            client.cancel(list(left))


def add_backend_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=count_argument,
        help="processes of a simulation; default: one for each CPU",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="simulate on the workers of this Dask scheduler, like tcp://host:8786",
    )


def backend_of(arguments: argparse.Namespace) -> Backend:
    """Returns the back end that the options state. Throws BadInput."""
    if arguments.scheduler is not None:
        if arguments.jobs is not None:
            raise BadInput(
                "--scheduler and --jobs: both state where to run; leave out one of the two"
            )
        return Dask(arguments.scheduler)
    jobs = arguments.jobs or cores()
    return InProcess() if jobs == 1 else Cores(jobs)


def _gathered(client: Any, future: Any) -> Any:
    """Returns the result of a finished future. If its worker died since, Dask computes it again."""
    try:
        return client.gather(future)
    except Exception as error:
        raise WorkersFailed(f"the Dask workers failed: {type(error).__name__}: {error}") from error


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise BadInput(
            f"--scheduler needs Dask distributed ({error})\n  fix: apt install "
            "python3-distributed, or pip install distributed"
        ) from error


def cores() -> int:
    """Returns the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0))


def _batches(units: Sequence[Unit]) -> Iterator[list[Unit]]:
    for first in range(0, len(units), AT_ONCE):
        yield list(units[first : first + AT_ONCE])


def _work_on(work: Callable[[Unit], Done], units: Sequence[Unit]) -> list[tuple[Unit, Done]]:
    return [(unit, work(unit)) for unit in units]


def _begin(end_with: Callable[[], None]) -> None:
    """Prepares a worker process. The worker ignores Ctrl-C, which a terminal sends to all of its
    processes, because only the command handles it. `end_with` makes the worker end when the command
    ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_with()
